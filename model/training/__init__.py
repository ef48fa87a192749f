"""From a configuration to a checkpoint: loop, state, schedules, optimizers, losses, presets. Begin with `loop`.

`data/` is what it reads; `grid` is what was recorded to be shown. Nothing outside of commands, experiments
and measures imports it.
"""

"""From a configuration to a checkpoint: loop, state, schedules, losses, runs and presets. Begin with `loop`.

`data/` is what it reads. Nothing outside of commands, experiments and measures imports it.
"""

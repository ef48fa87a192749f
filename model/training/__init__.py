"""From a configuration to a checkpoint. Begin with `loop`; `data/` is what it reads, `sweeps/` runs to compare."""

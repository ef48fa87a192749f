"""Checkpoints on disk: reading and checking one (checkpoint.py), and where they lie (installation.py)."""

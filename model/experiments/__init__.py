"""Change something and see what happens: masks, positions, well-known mistakes, one row of attention, practice runs.

Each runs a model (or trains a tiny one) twice, as it is and changed. Recorded numbers are read in `analysis`.
"""

"""What is shown, as one value: `view` reads it from an address and writes it there, `maps` is what options make of it.

Nothing here draws. Pages ask, the stage and figures show.
"""

"""Every mistake of the page Pitfalls, by its key."""

from viz.pages.pitfalls import attention, layers
from viz.pages.pitfalls.common import Pitfall

# Each mistake shows in its translation, which comes out right without them.
EXAMPLE = "When I was a child, my grandmother gave me an apple every morning."
KEYS = "loop scale dropout tokenizer transpose scaling after start rows residual norm gru best".split()
PITFALLS: dict[str, Pitfall] = {key: (vars(layers) | vars(attention))[key] for key in KEYS}

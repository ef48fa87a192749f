"""Every mistake of the page Pitfalls, by its key."""

from __future__ import annotations

from viz.pages.pitfalls import attention, input, layers
from viz.pages.pitfalls.common import Pitfall

# Each mistake shows in its translation, which comes out right without them.
EXAMPLE = "When I was a child, my grandmother gave me an apple every morning."
PITFALLS: dict[str, Pitfall] = {
    key: one for part in (input, attention, layers) for key, one in vars(part).items() if isinstance(one, Pitfall)
}

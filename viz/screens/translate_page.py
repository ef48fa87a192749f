"""The page Translate."""

from viz.screens import translate

translate.live()

"""What a model did with one text, as tokens and arrays: a recording, and the translation that it belongs to."""

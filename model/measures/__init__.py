"""A checkpoint over a data set: its scores, what its heads do and are worth, self-checks. `links/` holds word links."""

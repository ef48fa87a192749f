"""A checkpoint measured over a data set: scores, what heads do and contribute, self-checks. `links/` has word links."""

"""Change something and see what happens: each runs a model (or trains a tiny one) as it is and changed."""

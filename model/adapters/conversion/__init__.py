"""Weights and tokens as other libraries hand them out, converted into whole maps and readable text."""

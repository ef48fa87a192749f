"""Models and files from elsewhere, converted at this border: Marian checkpoints, attention of other libraries.

The only room that imports transformers, and only inside functions.
"""

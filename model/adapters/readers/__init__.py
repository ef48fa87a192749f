"""Any model of transformers, alive: its attention computed by our equations, with the taps and edits of our own models.

`layout` says where in a model the attention is, `recorder` reads and changes, `reader` says why, `tasks` has a reader
for each kind of model, `generation` goes on from a text, and `reading` is what comes out. `attachment` connects a model
with our attention function and our taps, `inputs` prepares what is read, and `explanation` says why a head or a word
came out as it did.
"""

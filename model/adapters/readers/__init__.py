"""Any model of transformers, alive: its attention computed by our equations, with the taps and edits of our own models.

`attention_function` is what such a model calls; `layout` says where in it the attention is; `attach` connects the two;
`reader` reads, writes and changes; `reading` is what comes out.
"""

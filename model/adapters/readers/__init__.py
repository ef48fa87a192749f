"""Any model of transformers, alive: its attention computed by our equations, with the taps and edits of our own models.

`attention_function` is what such a model calls; `layout` says where in it the attention is; `attach` connects the two;
`reader` reads and changes, `tasks` has a reader for each kind of model; `reading` is what comes out. `direct_path` and
`effects` say what wrote a word, `lens` what would have been written earlier, `removal` what is lost without a head or a
token; `generation` goes on from a text.
"""

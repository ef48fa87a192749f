"""What attaches to a model of transformers: our attention function, the hooks of our taps, and how they come off again.

`attention_function` is what an attached model calls, `attach` puts it in, `connection` keeps it up to date, `followed`
has the hooks for passes that are followed part by part, and `handed_out` takes the maps of models that no tap can
reach.
"""

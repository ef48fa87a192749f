"""An instrumented Transformer: text goes in, a translation and everything computed on the way come out.

Shape letters: B batch, L layers, H heads, G heads of keys and values (H unless queries share them), T queries (rows,
steps of a decoder), S keys (columns, source tokens), D d_model, K d_head, F d_ff, V vocabulary, N heads of all layers
in one row, or what is named.
"""


def __getattr__(name: str):
    # Importing a part of the package (model.masks, say) should not load all of it.
    if name in ("load_translator", "Translator", "Translation"):
        from model.running import translator

        return getattr(translator, name)
    if name == "attach":
        from model.adapters.readers.tasks import attach

        return attach
    if name == "record_attention":
        from model.adapters.torch_modules import record_attention

        return record_attention
    if name in ("Cut", "Edits", "Head", "HeadPatch", "StreamPatch"):
        from model.interventions import edits

        return getattr(edits, name)
    if name == "load_model":
        from model.adapters.loading import load_model

        return load_model
    raise AttributeError(f"module 'model' has no attribute {name!r}")

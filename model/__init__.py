"""An instrumented Transformer: text goes in, a translation and everything computed on the way come out."""


def __getattr__(name: str):
    # Importing a part of the package (model.masks, say) should not load all of it.
    if name in ("load_translator", "Translator", "Translation"):
        from model import translator

        return getattr(translator, name)
    raise AttributeError(f"module 'model' has no attribute {name!r}")

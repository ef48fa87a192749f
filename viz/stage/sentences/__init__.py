"""The sentences of the stage, by name, in English; the browser fills the places in braces."""

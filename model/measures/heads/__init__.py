"""What heads are measured by: `any_model` counts the same of every model, `decoders` and `translators` add to it.

`counts` are the sums that grow by text, `text_roles` names what a head does in one text; `model.measures.atlas` is the
loop over texts.
"""

"""The index of a corpus: what every head of a model does over thousands of texts, and how much of it a rule explains.

`sources` has models read texts in batches, `tap` reduces every map inside the pass, `counts` adds up what is left of it
(`activity`, `kept_rows`, `pairs`), and `index` is the loop over texts, which can be stopped and resumed.
"""

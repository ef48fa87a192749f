"""Models and files from elsewhere, converted at this border: Marian checkpoints, attention of other libraries.

The only room that imports transformers, and only inside functions. At the top stands what others call: `loading` opens
a model, `outputs`, `torch_modules` and `attention_file` make recordings of attention that somebody else computed,
`marian` makes a checkpoint of ours, `bertviz` goes the other way. Three rooms serve them: `files` fetches and inspects
the files of a model, `conversion` turns weights and tokens into our form, and `readers` make any model of
transformers alive.
"""

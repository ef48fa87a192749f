"""A checkpoint over a data set: scores, alignment, importance and roles of its heads, contributions, self-checks;
whether weights and direct effects agree with what happens when something is taken away.

Begin with `evaluate`. `links/` holds word links of ours, made by `word_links`.
"""

"""Numbers over recorded arrays: how tokens make up words, summaries of maps, roles of heads, direct
effects, differences, lengths.

numpy only: nothing here runs a model. Begin with `maps`.
"""

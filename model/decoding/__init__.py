"""Searches for the best output, written once against the protocol start, step, reorder."""

from model.decoding.beam import Search, SearchTree, beam_search, greedy
from model.decoding.protocol import target_limit

__all__ = ["Search", "SearchTree", "beam_search", "greedy", "target_limit"]

"""Searches for the best output, written once against the protocol start, step, reorder."""

from model.decoding.beam import Hypothesis, Search, SearchTree, beam_search, greedy
from model.decoding.protocol import Decodable, target_limit

__all__ = ["Decodable", "Hypothesis", "Search", "SearchTree", "beam_search", "greedy", "target_limit"]

"""Where every step of a search looked in the source: one recorded pass over its hypotheses, in batches."""

from typing import Any

import numpy as np
import torch

from model.decoding.beam import ROOT, SearchTree
from model.decoding.protocol import between_steps
from model.gru import merge_directions
from model.interventions.edits import Edits
from model.results.translation import IN_WORDS
from model.running.translator import Translator
from model.taps import record
from model.text.errors import Problem
from model.text.special import BOS_ID, pad_ids

NO_EDITS = Edits()
BATCH = 16  # hypotheses per pass


@torch.inference_mode()
def looked_at(translator: Translator, text: str, tree: SearchTree, edits: Edits = NO_EDITS) -> np.ndarray:
    """The mean cross-attention, over all layers and heads, of the step that wrote each node of a search tree.

    float32 (nodes, S); the row of the start token is 0. A model without cross-attention is a ValueError.
    """
    edits = edits.without_future  # as in the search
    rows: dict[int, np.ndarray] = {}  # by the node that a step read last
    leaves = _deepest_extended(tree)
    with edits.applied(translator.model, "encoder"):
        start = translator.model.start(torch.tensor([translator.source_ids(text)]))
    read_on: Any = translator.model.read  # each kind of model reads with a state of its own type
    for first in range(0, len(leaves), BATCH):
        between_steps()
        batch = leaves[first : first + BATCH]
        read = pad_ids([[BOS_ID, *tree.path(leaf)] for leaf in batch])
        with edits.applied(translator.model, "decoder"), record("*cross_attention.weights") as trace:
            read_on(read, start.fresh().select(torch.zeros(len(batch), dtype=torch.long)))
        layers = list(merge_directions(translator.model, trace).values())
        if not layers:
            raise Problem("this model has no {kind}-attention", kind=IN_WORDS["cross"])
        mean = torch.stack(layers).float().mean(dim=(0, 2)).numpy()  # (B, T, S)
        for leaf, steps in zip(batch, mean, strict=True):
            for step, node in enumerate([ROOT, *tree.nodes(leaf)]):
                rows[node] = steps[step]
    table = np.zeros((len(tree.token), len(rows[ROOT])), np.float32)
    for node, parent in enumerate(tree.parent):
        if node != ROOT:
            table[node] = rows[parent]
    return table


def _deepest_extended(tree: SearchTree) -> list[int]:
    """The nodes that the search extended and below which it extended no other."""
    extended = set(tree.parent) - {-1}
    above = {tree.parent[node] for node in extended}
    return sorted(extended - above)

"""Activation patching in a message of the stage: what comes back of one text in another, part by part.

The browser draws it (viz/web/stage/patching); what a message lacks it fetches, a part at a time. The page without a
server makes the same of its own engine.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast

import numpy as np


class PatchingPayload(TypedDict):
    """Shares of the difference of two words' logits that come back with each part: 0 is as in B, 1 is as in A.

    In reverse B's parts are put into A, and 0 is as in A. Shares are NaN at positions that have no partner. Of `heads`,
    `streams` and `sublayers` those are there that have been computed.
    """

    words: Sequence[str]  # that A writes, and the one of B that it is compared with
    clean: float  # the logit of the first less that of the second, in A
    corrupted: float  # and in B
    reverse: bool
    estimate: bool  # heads (as a whole) and streams are estimates by one gradient
    kinds: Sequence[str]  # of attention
    layers: NotRequired[Mapping[str, Sequence[int]]]  # by kind, how the model numbers each layer; else from 0
    heads: Mapping[str, Mapping[str, Any]]  # by kind and what is put there, "both", "weights" or "values": (L, H)
    streams: Mapping[str, Any]  # by side, "encoder" or "decoder": (layers + 1, T), after the embedding and each layer
    sublayers: Mapping[str, Mapping[str, Any]]  # by side and sublayer: (L, T)
    tokens: Mapping[str, Sequence[str]]  # by side T, of the text that is changed
    unaligned: Mapping[str, Sequence[int]]  # by side the positions that are left alone
    donor: str  # the text that patches are taken from
    address: NotRequired[str | None]  # where a browser fetches what has not been computed yet
    code: NotRequired[str]  # Python that computes it; {what} stands for what is put there


class LaterPatchingPayload(TypedDict):
    """Where a browser fetches all of a `PatchingPayload`, because it takes a while."""

    address: str
    reverse: bool


class PatchedPayload(TypedDict):
    """What is put into a text, and what the model writes then."""

    codes: Sequence[str]  # of all patches ("pc2-2": a head, "se1-3": a stream), by which they are taken out, too
    texts: Sequence[str]  # what the model writes for A and for B
    probabilities: NotRequired[Sequence[Sequence[float]]]  # of both words where they are compared: before, and now
    problem: NotRequired[str]  # why what was asked for last cannot be


def payload(numbers: Mapping[str, Any], reverse: bool, donor: str, estimate: bool = False) -> PatchingPayload:
    """What travels of a patching.

    Args:
        numbers: by the names of `PatchingPayload`, those that have been computed.
        reverse: whether B's parts are put into A.
        donor: the text that patches are taken from.
        estimate: whether the shares are estimates.
    """
    nothing = {"heads": {}, "streams": {}, "sublayers": {}}
    values = {name: value for name, value in numbers.items() if name in PatchingPayload.__annotations__}
    about = {"reverse": reverse, "estimate": estimate, "donor": donor}
    return cast(PatchingPayload, nothing | values | about)


def probabilities_payload(probabilities: np.ndarray) -> list[list[float]]:
    """Probabilities (2, 2) of both words, without and with patches, as they travel."""
    return [[float(p) for p in row] for row in probabilities]

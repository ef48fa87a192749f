"""What the app computes for the page Masks, as viz/web/sheets/makers/masks/compute.js asks for it."""

from collections.abc import Callable
from typing import Any

from model.experiments import masks as experiments
from viz.pages.masks.compared import request_of, result_of, text_request
from viz.pages.masks.page import Choice
from viz.text import errors
from viz.text.words_masks import TEXT_MASKS
from viz.views.results import mask_results
from viz.views.results.mask_results import Result


def payload(result: Result, weights: Any) -> dict[str, Any]:
    """A batch under changed masks, and what that changes; `weights` by kind and sentence, (L, H, T, S)."""
    batch = result.batch
    return {
        "tokens": {"source": batch.source_tokens, "target": batch.target_tokens, "predicted": batch.predicted_tokens},
        "lengths": result.lengths,
        "masks": result.with_changes.masks,  # by name (B, T, S)
        "weights": weights,
        "difference": result.difference,
        "likeliest": result.likeliest,
        "reference": result.reference,
    }


def batch(choice: Choice) -> dict[str, Any]:
    """The batch as it is changed, with the weights of the chosen kind and sentence only."""
    result, _ = result_of(choice)
    weights = result.with_changes.weights[choice.kind][choice.sentence]
    return payload(result, {choice.kind: {str(choice.sentence): weights}})


def numbers(choice: Choice) -> dict[str, Any]:
    """What pads and the future change, each with its mask and without; a sentence where that cannot be said.

    Errors of the batch as in `Request.batch`.
    """
    request = request_of(choice)
    request.batch()
    return {
        "padding": _or_why(lambda: mask_results.differences(request, choice.sentence, choice.pads)),
        "future": _or_why(lambda: mask_results.differences(request, choice.sentence)),
    }


def _or_why(compute: Callable[[], tuple[float, float]]) -> tuple[float, float] | str:
    try:
        return compute()
    except ValueError as error:
        return errors.sentence(error)


def no_key_left(choice: Choice) -> dict[str, Any]:
    """The scores of the first row of a head, and what usual treatments make of them where all keys are blocked."""
    scores = mask_results.compute(request_of(choice)).original.scores[choice.kind][choice.sentence]
    n_layers, n_heads = scores.shape[:2]
    row = scores[(*choice.head_of((n_layers, n_heads), (0, 0)), 0)]
    return {"scores": row} | experiments.nothing_to_attend(row)


def texts(choice: Choice) -> dict[str, Any]:
    """The source texts in one row under each mask; with weights (L, H, T, T) under the chosen one and the causal one.

    Raises:
        KeyError: There is no language model, or there are no texts.
        ValueError: They are too long together.
    """
    request = text_request(choice)
    if request is None:
        raise KeyError("texts")
    result = mask_results.compute_texts(request)
    shown = (choice.mask, "causal") if choice.mask in TEXT_MASKS else ()
    passes = {
        name: {"mask": of_mask.mask, "loss": of_mask.loss, "weights": of_mask.weights if name in shown else None}
        for name, of_mask in result.passes.items()
    }
    return {"tokens": result.packed.tokens, "passes": passes}

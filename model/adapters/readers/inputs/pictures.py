"""Parts of a model that read by themselves (CLIP's two towers, the picture's of LLaVA), and names of positions."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

_NAMES = {
    "text": ("text_model",),
    "vision": ("vision_tower", "vision_model", "visual", "image_model"),
    "audio": ("audio_tower", "audio_model"),
}
OTHER_INPUTS = ("pixel_values", "input_features", "input_values")  # which towers of pictures and sounds take


def has_two_towers(model: Any) -> bool:
    """Whether a model is a tower for texts beside one for pictures or sounds, which only meet in a score (CLIP)."""
    parts = dict(model.named_children())
    others = {*_NAMES["vision"], *_NAMES["audio"]} & set(parts)
    is_joint = (
        model.can_generate() or model.get_output_embeddings() is not None or image_token(model.config) is not None
    )
    return "text_model" in parts and bool(others) and not is_joint and not model.config.is_encoder_decoder


def towers_of(model: Any) -> dict[str, Any]:
    """The parts of a model that are models of transformers of their own: "text", "vision", "audio"."""
    from transformers import PreTrainedModel

    towers: dict[str, Any] = {}
    for path, module in model.named_modules():
        for name, names in _NAMES.items():
            is_tower = path.rpartition(".")[2] in names and isinstance(module, PreTrainedModel)
            if is_tower and (name != "text" or has_two_towers(model)):
                towers.setdefault(name, module)
    return towers


def image_token(config: Any) -> int | None:
    """The id that stands in a text at every position of a picture, where a model has one."""
    values = (getattr(config, name, None) for name in ("image_token_id", "image_token_index"))
    return next((value for value in values if isinstance(value, int)), None)


def with_patches(names: Sequence[str], ids: Sequence[int], inputs: Mapping[str, Tensor], config: Any) -> list[str]:
    """The names of tokens, in which positions of a picture are its patches: "patch 3,4" is row 3, column 4, from 1.

    Where the rows of a picture are not known its patches are counted: "patch 17". Of several pictures, or tiles of one,
    the number stands behind it: "patch 3,4 (2)".
    """
    token = image_token(config)
    runs = [
        [place for place, _ in run]
        for is_patch, run in itertools.groupby(enumerate(ids), lambda item: item[1] == token)
        if is_patch
    ]
    grids = _grids(inputs, config)
    named = list(names)
    for number, run in enumerate(runs, 1):
        suffix = f" ({number})" if len(runs) > 1 else ""
        grid = grids[number - 1] if len(grids) == len(runs) else None
        columns = grid[1] if grid and math.prod(grid) == len(run) else _columns(len(run), config)
        for index, place in enumerate(run):
            patch = f"{index // columns + 1},{index % columns + 1}" if columns else str(index + 1)
            named[place] = f"patch {patch}{suffix}"
    return named


def _grids(inputs: Mapping[str, Tensor], config: Any) -> list[tuple[int, int]]:
    """Rows and columns of each picture, where the inputs say them, as for Qwen2-VL."""
    if "image_grid_thw" not in inputs:
        return []
    merged = getattr(config.vision_config, "spatial_merge_size", 1)
    return [(rows // merged, columns // merged) for _, rows, columns in inputs["image_grid_thw"].tolist()]


def _columns(count: int, config: Any) -> int | None:
    """How many columns so many patches have, if they are those of a whole square picture; else None."""
    vision = getattr(config, "vision_config", None)
    size, patch = getattr(vision, "image_size", None), getattr(vision, "patch_size", None)
    sides = [math.isqrt(getattr(config, "mm_tokens_per_image", None) or 0)]
    if isinstance(size, int) and isinstance(patch, int):
        shrunk = getattr(config, "scale_factor", None) or 1 / (getattr(config, "downsample_ratio", None) or 1)
        sides += [size // patch, round(size // patch / shrunk)]
    return next((side for side in sides if side and side**2 == count), None)


def names_of_positions(inputs: Mapping[str, Tensor], count: int) -> list[str]:
    """How the positions of an encoder of images or sounds are written on an axis.

    Patches of a square image are row and column, counted from 1, what comes before them is "[CLS]"; frames of a sound
    are counted from 0.
    """
    side = math.isqrt(count)
    if "pixel_values" in inputs and count - side**2 in (0, 1):
        patches = [f"{row},{column}" for row in range(1, side + 1) for column in range(1, side + 1)]
        return ["[CLS]"] * (count - side**2) + patches
    return list(map(str, range(count)))

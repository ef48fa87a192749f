"""Models that read texts and pictures: each tower against eager of it, and patches within a text by their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from model import attach
from tests.support.architectures import GROUPED, LLAMA, Numbers

VISION = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
VISION |= {"image_size": 12, "patch_size": 4}
IMAGE = 98  # the token at every position of a picture
IDS = torch.tensor([[11, 12, 13, 14, 2]])
PICTURE = torch.randn(1, 3, 12, 12, generator=torch.Generator().manual_seed(4))


def build(kind: str, implementation: str | None = None, **config: Any) -> Any:
    network = getattr(transformers, kind)
    torch.manual_seed(1)
    return network(network.config_class(**config, attn_implementation=implementation)).eval()


def towers(kind: str, implementation: str | None = None) -> Any:
    return build(kind, implementation, text_config=LLAMA, vision_config=VISION, projection_dim=16)


def llava(implementation: str | None = None, picture_ids: str = "default") -> Any:
    vision = {"model_type": "clip_vision_model"} | VISION
    values = {"text_config": {"model_type": "llama"} | GROUPED, "vision_config": vision, "image_token_index": IMAGE}
    options = {"vision_feature_select_strategy": picture_ids, "image_seq_length": 9}
    return build("LlavaForConditionalGeneration", implementation, **values, **options)


@pytest.mark.parametrize("kind", ["CLIPModel", "SiglipModel", "AltCLIPModel", "ChineseCLIPModel"])
def test_each_of_two_towers_has_its_maps(kind: str) -> None:
    reader, eager = attach(towers(kind), Numbers()), towers(kind, "eager")
    text, picture = reader.read("11 12 13 14 2"), reader.read(pixel_values=PICTURE)
    with torch.inference_mode():
        of_text = eager.text_model(input_ids=IDS, output_attentions=True).attentions
        of_picture = eager.vision_model(pixel_values=PICTURE, output_attentions=True).attentions
    (name,) = text.kinds
    np.testing.assert_allclose(text.attention(name), torch.cat(of_text).numpy(), atol=1e-6)
    np.testing.assert_allclose(picture.attention("encoder_self"), torch.cat(of_picture).numpy(), atol=1e-6)
    assert text.source_tokens + text.target_tokens == ["11", "12", "13", "14", "2"]
    assert picture.source_tokens[-9:] == [f"{row},{column}" for row in (1, 2, 3) for column in (1, 2, 3)]
    assert reader.towers["vision"].config.kinds == ["encoder_self"] and "text" in reader.towers
    with pytest.raises(ValueError, match="read apart: give a text or input_ids without pixel_values"):
        reader.read(input_ids=IDS, pixel_values=PICTURE)


def test_a_picture_within_a_text_is_its_patches() -> None:
    ids = torch.tensor([[11, *[IMAGE] * 9, 12, 13]])
    reader = attach(llava(), Numbers())
    result = reader.read(input_ids=ids, pixel_values=PICTURE)
    with torch.inference_mode():
        outputs = llava("eager")(input_ids=ids, pixel_values=PICTURE, output_attentions=True)
    np.testing.assert_allclose(result.attention("decoder_self"), torch.cat(outputs.attentions).numpy(), atol=1e-6)
    np.testing.assert_allclose(result.logits, outputs.logits[0].numpy(), atol=1e-5)
    patches = [f"patch {row},{column}" for row in (1, 2, 3) for column in (1, 2, 3)]
    assert result.target_tokens == ["11", *patches, "12", "13"]
    assert result.predicted_tokens[:-1] == [*patches, "12", "13"]
    alone = reader.read(pixel_values=PICTURE)
    np.testing.assert_array_equal(
        alone.attention("encoder_self"), reader.towers["vision"].read(pixel_values=PICTURE).attention("encoder_self")
    )
    assert alone.source_tokens[:2] == ["[CLS]", "1,1"]


def test_two_pictures_of_one_text_are_both_read() -> None:
    ids = torch.tensor([[*[IMAGE] * 9, 11, *[IMAGE] * 9, 12]])
    pictures = torch.cat([PICTURE, -PICTURE])
    result = attach(llava(), Numbers()).read(input_ids=ids, pixel_values=pictures)
    with torch.inference_mode():
        outputs = llava("eager")(input_ids=ids, pixel_values=pictures)
    np.testing.assert_allclose(result.logits, outputs.logits[0].numpy(), atol=1e-5)
    assert result.target_tokens[5] == "patch 2,3 (1)" and result.target_tokens[10] == "patch 1,1 (2)"


def test_patches_whose_rows_are_not_known_are_counted() -> None:
    ids = torch.tensor([[*[IMAGE] * 10, 12]])  # with the class token of the tower
    result = attach(llava(picture_ids="full"), Numbers()).read(input_ids=ids, pixel_values=PICTURE)
    assert result.target_tokens == [*(f"patch {number}" for number in range(1, 11)), "12"]

"""Several texts at once: each recording against plain transformers reading that text alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from model import attach
from model.adapters.readers.inputs import batches
from model.adapters.readers.reading import Reading
from model.interventions.edits import Edits, Force, Head
from model.measures import atlas
from model.measures.heads import text_roles
from tests.support import architectures
from tests.support.architectures import Numbers
from tests.support.repeated import first_quick
from tests.test_model.test_adapters.other_models import TEXTS, model_of, theirs
from tests.test_model.test_adapters.test_readers.test_reader import close, outputs_of

ROWS = [[11, 12, 13], [21, 22, 23, 24, 25, 26], [31], [41, 42, 43, 44]]
FIRST = ["gpt2", "llama", "opt", "bert", "roberta", "bart", "t5", "bloom", "jamba"]  # each with positions of its own
NAMES = list(dict.fromkeys((*FIRST, *(architectures.ON_THE_INTERFACE | architectures.READ_ONLY))))
NAMES = [name for name in NAMES if name not in architectures.OTHERS]


class Padding(Numbers):
    """Numbers that know their pads, and lay them on one side of a batch."""

    pad_token_id = 0

    @staticmethod
    def batch(rows: list[list[int]], side: str) -> dict[str, torch.Tensor]:
        longest = max(map(len, rows))
        pads = [[0] * (longest - len(row)) for row in rows]
        ids = torch.tensor([pad + row if side == "left" else row + pad for row, pad in zip(rows, pads)])
        return {"input_ids": ids, "attention_mask": (ids != 0).long()}


def same_as_alone(name: str, result: Reading, inputs: dict[str, torch.Tensor]) -> None:
    """Hold a recording of a batch equal to what plain transformers computes for its row."""
    eager = outputs_of(architectures.build(name, "eager"), inputs)
    torch.testing.assert_close(torch.from_numpy(result.logits), eager["logits"], rtol=1e-5, atol=5e-6)
    for kind in result.config.kinds:
        close(result.attention(kind), eager.get(kind, eager.get("all")))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", first_quick(NAMES, len(FIRST)))
def test_each_row_is_what_transformers_reads_alone(name: str, side: str) -> None:
    reader = attach(architectures.build(name), Padding())
    inputs = Padding.batch(ROWS, side)
    pair = name in architectures.PAIRS
    decoder_ids = torch.tensor([[2, 51, 52], [2, 61, 62], [2, 71, 72], [2, 81, 82]])
    if pair:
        inputs["decoder_input_ids"] = decoder_ids
    results = reader.read_batch(**inputs)
    assert len(results) == len(ROWS)
    for row, (ids, result) in enumerate(zip(ROWS, results, strict=True)):
        assert (result.source_tokens or result.target_tokens) == list(map(str, ids))
        alone = {"input_ids": torch.tensor([ids])}
        if pair:
            alone["decoder_input_ids"] = decoder_ids[row : row + 1]
        same_as_alone(name, result, alone)
    assert [result.target_tokens for result in reader.read_batch(inputs)] == [r.target_tokens for r in results]


@pytest.mark.parametrize("name", ["llama", "bert", "gpt_oss", "qwen3_next", "albert"])
def test_every_recorded_array_is_that_of_reading_alone(name: str) -> None:
    reader = attach(architectures.build(name), Padding())
    texts = [" ".join(map(str, row)) for row in ROWS]
    kind = "encoder_self" if name in architectures.ENCODERS else "decoder_self"
    last = reader.config.layers(kind)[-1].layer
    edits = Edits(off=(Head(kind, last, 0),), uniform=(Head(kind, last, 1),), forced=(Force(0, 0, 0.7, kind=kind),))
    for text, result in zip(texts, reader.read_batch(texts, edits=edits), strict=True):
        alone = reader.read(text, edits=edits)
        assert set(result.trace) == set(alone.trace)
        for address, value in alone.trace.items():
            np.testing.assert_allclose(result.trace[address], value, rtol=1e-4, atol=1e-5, err_msg=address)
        assert result.predicted_ids == alone.predicted_ids and result.masked_words.keys() == alone.masked_words.keys()
        assert torch.equal(result.inputs["input_ids"], alone.inputs["input_ids"])
    with pytest.raises(ValueError, match="got row 3"):
        reader.read_batch(texts, edits=Edits(forced=(Force(3, 1, kind=kind),)))


def test_many_texts_take_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = attach(architectures.build("gpt2"), Padding())
    monkeypatch.setattr(batches, "MOST_TOKENS", 8)
    passes = []
    reader.model.register_forward_pre_hook(
        lambda module, args, kwargs: passes.append(tuple(kwargs["input_ids"].shape)), with_kwargs=True
    )
    texts = [" ".join(map(str, row)) for row in ROWS]
    assert [result.text for result in reader.read_batch(texts)] == texts and reader.read_batch([]) == []
    assert passes == [(1, 3), (1, 6), (2, 4)]


@pytest.mark.parametrize("kind", first_quick(["gpt2", "bert", "t5", "bart"]))
def test_the_batch_of_a_tokenizer_is_its_texts(kind: str) -> None:
    tokenizer = theirs(kind)
    reader = attach(model_of(kind), tokenizer)
    tokenizer.padding_side = "left"
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    results = [reader.read_batch(TEXTS), reader.read_batch(**batch), reader.read_batch(batch)]
    for text, *of_text in zip(TEXTS, *results, strict=True):
        alone = reader.read(text)
        for result in of_text:
            assert result.source_tokens == alone.source_tokens and result.target_tokens == alone.target_tokens
            for name in result.kinds:
                np.testing.assert_allclose(result.attention(name), alone.attention(name), atol=1e-6)


@pytest.mark.parametrize("kind", ["GPT2Model", "GPT2ForSequenceClassification"])
def test_models_without_words_read_several_texts(kind: str) -> None:
    reader = attach(architectures.build_as(kind, "gpt2"), Padding())
    for row, result in zip(ROWS, reader.read_batch(**Padding.batch(ROWS, "left")), strict=True):
        eager = architectures.build_as(kind, "gpt2", "eager")
        maps = torch.cat(eager(torch.tensor([row]), output_attentions=True).attentions)
        close(result.attention("decoder_self"), maps.detach())


def test_pads_of_one_row_are_none_of_its_tokens() -> None:
    reader = attach(architectures.build("gpt2"), Padding())
    plain = reader.read("11 12 13")
    ids = torch.tensor([[0, 0, 11, 12, 13, 0]])
    for inputs in ({"input_ids": ids}, {"input_ids": ids, "attention_mask": (ids != 0).long()}):
        result = reader.read(**inputs)
        assert result.target_tokens == ["11", "12", "13"]
        np.testing.assert_array_equal(result.logits, plain.logits)


def test_a_token_in_the_middle_that_is_masked_stays() -> None:
    reader = attach(architectures.build("llama"), Padding())
    mask = torch.tensor([[1, 0, 1]])
    result = reader.read(input_ids=torch.tensor([[11, 12, 13]]), attention_mask=mask)
    assert result.target_tokens == ["11", "12", "13"]
    assert not result.attention("decoder_self")[..., 2, 1].any()


def test_a_decoder_may_begin_with_the_id_of_pads() -> None:
    reader = attach(architectures.build("t5"), Padding())
    decoder_ids = torch.tensor([[0, 51, 52], [0, 61, 0]])
    results = reader.read_batch(input_ids=torch.tensor([[11, 12], [13, 14]]), decoder_input_ids=decoder_ids)
    assert [result.target_tokens for result in results] == [["0", "51", "52"], ["0", "61"]]


def test_images_are_read_one_by_one() -> None:
    reader = attach(architectures.build("vit"), None)
    images = torch.randn(2, 3, 12, 12)
    for image, result in zip(images, reader.read_batch(pixel_values=images), strict=True):
        same_as_alone("vit", result, {"pixel_values": image[None]})


def test_roles_over_texts_are_those_of_reading_them_one_by_one() -> None:
    tokenizer = theirs("gpt2")
    reader = attach(model_of("gpt2"), tokenizer)
    texts = [*TEXTS, "the dog " * 40, "the mat"]  # one is longer than the model reads
    report = atlas.measure(reader, texts, len(texts))
    read = [*TEXTS, "the mat"]
    assert report["sentences"] == len(read)
    tallies = [text_roles.tally(reader.read(text), "decoder_self") for text in read]
    numbers = (tallies[0] + tallies[1] + tallies[2]).numbers()
    for name, values in numbers.items():
        np.testing.assert_allclose(report["kinds"]["decoder_self"][name], values, atol=1e-4)


class TestRefusals:
    @pytest.mark.parametrize(
        ("read", "words"),
        [
            (lambda reader: reader.read(["11", "12"]), "read takes one text, got 2: read_batch takes several"),
            (lambda reader: reader.read(**Padding.batch(ROWS, "left")), "got 4 rows: read_batch reads several"),
            (lambda reader: reader.generate(["11", "12"]), "read_batch takes several"),
            (lambda reader: reader.read(11), "must be a str, got int"),
            (lambda reader: reader.read_batch("11"), "read takes one text"),
            (lambda reader: reader.read_batch(), "give a list of texts"),
            (lambda reader: reader.read_batch(["11", ""]), "nothing to read"),
            (lambda reader: reader.read_batch(["11", None]), "must be a str, got NoneType"),
            (lambda reader: reader.read_batch(["11", "12 " * 65]), "65 tokens; at most 64 are allowed"),
            (lambda reader: reader.read_batch(input_ids=torch.tensor([[11], [0]])), "pads alone"),
            (lambda reader: reader.read(input_ids=torch.tensor([11, 12])), "one row per text"),
            (lambda reader: reader.read(input_ids=[[11, 12]]), "one row per text"),
            (
                lambda reader: reader.read_batch(input_ids=torch.ones(3, 2).long(), attention_mask=torch.ones(2, 2)),
                "attention_mask has 2 rows, other inputs have 3",
            ),
        ],
    )
    def test_are_one_sentence(self, read: Any, words: str) -> None:
        reader = attach(architectures.build("llama"), Padding())
        with pytest.raises(ValueError, match=words) as error:
            read(reader)
        assert "\n" not in str(error.value)

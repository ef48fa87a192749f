"""The Translator: the contract that pages, commands and other programs rely on."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from model import load_translator, masks
from model.config import TransformerConfig
from model.decoding import beam_search
from model.interventions.edits import Edits, Head
from model.positional import sinusoidal
from model.results.translation import Translation
from model.running.translator import MAX_CHARACTERS, Translator
from model.storage import checkpoint
from model.storage.checkpoint import available
from model.taps import addresses, intervene, observed, record
from model.text.cleaning import tidy
from model.text.special import EOS_ID
from model.text.subwords import Tokenizer
from model.transformer import Transformer
from tests.support.repeated import first_quick

SENTENCES = ["Two young men walk on the street.", "The animal was too tired.", "Zwei Männer gehen über die Straße."]
TEXT = "Two men walk on the street, and the animal was too tired."

NONE = Edits()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random checkpoint with 2 encoder and 3 decoder layers, so that no stack can pass for the other."""
    folder = tmp_path_factory.mktemp("checkpoints") / "tiny"
    tokenizer = Tokenizer.train(SENTENCES, vocab_size=350, alphabet_size=40)
    torch.manual_seed(3)
    sizes = {"d_model": 24, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 3, "d_ff": 32, "max_length": 150}
    config = TransformerConfig(vocab_size=len(tokenizer), **sizes)
    checkpoint.save(folder, Transformer(config), tokenizer, {"task": "test", "parameters": 1})
    return folder


@pytest.fixture(scope="module")
def translator(folder: Path) -> Translator:
    return load_translator(str(folder))


@pytest.fixture(scope="module", params=[1, 4], ids=["greedy", "beam"])
def translation(translator: Translator, request: pytest.FixtureRequest) -> Translation:
    return translator.translate(TEXT, beam=request.param)


def test_tokens_name_the_axes(translator: Translator, translation: Translation) -> None:
    assert translation.source_tokens[-1] == "</s>"
    assert translation.target_tokens[0] == "<s>"
    assert translation.predicted_tokens[:-1] == translation.target_tokens[1:]
    assert translation.finished == (translation.predicted_tokens[-1] == "</s>")
    assert len(translation.source_tokens) != len(translation.target_tokens)
    assert translation.text == translator.tokenizer.decode(translation.search.hypotheses[0].ids)
    assert "</s>" not in translation.text and "<s>" not in translation.text


@pytest.mark.parametrize(
    "kind, layers, queries, keys",
    [
        ("encoder_self", 2, "source_tokens", "source_tokens"),
        ("decoder_self", 3, "target_tokens", "target_tokens"),
        ("cross", 3, "target_tokens", "source_tokens"),
    ],
)
def test_maps_have_a_row_for_each_query_that_sums_to_one(
    translation: Translation, kind: str, layers: int, queries: str, keys: str
) -> None:
    weights, mask = translation.attention(kind), translation.mask(kind)
    shape = len(getattr(translation, queries)), len(getattr(translation, keys))
    assert weights.shape == (layers, 4, *shape)
    assert weights.dtype == np.float32
    assert mask.shape == shape
    assert mask.dtype == np.bool_
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert not weights[:, :, ~mask].any()
    assert (weights[:, :, mask] > 0).all()


def test_masks_are_those_of_the_paper(translation: Translation) -> None:
    n = len(translation.target_tokens)
    np.testing.assert_array_equal(translation.mask("decoder_self"), np.tri(n, dtype=bool))
    assert translation.mask("encoder_self").all()
    assert translation.mask("cross").all()


def test_each_kind_is_its_own_recorded_address(translation: Translation) -> None:
    for kind, address in {
        "encoder_self": "encoder.layers.1.self_attention",
        "decoder_self": "decoder.layers.1.self_attention",
        "cross": "decoder.layers.1.cross_attention",
    }.items():
        np.testing.assert_array_equal(translation.attention(kind)[1], translation.trace[f"{address}.weights"])
        scores = translation.trace[f"{address}.scores"]
        assert (np.isneginf(scores) == ~translation.mask(kind)).all()
        raw = translation.trace[f"{address}.raw_scores"]
        allowed = np.broadcast_to(translation.mask(kind), scores.shape)
        np.testing.assert_allclose(scores[allowed], raw[allowed] / np.sqrt(24 / 4), atol=1e-6)


def test_positions_are_the_table_that_was_added(translation: Translation) -> None:
    for side, tokens in (("source", translation.source_tokens), ("target", translation.target_tokens)):
        positions = translation.positional(side)
        np.testing.assert_allclose(positions, sinusoidal(len(tokens), 24).numpy(), atol=1e-6)
        stack = "encoder" if side == "source" else "decoder"
        embeddings = translation.trace[f"{stack}.input.tokens"] + positions
        np.testing.assert_allclose(translation.trace[f"{stack}.input.stream"], embeddings, atol=1e-6)


def test_every_array_is_float32_or_a_bool_mask_without_a_batch_axis(translation: Translation) -> None:
    for address, array in translation.trace.items():
        assert array.dtype == (np.bool_ if address.endswith(".mask") else np.float32), address
        assert array.ndim in (2, 3), address


def test_log_probabilities_add_up_to_the_search(translation: Translation) -> None:
    assert len(translation.log_probabilities) == len(translation.predicted_tokens)
    total = translation.search.hypotheses[0].log_probability
    assert translation.log_probabilities.sum() == pytest.approx(total, abs=1e-4)


def test_what_is_recorded_is_what_decoding_saw_row_by_row(translator: Translator) -> None:
    """The whole maps against a search with the model's own steps, recorded one by one."""
    src = torch.tensor([[*translator.tokenizer.encode(TEXT), EOS_ID]])
    with record("decoder.*.weights", "logits") as steps, torch.no_grad():
        search = beam_search(
            translator.model,
            translator.model.start(src),
            width=1,
            alpha=0.6,
            max_lengths=[2 * src.size(1) + 10],
        )[0]
    whole = translator.translate(TEXT, beam=1)
    assert whole.text == translator.tokenizer.decode(search.hypotheses[0].ids)
    assert len(steps) == 3 * 2 + 1
    for address in steps:
        rows = steps.all(address)
        assert len(rows) == len(whole.target_tokens)
        for t, row in enumerate(rows):
            if address == "logits":
                weights, expected = row[0, 0], whole.trace[address][t]
            else:  # at step t there are t + 1 keys in self-attention; all later ones have weight 0 in the whole map
                weights, expected = row[0, :, 0], whole.trace[address][:, t, : row.size(-1)]
                assert not whole.trace[address][:, t, row.size(-1) :].any()
            np.testing.assert_allclose(weights.numpy(), expected, atol=1e-5)


def test_every_tap_fires_once_and_the_encoder_runs_once(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    start = translator.model.start
    monkeypatch.setattr(translator.model, "start", lambda src: runs.append(observed()) or start(src))
    for translation in (translator.translate(TEXT), translator.force(TEXT, "Zwei Männer gehen.")):
        assert set(translation.trace) == set(addresses(translator.model))
    assert runs == [True, True]
    with record() as outer:
        whole = translator.translate(TEXT, beam=1)
    for address in outer:
        once = address.startswith("encoder.") or address.endswith(("cross_attention.k", "cross_attention.v"))
        assert len(outer.all(address)) == (1 if once else len(whole.target_tokens) + 1), address


@pytest.mark.parametrize("beam", [1, 4])
def test_the_search_is_not_recorded_and_one_pass_after_it_is(
    translator: Translator, beam: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, modules = [], []  # the steps of `Stepper`, and every pass of the modules
    step, decode = translator.stepper.step, translator.model.decode
    monkeypatch.setattr(translator.stepper, "step", lambda *args: steps.append(observed()) or step(*args))
    monkeypatch.setattr(translator.model, "decode", lambda *args: modules.append(observed()) or decode(*args))
    translation = translator.translate(TEXT, beam=beam)
    assert len(steps) >= len(translation.target_tokens) and not any(steps)
    assert modules == [True]


def test_an_intervention_reaches_the_search(translator: Translator) -> None:
    """Both the search and the recorded pass see the change, and still agree."""
    change = {"decoder.layers.1.cross_attention.weights": torch.zeros_like, "encoder.output": lambda x: 3 * x}
    with intervene(change):
        changed = translator.translate(TEXT, beam=1)
    assert not changed.trace["decoder.layers.1.cross_attention.context"].any()
    total = changed.search.hypotheses[0].log_probability
    assert changed.log_probabilities.sum() == pytest.approx(total, abs=1e-4)
    assert total != pytest.approx(translator.translate(TEXT, beam=1).search.hypotheses[0].log_probability, abs=1e-3)


@pytest.mark.parametrize(
    ("beam", "alpha", "prefix"), first_quick([(1, 0.6, ()), (2, 0.0, ()), (4, 0.6, (9, 7)), (16, 1.0, ())])
)
@pytest.mark.parametrize("text", first_quick([*SENTENCES, TEXT]))
def test_what_the_search_saw_is_what_teacher_forcing_records(
    translator: Translator, text: str, beam: int, alpha: float, prefix: tuple[int, ...]
) -> None:
    """Every tap, along whatever rows of the beam the best hypothesis has gone."""
    assert_recorded_as_forced(translator, text, beam, length_penalty=alpha, prefix=prefix)


def test_what_the_search_saw_with_an_edited_encoder_is_what_teacher_forcing_records(translator: Translator) -> None:
    """Its steps run without modules, too."""
    assert_recorded_as_forced(translator, TEXT, 4, edits=Edits(off=(Head("encoder_self", 1, 2),)))


def assert_recorded_as_forced(translator: Translator, text: str, beam: int, edits: Edits = NONE, **options) -> None:
    """Every array of a translation is the one that reading the same tokens records."""
    free = translator.translate(text, beam, edits=edits, **options)
    forced = translator.force(text, free, edits)
    assert forced.search is None
    assert (forced.text, forced.target_tokens, forced.predicted_ids) == (
        free.text,
        free.target_tokens,
        free.predicted_ids,
    )
    assert list(forced.trace) == list(free.trace)
    for address, expected in forced.trace.items():
        np.testing.assert_allclose(free.trace[address], expected, atol=1e-5, err_msg=address)


def test_forcing_reads_the_given_target(translator: Translator) -> None:
    forced = translator.force("The animal.", " Zwei  Männer ")
    assert forced.text == "Zwei Männer"
    assert "".join(forced.target_tokens[1:]).replace("▁", " ").strip() == "Zwei Männer"
    assert forced.predicted_tokens[-1] == "</s>"
    assert np.isfinite(forced.log_probabilities).all()


@pytest.mark.parametrize("beam", [1, 3])
def test_lines_translate_as_single_sentences_do(translator: Translator, beam: int) -> None:
    texts = [SENTENCES[0], "", TEXT, "   ", SENTENCES[1], "a"]
    expected = [translator.translate(text, beam=beam).text if text.strip() else "" for text in texts]
    assert translator.translate_lines(texts, beam=beam) == expected


def test_nothing_is_remembered_and_nothing_is_random(translator: Translator) -> None:
    first = translator.translate(TEXT)
    translator.translate("something else")
    repetition = translator.translate(TEXT)
    assert first.trace["logits"] is not repetition.trace["logits"]
    for address in first.trace:
        np.testing.assert_array_equal(first.trace[address], repetition.trace[address])


@pytest.mark.slow
def test_threads_share_one_translator(translator: Translator) -> None:
    texts = [TEXT, "The animal.", "walk on the street", "Two tired men"] * 3
    alone = [translator.translate(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(translator.translate, texts))
    for single, threaded in zip(alone, together, strict=True):
        assert single.text == threaded.text
        assert single.trace.keys() == threaded.trace.keys()
        np.testing.assert_allclose(single.attention("cross"), threaded.attention("cross"), atol=1e-6)


def test_a_translation_can_be_cached(translation: Translation) -> None:
    copy = pickle.loads(pickle.dumps(translation))  # what Streamlit's cache does, in its own process
    assert copy.text == translation.text
    np.testing.assert_array_equal(copy.attention("cross"), translation.attention("cross"))


@pytest.mark.parametrize("text", ["<s>", "</s> <pad>", "<script>alert(1)</script>", "a", ".", "\u2581", "\u202e x"])
def test_any_script_gets_a_translation(translator: Translator, text: str) -> None:
    translation = translator.translate(text, beam=2)
    ids = [*translator.tokenizer.encode(tidy(text)), EOS_ID]
    assert translation.source_tokens == translator.tokenizer.tokens(ids)
    np.testing.assert_allclose(translation.attention("cross").sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("text", ["😀 👩‍👩‍👧", "שלום עולם", "مرحبا بالعالم", "日本語", "\ud800"])
def test_what_the_alphabet_lacks_is_spelt_in_bytes(translator: Translator, text: str) -> None:
    translation = translator.translate(text, beam=1)
    assert any(token.startswith("<0x") for token in translation.source_tokens)
    assert translation.source == translator.tokenizer.decode(translator.tokenizer.encode(text)) or text == "\ud800"


@pytest.mark.parametrize("text", ["", " ", "\n\t \r", "\x00", " \x07 \x1b "])
def test_nothing_to_translate_is_said_in_words(translator: Translator, text: str) -> None:
    with pytest.raises(ValueError, match="nothing to translate"):
        translator.translate(text)


def test_too_long_texts_are_refused_with_the_limit(translator: Translator) -> None:
    with pytest.raises(ValueError, match=f"10,000 characters; at most {MAX_CHARACTERS:,}"):
        translator.translate("x" * 10_000)
    with pytest.raises(ValueError, match="the text has 151 tokens; at most 128 are allowed"):
        translator.translate("1" * 149)  # a digit is a token; the mark before the first and the end token are two more
    assert translator.translate("1" * 126, beam=1).source_tokens[-1] == "</s>"
    with pytest.raises(ValueError, match="line 2: the text has 152 tokens; at most 150"):
        translator.translate_lines(["a", "1" * 150])


@pytest.mark.parametrize("beam", [1, 4])
def test_a_locked_prefix_begins_the_translation(translator: Translator, beam: int) -> None:
    free = translator.translate(TEXT, beam=beam)
    best = free.search.hypotheses[0]
    ids = [*best.ids, EOS_ID] if best.finished else best.ids
    repetition = translator.translate(TEXT, beam=beam, prefix=ids)
    assert (repetition.text, repetition.predicted_tokens) == (free.text, free.predicted_tokens)
    np.testing.assert_allclose(repetition.log_probabilities, free.log_probabilities, atol=1e-5)
    alternative = next(token for token in range(20, 300) if token != ids[2])
    changed = translator.translate(TEXT, beam=beam, prefix=[*ids[:2], alternative])
    assert changed.predicted_tokens[:3] == translator.tokenizer.target.tokens([*ids[:2], alternative])
    np.testing.assert_allclose(changed.attention("cross")[..., :3, :], free.attention("cross")[..., :3, :], atol=1e-6)


def test_a_prefix_outside_the_vocabulary_is_refused(translator: Translator) -> None:
    n_words = len(translator.tokenizer)
    for token in (n_words, -1):
        with pytest.raises(ValueError, match=f"token {token}; tokens are numbered from 0 to {n_words - 1}"):
            translator.translate("a", prefix=[token])
    with pytest.raises(ValueError, match="at most"):
        translator.translate("a", prefix=[30] * 200)


@pytest.mark.parametrize("beam", [0, -1, 17])
def test_a_beam_out_of_range_is_refused(translator: Translator, beam: int) -> None:
    with pytest.raises(ValueError, match=f"from 1 to 16, got {beam}"):
        translator.translate("a", beam=beam)


@pytest.mark.parametrize("penalty", [-0.1, 5.1, float("nan")])
def test_a_length_penalty_out_of_range_is_refused(translator: Translator, penalty: float) -> None:
    with pytest.raises(ValueError, match=f"from 0 to 5, got {penalty}"):
        translator.translate("a", length_penalty=penalty)


def test_unknown_kinds_and_sides_are_refused(translation: Translation) -> None:
    with pytest.raises(ValueError, match="one of encoder_self, decoder_self, cross, got 'encoder'"):
        translation.attention("encoder")
    with pytest.raises(ValueError, match="one of encoder_self, decoder_self, cross, got 'x'"):
        translation.mask("x")
    with pytest.raises(ValueError, match="got 'both'"):
        translation.positional("both")


def test_control_characters_and_white_space_are_tidied(translator: Translator) -> None:
    assert tidy(" a\x00\n\n b\u00a0c\x1b ") == "a b c"
    assert tidy("a \x00 b\x00c") == "a bc"
    assert translator.translate(" The\nanimal.\x00 ").source == "The animal."


def test_checkpoints_are_found_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder.parent))
    assert available() == ["tiny"]
    assert load_translator("tiny").config.n_decoder_layers == 3
    with pytest.raises(ValueError, match="no checkpoint 'nope'; there are tiny"):
        load_translator("nope")


def test_scores_are_kept_on_the_card(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    loaded = load_translator(str(copy))
    checkpoint.keep_scores(loaded.folder, loaded.card, "set", {"bleu": 1.5})
    assert load_translator(str(copy)).card["scores"] == {"set": {"bleu": 1.5}}


def test_the_mask_convention_is_one(translator: Translator) -> None:
    """What is drawn is what masks.py makes: True = may attend."""
    target = translator.translate(TEXT).target_tokens
    causal = masks.causal_mask(len(target))[0, 0].numpy()
    np.testing.assert_array_equal(translator.translate(TEXT).mask("decoder_self"), causal)

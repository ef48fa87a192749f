"""The command atlas: its numbers are those of single calls, and a file of something else is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU

from model import load_translator
from model.__main__ import main
from model.adapters.marian import import_marian
from model.analysis import head_roles
from model.config import LanguageModelConfig, TransformerConfig
from model.gru import GruConfig, GruModel
from model.interventions.edits import Edits, Head
from model.language_model import LanguageModel
from model.measures import agreement, alignment, atlas, reports
from model.measures.heads import translators
from model.measures.word_links import read_linked_text
from model.storage import checkpoint
from model.text.special import EOS_ID
from model.text.subwords import Tokenizer
from model.text.words import TextWords
from model.transformer import Transformer
from tests.test_model.builders import write_folder
from tests.test_model.test_adapters.marian_models import ENGLISH, GERMAN, save_marian

PAIRS = [("A man walks.", "Ein Mann geht."), ("Two dogs in the street.", "Zwei Hunde."), ("The street.", "Die Straße.")]
LINKS = "1 0 0 S\n1 1 1 S\n2 0 0 S\n"
CREDIT = "written for this test"
TOKENIZER = Tokenizer.train([text for pair in PAIRS for text in pair], vocab_size=310, alphabet_size=40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with other numbers of layers on either side, and its atlas, made by the command."""
    folder = tmp_path_factory.mktemp("checkpoints") / "small"
    torch.manual_seed(5)
    sizes = {"d_model": 16, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 2, "d_ff": 16, "max_length": 64}
    model = Transformer(TransformerConfig(vocab_size=len(TOKENIZER), output_bias=True, **sizes))
    with torch.no_grad():
        model.output.bias[EOS_ID] = 2
    checkpoint.save(folder, model, TOKENIZER, {"task": "test", "parameters": 1, "source": "en", "target": "de"})
    data = folder.parent / "pairs.tsv"
    data.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    links = write_folder(folder.parent / "toys", LINKS)
    words = ["atlas", "--data", str(data), "--checkpoint", str(folder), "--sentences", "3", "--bleu-sentences", "2"]
    assert main([*words, "--links", str(links), "--credit", CREDIT]) == 0
    return folder


@pytest.fixture(scope="module")
def translator(folder: Path):
    return load_translator(str(folder))


@pytest.fixture(scope="module")
def measures(folder: Path, translator) -> dict:
    return atlas.read(folder, translator.config)


@pytest.fixture(scope="module")
def results(translator) -> list:
    return [translator.translate(source, beam=1) for source, _ in PAIRS]


@pytest.mark.slow
def test_where_heads_look_is_a_mean_over_the_rows_of_all_sentences(measures, results) -> None:
    assert (measures["sentences"], measures["data"], measures["credit"]) == (3, "pairs.tsv", CREDIT)
    assert measures["command"].startswith("python -m model atlas --data ")
    assert measures["words"] == sum(len(result.predicted_ids) for result in results)
    cross = measures["kinds"]["cross"]
    entropies = [-(w * np.log(w)).sum(-1) for w in (result.attention("cross")[1, 0] for result in results)]
    assert cross["entropy"][1][0] == pytest.approx(np.concatenate(entropies).mean(), abs=1e-4)
    divergence = np.mean([head_roles.divergences(result.attention("encoder_self")) for result in results], axis=0)
    np.testing.assert_allclose(measures["kinds"]["encoder_self"]["divergence"], divergence, atol=1e-4)
    tokens = [token for source, _ in PAIRS for token in TOKENIZER.tokens(TOKENIZER.encode(source))]
    on_rare = []
    for result in results:
        counts = [tokens.count(token) for token in result.source_tokens[:-1]]  # without the end token
        rarest = [key for key, count in enumerate(counts) if count == min(counts)]
        on_rare += result.attention("cross")[0, 1][:, rarest].sum(-1).tolist()
    assert cross["rare"][0][1] == pytest.approx(np.mean(on_rare), abs=1e-4)


def test_what_heads_are_worth_is_that_of_single_passes(measures, results, translator) -> None:
    head, edits = ("cross", 1, 0), Edits(off=(Head("cross", 1, 0),))
    cross = measures["kinds"]["cross"]
    changes = [
        translator.force(result.source, result, edits).log_probabilities - result.log_probabilities
        for result in results
    ]
    assert cross["log_probability"][1][0] == pytest.approx(np.concatenate(changes).mean(), abs=1e-4)
    sources, references = zip(*PAIRS[:2], strict=True)
    scores = [
        BLEU().corpus_score(translator.translate_lines(sources, 1, edits=variant), [references]).score
        for variant in (Edits(), edits)
    ]
    assert measures["bleu"]["score"] == pytest.approx(scores[0], abs=0.01)
    assert cross["bleu"][1][0] == pytest.approx(scores[1] - scores[0], abs=0.01)
    effects = [translator.effects(result, "runner-up").heads("cross")[1, 0].sum(-1) for result in results]
    assert cross["effect"][1][0] == pytest.approx(np.abs(np.concatenate(effects)).mean(), abs=1e-4)
    assert cross["runner-up"][1][0] == pytest.approx(np.concatenate(effects).mean(), abs=1e-4)
    words = [agreement.of_words(translator, result) for result in results]
    rows = np.concatenate([measure["decoder_self"]["agreement"][0, 1] for measure in words])
    assert measures["kinds"]["decoder_self"]["agreement"][0][1] == pytest.approx(np.nanmean(rows), abs=1e-4)
    pooled = [
        np.concatenate(
            [np.concatenate([measure[kind][name].ravel() for kind in agreement.DECODER]) for measure in words]
        )
        for name in ("runner-up", "log_probability")
    ]
    rate = agreement.spearman(pooled[0], -pooled[1])
    assert measures["agreement"]["runner-up"]["spearman"] == pytest.approx(rate, abs=1e-4), head


def test_what_decides_where_heads_look_is_the_mean_of_the_parts_of_their_scores(measures, results, translator) -> None:
    by_position, by_words, by_earlier = [], [], []
    for result in results:
        parts = translator.score_parts(result, "decoder_self", 1, 1)
        every = parts.above_mean(parts.scores)
        total = (every**2).sum()
        position = parts.query_names.index("positions"), parts.key_names.index("positions")
        pair = np.array([[parts.at(t, s)[position] for s in range(every.shape[1])] for t in range(len(every))])
        by_position.append((parts.above_mean(pair) * every).sum() / total)
        shares = dict(zip(parts.key_names, (parts.above_mean(parts.of_keys) * every).sum((1, 2)) / total, strict=True))
        by_words.append(shares["tokens"])
        by_earlier.append(sum(share for name, share in shares.items() if "head" in name))
    decoder = measures["kinds"]["decoder_self"]
    for name, shares in zip(("by_position", "by_words", "by_earlier_heads"), (by_position, by_words, by_earlier)):
        assert decoder[name][1][1] == pytest.approx(np.mean(shares), abs=1e-4)
    assert np.abs(measures["kinds"]["encoder_self"]["by_earlier_heads"]).max() == 0


def test_heads_are_scored_as_word_aligners(measures, folder, translator) -> None:
    scores = alignment.measure(translator, read_linked_text([folder.parent / "toys"]))
    assert measures["alignment"] == {"toys": scores}
    cross = measures["kinds"]["cross"]
    assert cross["aer_output"] == scores["aer"]["output"]["weights"]["heads"]
    assert cross["aligns"] == alignment.roles([scores])


def test_examples_are_the_strongest_sentences_and_name_their_cell(measures, results) -> None:
    assert sorted(measures["texts"]) == sorted(source for source, _ in PAIRS)
    by_source = {result.source: result for result in results}
    translator = load_translator(measures["command"].split("--checkpoint ")[1].split()[0])
    sizes = []
    for text, row, column, word, key, value in measures["kinds"]["cross"]["examples"][1][1]:
        result = by_source[measures["texts"][text]]
        effect = translator.effects(result, "runner-up").heads("cross")[1, 1]
        assert np.abs(effect).max() == pytest.approx(abs(value), abs=1e-4)
        assert effect[row, column] == pytest.approx(value, abs=1e-4)
        assert (result.predicted_tokens[row], result.source_tokens[column]) == (word, key)
        sizes.append(abs(value))
    assert len(sizes) == 3 and sizes == sorted(sizes, reverse=True)
    for text, row, column, word, key, value in measures["kinds"]["encoder_self"]["examples"][0][0]:
        result = by_source[measures["texts"][text]]
        weights = result.attention("encoder_self")[0, 0]
        assert weights[row, column] == pytest.approx(value, abs=1e-4) == weights.max()
        assert (result.source_tokens[row], result.source_tokens[column]) == (word, key)


def test_of_one_sentence_the_same_is_counted(translator, results) -> None:
    result = results[1]
    counts = translators.count(translator, result, agreement.of_words(translator, result))
    whole = atlas.measure(translator, [PAIRS[1][0]], 1)
    for kind, of_kind in whole["kinds"].items():
        for name, values in counts[kind].numbers().items():
            np.testing.assert_allclose(of_kind[name], values, atol=1e-4)
    assert (whole["bleu"], whole["alignment"]) == (None, {})


@pytest.mark.slow
def test_an_imported_model_has_an_atlas_elsewhere(tmp_path: Path) -> None:
    save_marian(tmp_path / "theirs")
    import_marian(str(tmp_path / "theirs"), tmp_path / "ours")
    data, out = tmp_path / "pairs.tsv", tmp_path / "new" / "mine.json"
    data.write_text("".join(f"{a}\t{b}\n" for a, b in zip(ENGLISH, GERMAN, strict=True)), encoding="utf-8")
    words = ["atlas", "--data", str(data), "--checkpoint", str(tmp_path / "ours"), "--out", str(out)]
    assert main([*words, "--sentences", "2"]) == 0
    config = load_translator(str(tmp_path / "ours")).config
    assert atlas.read(tmp_path / "ours", config) is None
    out.rename(tmp_path / "ours" / atlas.FILE)
    kinds = atlas.read(tmp_path / "ours", config)["kinds"]
    for kind, names in translators.ALWAYS.items():
        assert all(np.isfinite(kinds[kind][name]).all() for name in names)
    assert np.max(kinds["cross"]["effect"]) > 0


@pytest.fixture(scope="module")
def writer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = TextWords([TextWords.EOS, TextWords.UNK, *"the cat sat on a red mat".split()])
    torch.manual_seed(5)
    model = LanguageModel(LanguageModelConfig(vocab_size=len(words), d_model=12, n_heads=3, d_ff=20, n_layers=2))
    folder = tmp_path_factory.mktemp("texts") / "writer"
    checkpoint.save(folder, model, words, {"task": "language_model"})
    return folder


def test_a_language_model_has_the_same_atlas_beside_its_weights(writer_folder: Path, capsys) -> None:
    texts = ["the cat sat on the red mat", "a mat", "the cat " * 200, "", "the mat sat"]
    data = writer_folder.parent / "texts.txt"
    data.write_text("\n".join(texts), encoding="utf-8")
    assert main(["atlas", "--data", str(data), "--checkpoint", str(writer_folder), "--sentences", "9"]) == 0
    assert capsys.readouterr().out.startswith("3 texts, 15 tokens\ndecoder_self induction: ")
    writer = load_translator(str(writer_folder))
    report = atlas.read(writer_folder, writer.config)
    values = report["kinds"]["decoder_self"]
    read = [texts[0], texts[1], texts[4]]
    maps = [writer.read(text).attention("decoder_self") for text in read]
    previous = [weights.diagonal(-1, axis1=2, axis2=3) for weights in maps]  # (L, H, T - 1), of row 1 on
    np.testing.assert_allclose(values["previous"], np.concatenate(previous, axis=-1).mean(-1), atol=1e-4)
    assert np.shape(values["induction"]) == (2, 3) and values["layers"] == [0, 1]
    text, row, column, query, key, weight = values["examples"][1][2][0]
    tokens = writer.read(report["texts"][text]).target_tokens
    assert (tokens[row], tokens[column]) == (query, key)
    assert weight == pytest.approx(max(np.tril(part[1, 2], -1)[:, 1:].max() for part in maps), abs=1e-4)
    assert atlas.measure(writer, ["cat"], 1)["texts"] == ["cat"]  # no head has an example in it


@pytest.mark.parametrize("option", [{"references": ["x"]}, {"bleu_sentences": 1}])
def test_what_only_translators_have_is_refused_of_others(writer_folder: Path, translator, option: dict) -> None:
    with pytest.raises(ValueError, match="are for checkpoints that translate"):
        atlas.measure(load_translator(str(writer_folder)), ["the cat"], 1, **option)
    with pytest.raises(ValueError, match="each needs one|needs references"):
        atlas.measure(translator, ["A man walks.", "The street."], 1, **option)


@pytest.mark.parametrize(
    ("change", "sealed", "words"),
    [
        ({"weights": "0" * 64}, True, "measured with other weights: run python -m model atlas again"),
        ({"words": 7}, False, "is not what python -m model atlas wrote: run it again"),
        ({"seal": None}, False, "is not what python -m model atlas wrote"),
        ({"kinds": None}, False, "is not what python -m model atlas wrote"),
        ({"words": 10**400}, False, "atlas.json is not JSON: a number has 401 digits; at most 300 are read"),
    ],
)
def test_what_is_no_atlas_of_this_model_is_refused(folder: Path, translator, change, sealed: bool, words: str) -> None:
    path = folder / atlas.FILE
    before = path.read_text(encoding="utf-8")
    try:
        if sealed:
            reports.write(path, atlas.read(folder, translator.config) | change)
        else:
            path.write_text(json.dumps(json.loads(before) | change), encoding="utf-8")
        with pytest.raises(ValueError, match=words):
            atlas.read(folder, translator.config)
    finally:
        path.write_text(before, encoding="utf-8")
    older = atlas.read(folder, translator.config)
    del older["kinds"]["cross"]["layers"]
    try:
        reports.write(path, older)
        with pytest.raises(ValueError, match="was written by an older version: run python -m model atlas again"):
            atlas.read(folder, translator.config)
    finally:
        path.write_text(before, encoding="utf-8")
    with pytest.raises(ValueError, match="does not fit the model: it has other layers or heads in decoder_self"):
        atlas.read(folder, dataclasses.replace(translator.config, n_decoder_layers=1))


@pytest.fixture(scope="module")
def gru(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sizes = {"source_vocab_size": len(TOKENIZER), "target_vocab_size": len(TOKENIZER), "d_embedding": 6, "d_hidden": 8}
    folder = tmp_path_factory.mktemp("gru") / "gru"
    checkpoint.save(folder, GruModel(GruConfig(**sizes, attention=True)), TOKENIZER, {"source": "en", "target": "de"})
    return folder


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--sentences", "0"], "--sentences must be at least 1"),
        (["--checkpoint", "nowhere"], "there is no checkpoint 'nowhere'"),
        (["--data", "/nowhere.tsv"], "/nowhere.tsv does not exist"),
        (["--data", "{long}"], "no line of the file is a text that the model can read"),
        (["--links", "{long}"], "give a folder with links and texts"),
        (["--checkpoint", "{gru}"], "no attention heads that can be changed"),
        (["--checkpoint", "{writer}", "--bleu-sentences", "1"], "are for checkpoints that translate"),
    ],
)
def test_errors_are_one_line(
    folder: Path, gru: Path, writer_folder: Path, capsys: pytest.CaptureFixture, more: list, words: str
) -> None:
    long = folder.parent / "long.tsv"
    long.write_text("a " * 90 + "\tb\n", encoding="utf-8")
    more = [argument.format(long=long, gru=gru, writer=writer_folder) for argument in more]
    data = ["--data", str(folder.parent / "pairs.tsv"), "--checkpoint", str(folder), "--out", str(long) + ".json"]
    assert main(["atlas", *data, *more]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and words in lines[0]

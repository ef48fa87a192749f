"""The index of a corpus against plain transformers and single translations, and that it can be stopped and resumed."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import attach, load_translator
from model.__main__ import main
from model.config import TransformerConfig
from model.gru import GruConfig, GruModel
from model.measures import contribution, reports
from model.measures.corpus import activity, batches, combinations, counts, edges, index, kept_rows, pairs, store
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.transformer import Transformer
from tests.support.architectures import Numbers, build
from tests.support.rules_by_hand import END, WORDS, random_texts, self_rules

DRAW = np.random.default_rng(3)
TEXTS = [" ".join(map(str, DRAW.integers(5, 20, length))) for length in DRAW.integers(2, 15, 50)]
PAIRS = [
    ("A man walks.", "Ein Mann geht."),
    ("Two dogs in the street.", "Zwei Hunde."),
    ("The street.", "Die Straße."),
    ("A man, two dogs.", "Ein Mann, zwei Hunde."),
    ("The man (walks).", "Der Mann (geht)."),
    ("Dogs.", "Hunde."),
]
TOKENIZER = Tokenizer.train([text for pair in PAIRS for text in pair], vocab_size=310, alphabet_size=40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints") / "small"
    torch.manual_seed(5)
    sizes = {"d_model": 16, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 2, "d_ff": 16, "max_length": 64}
    model = Transformer(TransformerConfig(vocab_size=len(TOKENIZER), **sizes))
    checkpoint.save(folder, model, TOKENIZER, {"task": "test", "source": "en", "target": "de"})
    lines = "".join(f"{source}\t{target}\n" for source, target in PAIRS)
    (folder.parent / "pairs.tsv").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def translator(folder: Path):
    return load_translator(str(folder))


def plain_parts(network: Any, ids: list[int]) -> dict[str, np.ndarray]:
    """Weights, lengths of what is written from each key, and activity, by eager attention and hooks alone."""
    values, outputs = [], []
    hooks = []
    for layer in network.model.layers:
        hooks.append(layer.self_attn.v_proj.register_forward_hook(lambda *call: values.append(call[2][0])))
        hooks.append(layer.self_attn.o_proj.register_forward_pre_hook(lambda *call: outputs.append(call[1][0][0])))
    with torch.no_grad():
        result = network(torch.tensor([ids]), output_attentions=True, output_hidden_states=True)
    for hook in hooks:
        hook.remove()
    weights = torch.cat(result.attentions)  # (L, H, T, T)
    n_heads = weights.size(1)
    written, active = [], []
    for number, layer in enumerate(network.model.layers):
        matrix = layer.self_attn.o_proj.weight.reshape(len(layer.self_attn.o_proj.weight), n_heads, -1)  # (D, H, K)
        of_group = values[number].reshape(len(ids), -1, matrix.size(2))  # (T, G, K)
        of_head = of_group.repeat_interleave(n_heads // of_group.size(1), dim=1)
        each = torch.einsum("lhts,shk,dhk->htsd", weights[number : number + 1], of_head, matrix)
        written.append(each.norm(dim=-1))
        contexts = outputs[number].reshape(len(ids), n_heads, -1)
        stream = result.hidden_states[number][0].norm(dim=-1)
        active.append(torch.einsum("thk,dhk->htd", contexts, matrix).norm(dim=-1) / stream)
    parts = {"weight": weights, "written": torch.stack(written), "activity": torch.stack(active)}
    return {name: part.detach().double().numpy() for name, part in parts.items()}


@pytest.fixture(scope="module")
def of_llama() -> tuple[dict[str, Any], list[dict[str, np.ndarray]]]:
    """The index of a small model like SmolLM2, and what it computes by itself of each text."""
    with attach(build("llama"), Numbers()) as reader:
        report = index.measure(reader, TEXTS)
    plain = build("llama", "eager")
    return report, [plain_parts(plain, list(map(int, text.split()))) for text in TEXTS]


class Words(Numbers):
    """A tokenizer whose ids are called by words, marks and quotes; a text is the numbers of its tokens."""

    names = (*WORDS, END)

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [self.names[number - 5] for number in ids]

    def text_of(self, tokens: list[str]) -> str:
        return " ".join(str(self.names.index(token) + 5) for token in tokens)


def test_the_share_of_every_rule_is_that_of_plain_transformers() -> None:
    """A random model with the heads of SmolLM2, 9 that share 3 of keys and values, and 50 texts, cell by cell."""
    sizes = {"hidden_size": 36, "num_attention_heads": 9, "num_key_value_heads": 3}
    texts = random_texts(3, 50)
    with attach(build("llama", **sizes), Words()) as reader:
        values = index.measure(reader, map(Words().text_of, texts))["kinds"]["decoder_self"]
    plain = build("llama", "eager", **sizes)
    by_hand = self_rules(Counter(token for text in texts for token in text))
    assert list(by_hand) == values["rules"]
    shape = len(by_hand), 3, 9
    sums = {measure: np.zeros(shape) for measure in counts.MEASURES}
    totals = {measure: np.zeros(shape[1:]) for measure in counts.MEASURES}
    even, n_rows = np.zeros(len(by_hand)), 0
    for text in texts:
        part = plain_parts(plain, list(map(int, Words().text_of(text).split())))
        for query in range(1, len(text)):
            keys = list(range(query + 1))
            holds = np.array([[rule(text, query, key, keys) for key in keys] for rule in by_hand.values()])
            even += holds.mean(axis=1)
            n_rows += 1
            for measure in counts.MEASURES:
                masses = part[measure][:, :, query, : query + 1]  # (L, H, keys)
                sums[measure] += np.einsum("lhs,rs->rlh", masses, holds)
                totals[measure] += masses.sum(-1)
    assert values["rows"] == n_rows
    np.testing.assert_allclose(values["even"], even / n_rows, atol=1e-4)
    for measure in counts.MEASURES:
        alone = np.moveaxis(np.array(values["alone"][measure]), -1, 0)
        np.testing.assert_allclose(alone, sums[measure] / totals[measure], atol=2e-4)
    assert (even > 0).sum() == len(by_hand) - 1  # there is no next token before a decoder


def test_histograms_and_rows_are_those_of_plain_transformers(of_llama) -> None:
    report, parts = of_llama
    values = report["kinds"]["decoder_self"]
    written = np.zeros((3, 4))
    for part in parts:
        for query in range(1, part["weight"].shape[2]):
            written += part["written"][:, :, query, query - 1]
    total = sum(part["written"][:, :, 1:].sum((2, 3)) for part in parts)
    previous = report["bins"]["distance"].index(-1)
    np.testing.assert_allclose(np.array(values["distance"]["written"])[..., previous], written / total, atol=2e-4)
    largest = np.concatenate([part["weight"][1, 2, 1:].max(-1) for part in parts])
    bins = np.histogram(largest, np.linspace(0, 1, counts.BINS + 1))[0]
    assert values["largest"][1][2] == bins.tolist()
    active = np.concatenate([part["activity"][1, 2, 1:] for part in parts])
    expected = np.quantile(active, np.arange(1, 10) / 10)
    np.testing.assert_allclose(values["tenths"][1][2], expected, rtol=10 ** (1 / activity.PER_DECADE) - 1 + 0.02)
    of_text = dict(zip(TEXTS, parts, strict=True))
    for tenth, rows in enumerate(values["drawn"][1][2]):
        assert len({row[0] for row in rows}) == len(rows) > 0
        for text, row, active_there, *keys in rows:
            part = of_text[report["texts"][text]]
            assert part["activity"][1, 2, row] == pytest.approx(active_there, rel=1e-2)
            bounds = [0, *values["tenths"][1][2], np.inf]
            assert bounds[tenth] * 0.99 <= active_there <= bounds[tenth + 1] * 1.01
            for key, weight in keys:
                assert part["weight"][1, 2, row, key] == pytest.approx(weight, abs=1e-3)
            assert keys[0][0] == part["written"][1, 2, row].argmax()
    best = max(of_text.values(), key=lambda part: part["activity"][1, 2, 1:].max())
    assert values["top"][1][2][0][2] == pytest.approx(best["activity"][1, 2, 1:].max(), rel=1e-2)


def test_rules_explain_together_all_but_a_rest_and_pairs_are_those_that_most_is_written_from(of_llama) -> None:
    report, parts = of_llama
    values = report["kinds"]["decoder_self"]
    for measure in counts.MEASURES:
        for layer, head in np.ndindex(3, 4):
            rows = values["explained"][measure][layer][head]
            assert sum(share for _, share, *_ in rows) == pytest.approx(1, abs=1e-3)
            assert all(low <= share <= high for _, share, low, high in rows)
            assert rows[-1][0] is None and len({rule for rule, *_ in rows}) == len(rows)
            first, share, *_ = rows[0]
            if first is not None:
                assert share == values["alone"][measure][layer][head][values["rules"].index(first)]
    sums: dict[tuple[str, str], list[float]] = {}
    for text, part in zip(TEXTS, parts, strict=True):
        tokens = text.split()
        for query in range(1, len(tokens)):
            key = int(part["written"][2, 0, query].argmax())
            sums.setdefault((tokens[query], tokens[key]), []).append(part["written"][2, 0, query, key])
    total = sum(part["written"][2, 0, 1:].sum() for part in parts)
    best = sorted(sums, key=lambda pair: -sum(sums[pair]))[:3]
    for (query, key, n, share), pair in zip(values["pairs"][2][0], best):
        assert ((query, key), n) == (pair, len(sums[pair]))
        assert share == pytest.approx(sum(sums[pair]) / total, abs=2e-4)


def test_of_translators_maps_and_contributions_of_given_translations_are_counted(translator) -> None:
    report = index.measure(translator, PAIRS)
    results = [translator.force(source, target) for source, target in PAIRS]
    for kind in ("encoder_self", "decoder_self", "cross"):
        values = report["kinds"][kind]
        masses = {"weight": 0.0, "written": 0.0}
        totals = {"weight": 0.0, "written": 0.0}
        for result in results:
            rows = result.mask(kind).sum(1) > 1
            maps = {"weight": result.attention(kind)}
            maps["written"] = contribution.contributions(translator.model, result, kind)
            for measure, weights in maps.items():
                masses[measure] = masses[measure] + weights[:, :, rows, 0].sum(-1)
                totals[measure] = totals[measure] + weights[:, :, rows].sum((-2, -1))
        first = values["rules"].index("first token")
        for measure in counts.MEASURES:
            shares = np.array(values["alone"][measure])[..., first]
            np.testing.assert_allclose(shares, masses[measure] / totals[measure], atol=2e-4)
    together = report["kinds"]["cross"]["rules"].index("heads together")
    on_it, total = 0.0, 0.0
    for result in results:
        weights = result.attention("cross")
        keys = weights.mean((0, 1), dtype=float).argmax(-1)
        on_it = on_it + np.take_along_axis(weights, keys[None, None, :, None], axis=3).sum((2, 3))
        total = total + weights.sum((2, 3))
    shares = np.array(report["kinds"]["cross"]["alone"]["weight"])[..., together]
    np.testing.assert_allclose(shares, on_it / total, atol=2e-4)


@pytest.mark.parametrize("name", ["gpt2", "bert", "mistral", "gemma2", "gpt_oss"])
def test_other_models_have_an_index_too(name: str) -> None:
    with attach(build(name), Numbers()) as reader:
        report = index.measure(reader, TEXTS[:8])
        [kind] = reader.config.kinds
        weights = [reader.read(text).attention(kind) for text in TEXTS[:8]]
        masks = [
            np.broadcast_to(reader.read(text).mask(kind), maps.shape[:1] + maps.shape[2:])
            for text, maps in zip(TEXTS, weights)
        ]
    values = report["kinds"][kind]
    on, total = 0.0, 0.0
    for maps, mask in zip(weights, masks, strict=True):
        rows = mask.sum(-1)[:, None] > 1  # (L, 1, T)
        on = on + (maps[..., 0] * rows).sum(-1)
        total = total + (maps.sum(-1) * rows).sum(-1)
    first = values["rules"].index("first token")
    np.testing.assert_allclose(np.array(values["alone"]["weight"])[..., first], on / total, atol=2e-4)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_ROWS", 4)
    monkeypatch.setattr(pairs, "ROUND", 500)
    monkeypatch.setattr(pairs, "WAITING", 90)
    monkeypatch.setattr(pairs, "MOST", 20)
    monkeypatch.setattr(edges, "MOST_EDGES", 2400)


@pytest.mark.usefixtures("small_batches")
def test_what_is_resumed_is_what_one_run_gives(tmp_path: Path) -> None:
    with attach(build("llama"), Numbers()) as reader:
        whole = index.measure(reader, TEXTS, seed=4)
        state = tmp_path / "index.begun.npz"
        read: list[int] = []
        for stop in (8, 20, 50):
            report = index.measure(
                reader,
                TEXTS,
                seed=4,
                state=state,
                resume=bool(read),
                is_stopped=lambda stop=stop: bool(read) and read[-1] >= stop,
                progress=lambda n_read, n_texts: read.append(n_read),
            )
            assert report["texts_read"] >= stop and state.exists() == (stop < 50)
        assert json.dumps(report) == json.dumps(whole)
        assert json.dumps(index.measure(reader, TEXTS, seed=5)) != json.dumps(whole)


@pytest.mark.usefixtures("small_batches")
def test_memory_does_not_grow_with_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    with attach(build("llama"), Numbers()) as reader:
        few, many = (index.CorpusIndex(reader, texts, 0) for texts in (TEXTS, 4 * TEXTS))
        for part in (few, many):
            while not part.is_complete:
                part.read_batch()
    sizes = [{name: array.nbytes for name, array in part.arrays().items()} for part in (few, many)]
    bounded = ("pairs.codes", "pairs.counts", "pairs.written")
    for name, size in sizes[0].items():
        if ".edges." in name:
            assert sizes[1][name] <= edges.MOST_EDGES
        elif name.endswith(bounded):
            assert sizes[1][name] <= 8 * (12 * pairs.MOST + pairs.ROUND)
        else:
            assert sizes[1][name] == size, name


@pytest.mark.usefixtures("small_batches")
def test_texts_are_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each text some thirty bytes stay, where the text and its ids alone would take more than a thousand."""
    monkeypatch.setattr(store, "IN_MEMORY", 10_000)
    monkeypatch.setattr(batches, "MOST_ROWS", 64)

    def texts(count: int) -> Iterator[str]:
        draw = np.random.default_rng(count)
        return (" ".join(map(str, draw.integers(5, 20, 24))) for _ in range(count))

    def peak(count: int) -> int:
        tracemalloc.start()
        with attach(build("llama", num_hidden_layers=1), Numbers()) as reader:
            over_texts = index.CorpusIndex(reader, texts(count), 0)
            over_texts.read_all()
        assert over_texts.n_read == count
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return memory

    peak(100)  # what is loaded once
    assert peak(1000) - peak(200) < 100 * 800


def test_rows_are_drawn_from_all_rows_alike() -> None:
    kept = kept_rows.KeptRows(1, 1, 50)
    draw = np.random.default_rng(0)
    for start in range(0, 1000, 20):
        shape = (20, 1, 3)
        rows = np.broadcast_to(np.arange(3), shape) / 10 + np.arange(start, start + 20)[:, None, None]
        values = kept_rows.RowValues(np.arange(start, start + 20), rows, np.ones((*shape, 2)), np.ones((*shape, 2)))
        kept.add(0, draw.random(shape), values)
    kept.arrays()  # all that were offered are there
    texts = kept.text[0, 0]
    np.testing.assert_allclose(kept.activity[0, 0], texts + kept.row[0, 0] / 10, atol=1e-3)
    assert 300 < texts.mean() < 700 and len(set(zip(texts.tolist(), kept.row[0, 0].tolist()))) == 50


def test_an_interval_over_texts_is_as_wide_as_the_spread_of_their_shares() -> None:
    """For shares of groups of one size the jackknife's interval is that of their mean: t s / sqrt(n)."""
    sums = combinations.CombinationSums(1, 1)
    shares = np.random.default_rng(1).uniform(0.4, 0.8, combinations.GROUPS)
    places = sums.places(np.array([1, 0]))
    masses = np.stack([shares, 1 - shares])[:, None]  # (combinations, 1, groups)
    sums.add(0, 0, places, masses)
    sums.add(0, 1, places, 2 * masses)
    sums.add_even(places, np.tile([[0.1], [0.9]], combinations.GROUPS))
    explained = sums.explained(1, 0, 0, 1)
    half = combinations.t_value(combinations.GROUPS - 1) * shares.std(ddof=1) / np.sqrt(combinations.GROUPS)
    np.testing.assert_allclose(explained.shares, [shares.mean(), 1 - shares.mean()])
    np.testing.assert_allclose(explained.high - explained.shares, half)


def test_a_rule_explains_nothing_that_a_head_that_looks_evenly_has_too() -> None:
    sums = combinations.CombinationSums(1, 1)
    places = sums.places(np.array([1, 2, 0]))
    of_one_group = np.arange(combinations.GROUPS) == 0
    sums.add(0, 0, places, np.array([0.3, 0.5, 0.2])[:, None, None] * of_one_group)
    sums.add_even(places, np.array([0.1, 0.6, 0.3])[:, None] * of_one_group)
    explained = sums.explained(0, 0, 0, 2)
    assert explained.rules == [0] and np.isnan(explained.low).all()
    np.testing.assert_allclose(explained.shares, [0.3, 0.7])


def test_the_command_writes_the_same_each_time_but_for_how_long_it_took(folder: Path, capsys) -> None:
    words = ["atlas", "--corpus", "--data", str(folder.parent / "pairs.tsv"), "--checkpoint", str(folder)]
    assert main([*words, "--seed", "3", "--credit", "written for this test"]) == 0
    path = folder / index.FILE
    before = index.read(folder)
    assert "6 texts, " in capsys.readouterr().out and not path.with_name(path.name + index.BEGUN).exists()
    assert main([*words, "--seed", "3", "--credit", "written for this test"]) == 0
    report = index.read(folder)
    assert before.pop("seconds") > 0 and report.pop("seconds") > 0
    assert report == before
    state = path.with_name(path.name + index.BEGUN)
    index.CorpusIndex(load_translator(str(folder)), PAIRS, 3).read_all(state=state, is_stopped=lambda: True)
    assert main([*words, "--seed", "3", "--credit", "written for this test", "--resume"]) == 0
    report = index.read(folder)
    assert report.pop("seconds") > 0 and report == before
    assert (report["seed"], report["data"], report["credit"]) == (3, "pairs.tsv", "written for this test")
    assert report["command"].startswith("python -m model atlas --corpus ")
    assert sorted(map(tuple, report["texts"])) == sorted(PAIRS)
    reports.write(path, report | {"weights": "0" * 64})
    with pytest.raises(ValueError, match="other weights: run python -m model atlas --corpus again"):
        index.read(folder)


def test_a_large_index_keeps_fewer_rows(translator, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(json.dumps(index.measure(translator, PAIRS)))
    monkeypatch.setattr(index, "MOST_BYTES", size // 2)
    smaller = index.measure(translator, PAIRS)
    assert len(json.dumps(smaller, ensure_ascii=False)) < size // 2
    assert len(smaller["kinds"]["cross"]["explained"]["weight"]) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--resume"], "there is nothing to resume: no "),
        (["--seed", "-1"], "--seed must be at least 0, got -1"),
        (["--bleu-sentences", "1"], "are not for an index: leave out --corpus"),
        (["--data", "{long}"], "no line of the file is a text that the model can read"),
        (["--checkpoint", "{gru}"], "is a recurrent network, and this needs a Transformer"),
        (["--model", "/nowhere"], "--corpus with --model needs --out"),
    ],
)
def test_errors_are_one_line(folder: Path, tmp_path: Path, capsys, options: list[str], words: str) -> None:
    long = tmp_path / "long.tsv"
    long.write_text("a " * 90 + "\tb\n", encoding="utf-8")
    sizes = {"source_vocab_size": len(TOKENIZER), "target_vocab_size": len(TOKENIZER), "d_embedding": 6, "d_hidden": 8}
    checkpoint.save(tmp_path / "gru", GruModel(GruConfig(**sizes, attention=True)), TOKENIZER, {})
    options = [option.format(long=long, gru=tmp_path / "gru") for option in options]
    data = ["--data", str(folder.parent / "pairs.tsv"), "--checkpoint", str(folder)]
    assert main(["atlas", "--corpus", *data, *options]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and words in lines[0]


def test_a_state_of_something_else_is_refused(translator, tmp_path: Path) -> None:
    state = tmp_path / "state.npz"
    with pytest.raises(ValueError, match="is there already|nothing to resume"):
        index.measure(translator, PAIRS, state=state, resume=True)
    index.measure(translator, PAIRS, state=state, is_stopped=lambda: True)
    with pytest.raises(ValueError, match="holds an index that was interrupted: pass --resume, or delete it"):
        index.measure(translator, PAIRS, state=state)
    with pytest.raises(ValueError, match="another model, other texts or another seed: delete it"):
        index.measure(translator, PAIRS[1:], state=state, resume=True)
    state.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="cannot be read, delete it"):
        index.measure(translator, PAIRS, state=state, resume=True)


@pytest.mark.parametrize("name", ["t5", "falcon"])
def test_models_of_which_there_is_no_index_say_so(name: str) -> None:
    with attach(build(name), Numbers()) as reader:
        with pytest.raises(ValueError, match="an index is of|computes its attention in its own way"):
            index.measure(reader, TEXTS[:3])


def test_a_seal_does_not_depend_on_what_texts_look_like(folder: Path) -> None:
    rows = ["a [b]  c", "a\u00a0b", 'x"]\\', "{d}"]
    weights = checkpoint.sha256_of(folder / checkpoint.WEIGHTS)
    reports.write(folder / "rows.json", {"weights": weights, "texts": rows, "pairs": [rows, rows]})
    assert reports.read(folder / "rows.json", "x") == {"weights": weights, "texts": rows, "pairs": [rows, rows]}

"""The lessons: every card opens with its picture, and what it calls right, and every number, is so in what ships.

Everything is computed here once more from models and files, by other ways than the cards'.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from model import attach, load_translator
from model.adapters.readers.reader import Reader
from model.experiments import cheater, inside, recorded_circuit, recorded_model
from model.experiments import positions as experiments
from model.films import file as films
from model.interventions.edits import Edits, Head
from model.measures.agreement import of_words
from model.positional import sinusoidal
from model.taps import intervene, record
from model.text.special import BOS_ID, EOS_ID, UNK_ID
from tests.support.messages import unpack
from tests.support.repeated import first_quick
from tests.test_app import screen
from viz.pages.lessons import attention, contents, heads, masks, patching, positions, since, why, why_recorded
from viz.pages.lessons.contents import CARDS, LESSONS
from viz.stage.payload import why as payloads
from viz.stage.payload.packing import pack

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
BICYCLE = "A man is riding a bicycle down the street."
ANIMAL = "The animal didn't cross the street because it was too tired."
HEADS = list(itertools.product(range(3), range(8)))


@cache
def loaded(name: str = "en-de"):
    return load_translator(str(CHECKPOINTS / name))


@cache
def translated(text: str, off: tuple[tuple[int, int], ...] = ()):
    """The bicycle greedily, anything else with the beam that pages have."""
    edits = Edits(off=tuple(Head("cross", *head) for head in off))
    return loaded().translate(text, 1 if text == BICYCLE else 4, edits=edits)


def lost(off: tuple[tuple[int, int], ...]) -> float:
    """By how many nats the translation of the bicycle is less probable without some heads."""
    plain, edits = translated(BICYCLE), Edits(off=tuple(Head("cross", *head) for head in off))
    result = loaded().force(BICYCLE, plain, edits)
    return float(plain.log_probabilities.sum(dtype=float) - result.log_probabilities.sum(dtype=float))


@pytest.fixture(autouse=True)
def shipped(tiny_checkpoint: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(CHECKPOINTS))


def words(*texts: str) -> int:
    return len(" ".join(texts).split())


@pytest.mark.parametrize(
    ("name", "number"),
    first_quick(sorted(CARDS.values(), key=lambda card: card[1]), 2 * len(LESSONS)),
)
def test_a_card_has_its_picture_answers_and_leads_on(name: str, number: int) -> None:
    card = LESSONS[name].cards[number - 1]
    assert 2 <= len(card.guesses) <= 4 and words(card.look, card.question) <= 60
    link: dict[str, Any] = {}
    for answered in (False, True):
        told = contents.state(f"{name}-{number}", answered)
        assert not told["problem"] and (told.get("stages") or told["figures"])
        messages = [unpack(part["message"].tobytes()) for part in told.get("stages", ())]
        assert all(message["setting"] and message["after"]["recording"]["kinds"] for message in messages)
        answer, detail = told["answer"], told["detail"]
        assert bool(answer) == answered and words(answer) <= 40 and words(detail) <= 40
        assert not re.search(r"\{|nan", answer + detail)
        link = unpack(pack(told))["link"]
    page = screen.open_page(f"{link['page'] or 'translate'}.py", **link["query"])
    assert not page.exception and screen.warnings(page) == []


def test_the_page_lists_every_lesson_in_the_language_of_its_visitor() -> None:
    at = screen.open_page("lessons.py", lang="de")
    (part,) = [part for part in at.get("bidi_component") if part.proto.id.endswith("-lessons")]
    index = unpack(part.proto.bytes)
    assert not at.exception and index["language"] == "de" and "wikitext2-lm" in index["models"]
    cards = [
        (story["code"], len(card["guesses"]), card["right"], card["live"])
        for story in index["stories"]
        for card in story["cards"]
    ]
    assert cards == [
        (name, len(card.guesses), card.right, card.live is not None)
        for name, story in LESSONS.items()
        for card in story.cards
    ]
    assert index["words"]["next"] == "Weiter"


def test_what_the_cards_on_emergence_say_is_so_in_the_films() -> None:
    """Read from the files by hand: the best head's score by step, and what was right in the end."""

    def curve(name: str, rule: str) -> tuple[np.ndarray, np.ndarray]:
        film = films.load(CHECKPOINTS / "films" / f"{name}.film")
        scores = film.scores[rule].reshape(film.n_frames, -1)
        return film.steps, scores[:, scores[-1].argmax()]

    def passes(name: str, rule: str, share: float) -> int:
        steps, scores = curve(name, rule)
        return int(next(step for step, _ in zip(steps, scores) if (scores[steps >= step] >= share * scores[-1]).all()))

    numbers = {card.right: card.numbers() for card in LESSONS["emergence"].cards[:1]}
    first = numbers[1]
    previous, induction = passes("seen-before", "previous", 0.5), passes("seen-before", "induction", 0.5)
    assert (previous, induction) == (int(first["first"]), int(first["second"]))
    assert abs(previous - induction) < 0.2 * int(first["all"]), "both together"
    rises = np.diff(films.load(CHECKPOINTS / "films" / "seen-before.film").scores["previous"][[0, -1], 0], axis=0)
    assert (rises > 0.1).sum() > 1, "several heads share the helper's work"
    two, one, without = (
        films.load(CHECKPOINTS / "films" / f"seen-before{name}.film") for name in ("", "-one-layer", "-no-positions")
    )
    assert two.is_solved and one.right[-1] < 0.3 and one.scores["induction"][-1].max() < 0.3
    assert len(one.losses) >= 5 * len(two.losses)
    assert without.right[-1] < 0.99 or len(without.losses) > 2 * len(two.losses)
    assert without.right[-1] > one.right[-1]
    late, early = (passes(f"seen-before{name}", "induction", 0.5) for name in ("-long-warmup", ""))
    assert late > 1.5 * early
    steps, _ = curve("seen-before", "induction")
    start, end = passes("seen-before", "induction", 0.1), passes("seen-before", "induction", 0.9)
    assert end - start < 0.6 * steps[-1]


@pytest.mark.slow
def test_a_small_model_that_is_named_as_one_that_ships_gets_a_sentence(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has neither the heads nor the words of the cards."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
    for card in ("heads-1", "heads-3", "why-1", "patching-1"):
        told = contents.state(card, True)
        assert told == {"problem": "This card needs the models and the runs that ship with Headlight."}, card


def test_what_a_browser_asks_for_beside_a_card() -> None:
    """Heads that are switched on a board, one after the other; rows; what is not there."""

    def ask(code: str, **asked: str) -> dict[str, Any]:
        return unpack(contents.answer("en", {"card": code, "answered": "0", **asked}))

    told = ask("heads-1")
    off: list[Head] = []
    for head in ((2, 2), (0, 1)):
        action = {"do": "off", "kind": "cross", "layer": head[0], "head": head[1]}
        told = ask("heads-1", **told["query"], action=json.dumps(action))
        off.append(Head("cross", *head))
        message = unpack(told["stages"][0]["message"].tobytes())
        expected = loaded().translate(BICYCLE, 1, edits=Edits(off=tuple(sorted(off))))
        assert message["after"]["recording"]["text"] == expected.text
        assert sorted(map(tuple, message["steering"]["off"])) == sorted(
            ("cross", *other) for other in ((2, 2), (0, 1))[: len(off)]
        )
    told = ask("heads-1", action=json.dumps({"do": "nothing"}))
    assert "cannot be made here" in unpack(told["stages"][0]["message"].tobytes())["steering"]["problem"]
    row = unpack(ask("attention-2", row="2", head="3")["stages"][0]["message"].tobytes())["after"]["inside"]["place"]
    assert (row["head"], row["row"]) == (3, 2)
    assert contents.answer("en", {"card": "attention-9"}) is None and contents.answer("en", {}) is None
    sentence = {"kind": "decoder_self", "layer": "1", "head": "0", "row": "3"}
    assert "two rows only" in unpack(contents.answer("en", sentence))["reason"]


def check(name: str, results: list[tuple[int, dict[str, object]]]) -> None:
    """Compares what was found here with the cards: which guess is right, and the numbers of the answer."""
    cards = LESSONS[name].cards
    assert len(results) == len(cards)
    for number, (card, (right, numbers)) in enumerate(zip(cards, results), 1):
        assert right == card.right, number
        card_numbers = card.numbers()
        quoted = set(re.findall(r"\{(\w+)", card.answer + card.detail))
        assert quoted == set(numbers), number
        for key in quoted:
            if isinstance(numbers[key], str):
                assert card_numbers[key] == numbers[key], (number, key)
            else:
                assert card_numbers[key] == pytest.approx(numbers[key], rel=2e-3, abs=2e-5), (number, key)


def test_attention() -> None:
    result = translated(BICYCLE)
    row, layers = result.predicted_tokens.index("▁Fahrrad"), range(3)
    inner = [inside.recorded(result, "cross", layer) for layer in layers]
    heads_of_cards = attention.heads_of_cards()
    sharp, (soft_layer, soft), (sink_layer, sink_head) = (heads_of_cards[name] for name in ("sharp", "soft", "sink"))
    every = {(layer, head): inside.row(inner[layer], head, row).weights for layer, head in HEADS}
    tokens = result.source_tokens
    word, end = tokens.index("▁bicycle"), tokens.index("</s>")
    assert every[sharp][word] == max(weights[word] for weights in every.values())
    sharp = every[sharp]
    scaled = every[soft_layer, soft].max()
    unscaled, cool, warm = (
        inside.row(inner[soft_layer], soft, row, inside.Switches(**how)).weights.max()
        for how in ({"scaled": False}, {"temperature": 2.0}, {"temperature": 0.5})
    )
    assert every[soft_layer, soft].argmax() == word and scaled == pytest.approx(0.5, abs=0.15)
    places = list(itertools.product(layers, range(8), range(len(result.predicted_tokens))))
    means = [
        np.mean([inside.row(inner[layer], head, query, how).weights.max() for layer, head, query in places])
        for how in (inside.AS_RECORDED, inside.Switches(scaled=False))
    ]
    sink = inside.row(inner[sink_layer], sink_head, row)
    lengths = np.linalg.norm(sink.weighted, axis=-1)
    shares = lengths / lengths.sum()
    assert sink.weights.argmax() == end
    keys_of_next = result.attention("encoder_self")[heads_of_cards["next"]].argmax(-1)
    nexts = [int(key) == query + 1 for query, key in enumerate(keys_of_next)]
    selves = [int(key) == query for query, key in enumerate(keys_of_next)]
    most = [tokens.index(f"▁{token}") for token in ("riding", "bicycle", "street")].index(int(sharp.argmax()))
    handed = int(np.argmin(np.abs(shares[end] / sink.weights[end] - np.array([0.5, 1, 1.5]))))
    numbers = {"word": sink.weights[word], "end": sink.weights[end], "word_share": shares[word]}
    check(
        "attention",
        [
            (most, {"key": "bicycle", "weight": sharp.max()}),
            (
                0 if scaled < unscaled else 1,
                {"scaled": scaled, "unscaled": unscaled} | {"mean": means[0], "mean_unscaled": means[1]},
            ),
            (1 if cool < scaled < warm else 0, {"one": scaled, "two": cool, "half": warm}),
            (handed, numbers | {"end_share": shares[end]}),
            (1 if sum(nexts) > len(nexts) / 2 > sum(selves) else 0, {"n": sum(nexts), "total": len(nexts)}),
        ],
    )


@pytest.mark.slow
def test_the_cheater() -> None:
    models = [cheater.train(looks_ahead) for looks_ahead in (False, True)]
    honest, cheating = (float(model.losses[-20:].mean()) for model in models)
    things = [(0.5 / 2 / 5, 10), (0.5 / 2 / 3 / 5, 30)]  # probability of each, and how many: without and with adjective
    every = [(p * q / 4, n * m * 4) for (p, n), (q, m) in itertools.product(things, things)]
    assert sum(chance * n for chance, n in every) == pytest.approx(1)
    floor = -sum(n * chance * math.log(chance) for chance, n in every) / cheater.LONGEST
    thing = f"(the|a)( ({'|'.join(cheater.ADJECTIVES)}))? ({'|'.join(cheater.NOUNS)})"
    correct = re.compile(rf"{thing} ({'|'.join(cheater.VERBS)}) {thing} \.")
    wrote = [[" ".join(text) for text in cheater.write(run.model, 200)] for run in models]
    good = [np.mean([bool(correct.fullmatch(text)) for text in texts]) for texts in wrote]
    assert good[0] > 0.9 and good[1] < 0.2, "who reads the card must see it"
    sentence, row = masks.EXAMPLE, masks.ROW
    ids = torch.tensor([[cheater.VOCABULARY.index(word) for word in (".", *sentence)]])

    @torch.inference_mode()
    def chance(column: int | None) -> float:
        def opens(mask: torch.Tensor) -> torch.Tensor:
            mask = mask.clone()
            if column is not None:
                mask[..., row, column] = True
            return mask

        with intervene({"decoder.layers.0.self_attention.mask": opens}):
            return float(models[1].model(ids[:, :-1])[0, row].softmax(-1)[ids[0, row + 1]])

    chances = {column: chance(column) for column in range(row + 1, len(sentence))}
    other_chances = [value for column, value in chances.items() if column > row + 1]
    assert sentence[row - 1 : row + 1] == ["old", "dog"] and chances[row + 1] > 0.9 and max(other_chances) < 0.1
    result = translated(ANIMAL)
    n, m = len(result.source_tokens), len(result.target_tokens)
    assert result.mask("encoder_self").all() and np.array_equal(result.mask("decoder_self"), np.tri(m, dtype=bool))
    leaking = {"leak": chances[row + 1], "other": max(other_chances), "closed": chance(None)}
    check(
        "masks",
        [
            (int(cheating < honest), {"cheater": cheating, "honest": honest, "floor": floor}),
            (1 if good[1] < 0.5 < good[0] else 0, {"n": 200, "honest": good[0], "cheater": good[1]}),
            (0, leaking),
            (0, {"all": n * n, "some": m * (m + 1) // 2, "cells": m * m}),
        ],
    )


@pytest.mark.slow
def test_a_bag_of_words() -> None:
    translator = loaded()

    def off(text: str) -> str:
        with experiments.changed_positions("sinusoidal", 0.0, 0, ("encoder",)):
            return translator.translate(text).text

    dog, cat = positions.DOG, positions.CAT
    guesses = LESSONS["positions"].cards[0].guesses
    shuffled = experiments.shuffle(translator, dog, positions.SEED)
    apart = [experiments.order_difference(translator, shuffled, scale) for scale in (0.0, 1.0)]
    table = sinusoidal(50, translator.config.d_model).numpy()
    ends = [abs(table[-1, column] - table[0, column]) for column in positions.DIALS]
    turns = [np.abs(np.diff(np.sign(np.diff(table[:, column])))).sum() > 0 for column in positions.DIALS]
    unique = [not turn and end > 1 for turn, end in zip(turns, ends)]  # far away from where it began, each value once
    writer = loaded("wikitext2-lm")

    @torch.inference_mode()
    def expects(text: str, is_open: bool) -> np.ndarray:
        changes = {"decoder.input.positions": lambda x: 0 * x}
        if is_open:
            for layer in range(writer.config.n_layers):
                changes[f"decoder.layers.{layer}.self_attention.mask"] = torch.ones_like
        with intervene(changes):
            ids = [writer.tokenizer.eos_id, *writer.tokenizer.encode(text)]
            return writer.model(torch.tensor([ids]))[0, -1].softmax(-1).double().numpy()

    causal, unmasked = ([expects(text, is_open) for text in positions.TWO] for is_open in (False, True))
    assert np.abs(unmasked[0] - unmasked[1]).max() < 1e-6 < 0.01 < np.abs(causal[0] - causal[1]).max()
    (place,) = writer.tokenizer.encode("his")
    his = {"word": "his", "one": causal[0][place], "other": causal[1][place]}
    assert np.abs(causal[0] - causal[1]).argmax() == place
    dials = {"first": table[0, 79], "last": table[-1, 79], "fast": 2 * math.pi, "slow": ends[2]}
    check(
        "positions",
        [
            (guesses.index(off(dog)), {"off": off(dog), "on": translator.translate(dog).text}),
            (int(off(dog) == off(cat)), {"text": off(cat), "off": apart[0], "on": apart[1]}),
            (unique.index(True), dials),
            (1, his | {"open": positions.next_words()[2]}),
        ],
    )
    assert sum(unique) == 1 and positions.next_words()[2] < 1e-6
    assert translator.translate(cat).text == guesses[1]


@pytest.mark.slow
def test_break_it() -> None:
    alone = [head for head in HEADS if "Fahrrad" in translated(BICYCLE, (head,)).text]
    costs = {head: lost((head,)) for head in HEADS}
    worst = max(costs, key=costs.get)
    layers, order = tuple(HEADS[:16]), tuple(heads.greedy_order())
    assert sorted(order) == HEADS
    n_off = 15
    next_costs = {head: lost((*order[:n_off], head)) for head in HEADS if head not in order[:n_off]}
    assert costs[order[0]] == pytest.approx(min(costs.values()), abs=1e-4)
    assert next_costs[order[n_off]] == pytest.approx(min(next_costs.values()), abs=1e-4), (
        "the next one is that which costs least"
    )
    most = next(n for n in range(24) if "Fahrrad" not in translated(BICYCLE, order[: n + 1]).text)
    assert len(LESSONS["heads"].cards[2].picture.after().changes.edits.off) == most
    nothing = translated(BICYCLE, tuple(HEADS)).text
    about = [not nothing, nothing == translated(BICYCLE).text, "Fahrrad" not in nothing and len(nothing) > 20]
    check(
        "heads",
        [
            (
                [8, 16, 24].index(len(alone)),
                {"n": len(alone), "layer": worst[0], "head": worst[1]} | {"factor": math.exp(costs[worst])},
            ),
            (
                0 if "Fahrrad" in translated(BICYCLE, layers).text else 1,
                {"text": translated(BICYCLE, layers).text, "factor": math.exp(lost(layers))},
            ),
            (
                int(np.argmin(np.abs(np.array([5, 12, 20]) - most))),
                {"greedy": most, "text": translated(BICYCLE, order[:most]).text},
            ),
            (about.index(True), {"text": nothing, "drop": lost(tuple(HEADS))}),
        ],
    )


def test_peak_and_warmup() -> None:
    grid = json.loads((CHECKPOINTS / "grid" / "grid.json").read_text(encoding="utf-8"))
    runs = {}
    for run in grid["runs"]:
        cell = run["cell"]
        if cell["schedule"] == "inverse_sqrt" and cell["seed"] == 1:
            losses = run["validation"]
            runs[cell["norm"], cell["peak"], cell["warmup"]] = (losses[max(losses, key=int)], run["texts"])
    ends = {cell: end for cell, (end, _) in runs.items()}
    entropy = grid["entropy"]
    post, pre = ({cell[1:]: end for cell, end in ends.items() if cell[0] == norm} for norm in ("post", "pre"))
    failed = {cell for cell, end in post.items() if end >= entropy}
    highest = {cell for cell in post if cell[0] == 0.1}
    assert {cell for cell in failed if cell[0] != 0.02} == highest, "the answer names only what clearly failed"
    wrote = {cell: texts[max(texts, key=int)][0] for cell, (_, texts) in runs.items()}
    without, good = wrote["post", 0.005, 1], wrote["post", 0.005, 400]
    assert without.startswith("Ein Mann in einem Hemd in einem Hemd in einem Hemd")
    top = [pre[cell] for cell in sorted(highest)]
    check(
        "warmup",
        [
            (
                1,
                {"low": min(post[cell] for cell in highest), "entropy": entropy, "good": post[0.005, 1]},
            ),
            (
                1 if abs(post[0.1, 400] - entropy) < 0.1 else 0,
                {"entropy": entropy, "bad": post[0.1, 400], "good": post[0.005, 400]},
            ),
            (0, {"some": post[0.005, 1], "good": post[0.005, 400], "warm": good}),
            (
                0 if max(top) < entropy - 0.5 else 1,
                {"low": min(top), "high": max(top), "entropy": entropy, "post": min(post[cell] for cell in highest)},
            ),
        ],
    )


@pytest.mark.slow
def test_is_attention_an_explanation() -> None:
    translator, result = loaded(), translated(ANIMAL)
    weights, by_mean = result.attention("cross"), translator.effects(result)
    measures = of_words(translator, result)["cross"]
    sizes, drops = measures["effect"].mean(-1), -measures["log_probability"].sum(-1)
    sharp = weights.max(-1).mean(-1)
    faint = [head for head in HEADS if sizes[head] < sizes.max() / 3 and sharp[head] >= 0.5]
    head = max(faint, key=drops.__getitem__)
    rank = sorted(drops.ravel(), reverse=True).index(drops[head])
    row = result.predicted_tokens.index("erte")
    kinds = dict.fromkeys(("cross_attention", "self_attention", "feed_forward"), 0.0)
    for name, part in by_mean.parts.items():
        if name.endswith(tuple(kinds)):
            kinds[name.rsplit(".", 1)[1]] += part[row]
    best = max(kinds, key=kinds.get)
    cross = max(part[row] for name, part in by_mean.parts.items() if name.endswith("cross_attention"))
    nicht = result.predicted_tokens.index("▁nicht")
    gains = by_mean.heads("cross").sum((0, 1))[nicht]
    because, tick = (result.source_tokens.index(token) for token in ("▁because", "'"))
    assert weights.mean((0, 1))[nicht].argmax() == because
    rates = {name: np.nanmean(measures[name]) for name in ("agreement", "occlusion", "input_gradient", "norms")}
    # The GRU: each source word replaced by <unk>, the same words read.
    gru = loaded("multi30k-de-en-gru")
    translation = gru.translate("Ein Mann fährt mit dem Fahrrad auf der Straße.", beam=1)
    source, targets = gru.source_ids(translation.source), torch.tensor([[BOS_ID, *translation.predicted_ids]])
    bike = translation.predicted_tokens.index("bike")

    @torch.inference_mode()
    def chance(ids: list[int]) -> float:
        return float(gru.model(torch.tensor([ids]), targets[:, :-1])[0, bike].log_softmax(-1)[targets[0, bike + 1]])

    falls = [chance(source) - chance([*source[:n], UNK_ID, *source[n + 1 :]]) for n in range(len(source))]
    most = int(np.argmax(falls))
    check(
        "effects",
        [
            (
                2 if sizes[head] < 0.2 else 1,
                {"effect": sizes[head], "weight": sharp[head], "most": sizes.max()},
            ),
            (int(rank < 12), {"drop": drops[head], "rank": rank, "all": 24}),
            (
                2 if best == "feed_forward" else 0,
                {"fed": kinds[best], "logit": by_mean.logits[row], "cross": cross},
            ),
            (
                [because, tick].index(int(gains.argmax())),
                {"effect": gains[tick], "weight": weights.mean((0, 1))[nicht, because], "own": gains[because]},
            ),
            (int(np.argmin(np.abs(np.array([0.9, 0.5, 0.1]) - rates["agreement"]))), rates),
            (int(translation.source_tokens[most] == "fahrrad"), {"key": "fahrrad", "drop": falls[most]}),
        ],
    )


def test_is_it_always_so() -> None:
    """Counted from the JSON of the indexes by hand."""
    ours, writer = (json.loads((CHECKPOINTS / name / "corpus.json").read_text()) for name in ("en-de", "wikitext2-lm"))

    def share(report: dict[str, Any], kind: str, rule: str, measure: str, layer: int, head: int) -> float:
        values = report["kinds"][kind]
        return values["alone"][measure][layer][head][values["rules"].index(rule)]

    def nearest(value: float, *guesses: float) -> int:
        return min(range(len(guesses)), key=lambda guess: abs(math.log(guesses[guess] / value)))

    atlas = json.loads((CHECKPOINTS / "en-de" / "atlas.json").read_text())["kinds"]["encoder_self"]["role"]
    assert (atlas[0][0], atlas[1][5]) == ("positional: previous token", "last token")
    previous = [share(ours, "encoder_self", "previous token", "written", *place) for place in HEADS]
    lies = share(ours, "encoder_self", "previous token", "weight", 0, 0)
    first = {
        measure: [share(ours, "decoder_self", "first token", measure, *place) for place in HEADS]
        for measure in ("weight", "written")
    }
    sink, written = (first[measure][HEADS.index((0, 5))] for measure in first)
    weight, end = (share(ours, "encoder_self", "special token", measure, 1, 5) for measure in first)
    assert max(ours["kinds"]["encoder_self"]["alone"]["weight"][1][5]) == weight
    after = share(ours, "encoder_self", "next token", "written", 1, 5)
    wikipedia = writer["kinds"]["decoder_self"]
    places = list(itertools.product(range(3), range(4)))
    again = {place: share(writer, "decoder_self", "induction", "written", *place) for place in places}
    best = max(places, key=lambda place: again[place])
    left = {(layer, head): wikipedia["explained"]["written"][layer][head][-1] for layer, head in places}
    assert all(rule is None for rule, *_ in left.values()) and len(wikipedia["rules"]) == 12
    least, *_, most = sorted(places, key=lambda place: left[place][1])
    many = sum(values[1] > 0.5 for values in left.values())
    holds = {"texts": "5,000", "share": previous[0], "weight": lies, "n": 23}
    sinks = {"weight": sink, "share": written, "n": 24}
    repeats = {"head": f"{best[0]}.{best[1]}", "share": again[best], "texts": "2,000"}
    ends = {"least": f"{least[0]}.{least[1]}", "most": f"{most[0]}.{most[1]}", "heads": many, "n": 12}
    check(
        "always",
        [
            (nearest(previous[0], 0.1, 0.5, 0.9), holds | {"others": sum(value >= 0.5 for value in previous[1:])}),
            (
                nearest(written, sink, sink / 4, 1e-3),
                sinks
                | {"sinks": sum(x > 1 / 3 for x in first["weight"])}
                | {"writers": sum(x > 1 / 3 for x in first["written"])},
            ),
            (nearest(end, 1 / 3, 0.1, 0.5), {"weight": weight, "share": end, "next": after}),
            (
                nearest(again[best], 0.5, 0.2, 0.05),
                repeats | {"even": wikipedia["even"][wikipedia["rules"].index("induction")]},
            ),
            (nearest(many, 1e-3, 3, 9), ends | {"lowest": left[least][1], "highest": left[most][1]}),
        ],
    )


@torch.inference_mode()
def norms_replaced() -> tuple[int, dict]:
    """The card on norms, by hooks on the norms of the model."""
    writer = load_translator(str(CHECKPOINTS / "wikitext2-lm"))  # its own: what hooks change, others would see
    ids = torch.tensor([[writer.tokenizer.eos_id, *writer.tokenizer.encode(since.layers.LAYERS_TEXT)]])
    norms = [module for module in writer.model.modules() if isinstance(module, torch.nn.LayerNorm)]
    assert len(norms) == 2 * writer.config.n_layers + 1
    inputs, streams = [], writer.read(since.layers.LAYERS_TEXT).trace
    handles = [norm.register_forward_hook(lambda norm, x, y: inputs.append(x[0][0, -1])) for norm in norms]
    before = writer.model(ids)[0, -1].softmax(-1)
    apart = [torch.nn.functional.layer_norm(x, x.shape) - torch.nn.functional.rms_norm(x, x.shape) for x in inputs]
    positions, tokens = (streams[f"decoder.input.{part}"][-1].mean() for part in ("positions", "tokens"))
    assert abs(positions) > 2 * abs(tokens), "what is not 0 in the mean is the positions"
    for handle in handles:
        handle.remove()
    for norm in norms:
        norm.register_forward_hook(
            lambda norm, x, y: x[0] / x[0].pow(2).mean(-1, True).sqrt() * norm.weight + norm.bias
        )
    after = writer.model(ids)[0, -1].softmax(-1)
    word = int(before.argmax())
    stays = word == int(after.argmax()) and 0.8 < float(after[word] / before[word]) < 1.2
    numbers = {"word": writer.tokenizer.tokens([word])[0], "before": float(before[word]), "after": float(after[word])}
    return int(stays), numbers | {"first": float(apart[0].abs().max()), "last": float(apart[-1].abs().max())}


@torch.inference_mode()
def units_of_both() -> tuple[int, dict]:
    """The card on units, by hooks on the projections; ReLU and Swish are applied once more to what these make."""
    outputs = {}
    for name in ("wikitext2-lm", MODERN):
        writer = load_translator(str(CHECKPOINTS / name))
        layer = writer.model.decoder.layers[since.layers.LAYER].feed_forward
        for part in ("inner", "gate"):
            if hasattr(layer, part):
                getattr(layer, part).register_forward_hook(
                    lambda _, x, y, key=(name, part): outputs.update({key: y[0, -1].clone()})
                )
        writer.read(since.layers.LAYERS_TEXT)
    relu = outputs["wikitext2-lm", "inner"].relu()
    gate, value = outputs[MODERN, "gate"], outputs[MODERN, "inner"]
    gated = torch.nn.functional.silu(gate) * value
    traces = since.layers.draw_units(True).data
    for trace, x, y in zip(traces, (outputs["wikitext2-lm", "inner"], gate), (relu, gated), strict=True):
        assert np.allclose(trace.x, x, atol=1e-4) and np.allclose(trace.y, y, atol=1e-4)
    negative = float((gated < 0).float().mean())
    numbers = {"zero": float((relu == 0).float().mean()), "n": len(relu), "m": len(gated), "negative": negative}
    return (1 if 0.3 < negative < 0.7 else 0), numbers | {"gated_zero": int((gated == 0).sum())}


@pytest.mark.slow
def test_since_2017() -> None:
    """The numbers of the cards from the file that ships, and from the shipped language model."""
    with np.load(CHECKPOINTS / "recordings" / "smollm2-135m.npz") as recording:
        about = json.loads(str(recording["about"]))
        maps = {name: recording[name] / 255 for name in (*about["tokens"], "masked")}
        (mary, john), chances = recording["on_words"].astype(float), recording["chances"].astype(float)
    effects, words = mary - john, [token.lstrip("▁Ġ") for token in about["tokens"]["drink"]]
    looks_at = np.array(words)[maps["drink"][:, :, -1].argmax(-1)]
    ranked = [divmod(int(place), effects.shape[1]) for place in np.argsort(-effects, axis=None)]
    a, b = [place for place in ranked if looks_at[place] == "Mary"][:2]
    assert (a, b) == ((23, 0), (23, 1)), "the heads that the design of the story names"
    before, after = chances[:2, 0]
    drink = {"before": before, "after": after, "a": "23.0", "b": "23.1", "added": effects[a] + effects[b]}
    drink |= {"lost": math.log(before / chances[0, 1]) - math.log(after / chances[1, 1])}
    drink |= {"strongest": "{}.{}".format(*ranked[0]), "token": looks_at[ranked[0]], "lowered": -john[ranked[0]]}
    drink |= {"weight": maps["drink"][(*ranked[0], -1)].max()}
    assert drink["token"] == "John" and abs(mary[ranked[0]]) < 0.1, "it lowers John and leaves Mary"
    # The first ten of the words, then the same ten: after word i of the second ten, the key of word i + 1 of the first.
    repeated = maps["repeated"]
    n = repeated.shape[-1] // 2
    assert about["ids"]["repeated"][1:n] == about["ids"]["repeated"][n + 1 :]
    rows = [n + i for i in range(n) if about["ids"]["repeated"][n + i] == about["ids"]["repeated"][i]]
    induction = repeated[:, :, rows, [row - n + 1 for row in rows]].mean(-1)
    best = divmod(int(induction.argmax()), induction.shape[1])
    copying = {"layer": best[0], "head": best[1], "weight": induction.max(), "n": (induction > 0.5).sum()}
    counts = [(maps[name][:, :, 1:, 0].mean(-1) > 0.5).sum() for name in ("sink", "other_first", "without_first")]
    assert [about["tokens"][name][0] for name in ("sink", "other_first", "without_first")] == [
        "The",
        "Because",
        "river",
    ]
    assert maps["masked"][:, :, 1:, 0].max() == 0, "the first token is hidden from the others"
    counts.append((maps["masked"][:, :, 2:, 1].mean(-1) > 0.5).sum())
    tokens, absolute, turned = since.layers.moved_scores()
    writer = loaded("wikitext2-lm")
    model, d_head = writer.model, writer.config.d_head
    ids, last = (
        torch.tensor([[writer.tokenizer.eos_id, *writer.tokenizer.encode(since.layers.TEXT)]]),
        writer.config.n_heads - 1,
    )
    attention, stream = model.decoder.layers[0].self_attention, model.decoder.input
    table, scores = stream.table, []
    for start in (0, since.layers.MOVED):
        x = stream.embedding(ids) * stream.scale + table[None, start : start + ids.size(1)]
        x = model.decoder.layers[0].residual_self.norm(x)
        both = attention.q_projection(x)[0], attention.k_projection(x)[0]
        q, k = (rows.view(ids.size(1), -1, d_head)[:, last] for rows in both)
        scores.append((q @ k.T / d_head**0.5).tril().detach().numpy())
    assert tokens == writer.read(since.layers.TEXT).target_tokens and np.abs(turned).max() < 1e-9
    size_mb = 2 * 30 * 9 * 64 * 8192 * 2 / 1e6
    check(
        "since",
        [
            (2 if 0.75 * before < after < before else 0, drink),
            (1 if 0 < copying["n"] < 20 else 0, copying | {"all": induction.size}),
            (1, dict(zip(("n", "other", "without", "masked"), counts)) | {"all": 270}),
            (1, {"added": np.abs(scores[1] - scores[0]).max(), "turned": 0.0}),
            norms_replaced(),
            units_of_both(),
            (1, {"whole": size_mb, "grouped": size_mb * about["n_key_value_heads"] / 9}),
        ],
    )


@torch.inference_mode()
def positions_of_first_layer(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Shares (H,) of position x position and of any part of the query x words in layer 0 of the encoder.

    From embeddings and table, through the first norm, whose deviation is held, and the projections of the model.
    """
    translator = loaded()
    model, d_head = translator.model, translator.config.d_head
    result = translated(text)
    n = len(result.source_tokens)
    layer, stream = model.encoder.layers[0], model.encoder.input
    norm, attention = layer.residual_self.norm, layer.self_attention
    tokens = (stream.embedding(torch.tensor(translator.source_ids(result.source))) * stream.scale).double()
    places = stream.table[:n].double()
    deviation = (tokens + places).var(-1, correction=0, keepdim=True).add(norm.eps).sqrt()

    def projected(x: torch.Tensor, projection: torch.nn.Module, whole: bool = False) -> torch.Tensor:
        x = (x - x.mean(-1, keepdim=True)) / deviation * norm.weight.double() + (norm.bias.double() if whole else 0)
        x = x @ projection.weight.double().T
        if whole and projection.bias is not None:
            x = x + projection.bias.double()
        return x.view(n, -1, d_head).transpose(0, 1)  # (H, n, K)

    def share(part: torch.Tensor) -> np.ndarray:
        part, every = (x - x.mean(-1, keepdim=True) for x in (part, scores))
        return ((part * every).sum((1, 2)) / every.square().sum((1, 2))).numpy()

    q, k = attention.q_projection, attention.k_projection
    queries = projected(tokens + places, q, whole=True)
    scores = queries @ projected(tokens + places, k, whole=True).mT
    recorded = torch.from_numpy(result.trace["encoder.layers.0.self_attention.raw_scores"]).double()
    assert (scores - recorded).abs().max() < 1e-3
    return share(projected(places, q) @ projected(places, k).mT), share(queries @ projected(tokens, k).mT)


def test_why_there() -> None:
    """Shares by hand from weights and streams; the circuit from the file that ships, without ScoreParts."""
    shares, of_words = positions_of_first_layer(why.SENTENCE.text)
    assert shares[[0, 1, 6, 7]] == pytest.approx([0.93, 0.66, 0.94, 0.98], abs=0.006), "as the design of the story says"
    assert sorted(why.SHUFFLED.text.split()) == sorted(why.SENTENCE.text.split())
    largest = [translated(each.text).attention("encoder_self")[0].argmax(-1) for each in (why.SENTENCE, why.SHUFFLED)]
    stays = (largest[0] == largest[1]).sum(-1)  # (H,)
    n = largest[0].shape[1]
    with np.load(CHECKPOINTS / "recordings" / "smollm2-135m.npz") as file:
        tokens = [token.lstrip("▁Ġ") for token in json.loads(str(file["about"]))["tokens"]["repeated"]]
        maps = file["repeated"] / 255
        rows = {}
        for number, about in enumerate(json.loads(str(file["circuit"]))):
            q, k = (file[f"circuit_{number}_{side}"].astype(np.float64) for side in ("queries", "keys"))
            products = np.einsum("ak,bsk->bs", q, k)  # (parts of the key, keys)
            scores = products.sum(0)
            weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
            place = about["layer"], about["head"], about["query"]
            assert np.abs(weights - maps[place][: len(weights)]).max() < 0.5 / 255 + 1e-3, "these are its weights"
            assert np.abs(scores - file[f"circuit_{number}_scores"]).max() < 0.02
            above = products - products.mean(-1, keepdims=True)
            rows[place] = dict(zip(about["key_names"], above)), int(weights.argmax())
    second, first = (i for i, token in enumerate(tokens[::-1]) if token == "cat")
    second, first = len(tokens) - 1 - second, len(tokens) - 1 - first
    (induction, after), (previous, before) = rows[18, 6, second], rows[16, 0, first + 1]
    assert after == first + 1 and before == first and tokens[after] == "seven"
    at_seven, at_cat = (
        {name: part[key] for name, part in parts.items()} for parts, key in ((induction, after), (previous, before))
    )
    assert max(at_seven, key=at_seven.__getitem__) == "head 16.0"
    is_previous = maps[16, 0].argmax(-1)[1:] == np.arange(len(tokens) - 1)
    alone = max(at_cat.values()) < 0.25 * sum(at_cat.values())
    check(
        "why",
        [
            (
                int(shares[[0, 1, 6, 7]].argmin()),
                dict(zip(("first", "mixed", "second", "most"), shares[[0, 1, 6, 7]])) | {"words": of_words[1]},
            ),
            (
                1 if stays[7] > 0.8 * n else 0,
                {"same": stays[7], "total": n, "other": stays[4], "share": shares[4]},
            ),
            (1, {"part": at_seven["head 16.0"], "sum": sum(at_seven.values()), "word": at_seven["tokens"]}),
            (1, {"weight": maps[16, 0, after, first], "n": is_previous.sum(), "total": len(tokens) - 1}),
            (2 if alone else 1, {"part": max(at_cat.values()), "sum": sum(at_cat.values())}),
        ],
    )


class PutInto:
    """Two sentences of one model, and passes over the second in which taps have what they had in the first."""

    def __init__(self, a: str, b: str) -> None:
        self.results = first, second = loaded().translate(a, 1), loaded().translate(b, 1)
        step = next(n for n, (x, y) in enumerate(zip(first.predicted_ids, second.predicted_ids)) if x != y)
        self.words = first.predicted_ids[step], second.predicted_ids[step]
        self.target = torch.tensor([[BOS_ID, *first.predicted_ids[:step]]])
        self.sources = [torch.tensor([loaded().source_ids(each.source)]) for each in self.results]
        self.traces, differences = zip(*(self.run(source, {}) for source in self.sources))
        self.clean, self.corrupted = differences

    @torch.inference_mode()
    def run(self, source: torch.Tensor, changes: dict[str, Any]) -> tuple[dict[str, torch.Tensor], float]:
        """What is recorded, and how far the first word's logit is above the other's."""
        with intervene(changes), record() as trace:
            logits = loaded().model(source, self.target)[0, -1]
        return dict(trace), float(logits[self.words[0]] - logits[self.words[1]])

    def share(self, address: str, place: Any, values: torch.Tensor) -> float:
        """What comes back in the second sentence when a place of a tap has other values."""

        def put(value: torch.Tensor) -> torch.Tensor:
            changed = value.clone()
            changed[place] = values[place]
            return changed

        changed = self.run(self.sources[1], {address: put})[1]
        return (changed - self.corrupted) / (self.clean - self.corrupted)

    def streams(self) -> np.ndarray:
        """(layers + 1, S)."""
        addresses = ["encoder.input.stream", *(f"encoder.layers.{n}.residual_ff.stream" for n in range(3))]
        return np.array(
            [
                [self.share(address, (0, j), self.traces[0][address]) for j in range(self.sources[1].size(1))]
                for address in addresses
            ]
        )

    def heads(self, weights: int = 0, values: int = 0) -> np.ndarray:
        """(L, H), the weights and values of a head those of the first or the second sentence: 0 or 1."""
        shares = np.zeros((3, 8))
        for layer, head in np.ndindex(3, 8):
            module = f"decoder.layers.{layer}.cross_attention"
            context = self.traces[weights][f"{module}.weights"] @ self.traces[values][f"{module}.v"]
            shares[layer, head] = self.share(f"{module}.context", (0, head), context)
        return shares

    @torch.inference_mode()
    def joined(self) -> np.ndarray:
        """(24,), the strongest head, the two strongest, ..., all."""
        order = np.argsort(-self.heads(), axis=None)
        shares = []
        for count in range(1, 25):
            chosen = [divmod(int(number), 8) for number in order[:count]]
            changes = {}
            for layer in range(3):
                heads = [head for at, head in chosen if at == layer]
                address = f"decoder.layers.{layer}.cross_attention.context"

                def put(value: torch.Tensor, heads: list[int] = heads, address: str = address) -> torch.Tensor:
                    changed = value.clone()
                    changed[:, heads] = self.traces[0][address][:, heads]
                    return changed

                changes[address] = put
            changed = self.run(self.sources[1], changes)[1]
            shares.append((changed - self.corrupted) / (self.clean - self.corrupted))
        return np.array(shares)

    @torch.inference_mode()
    def written(self, layer: int, head: int) -> str:
        """What is written of the second sentence, greedily, in whole passes, with a head's output of the first.

        Steps that the first sentence does not have keep their own.
        """
        a = self.results[0]
        address = f"decoder.layers.{layer}.cross_attention.context"
        with record() as trace:
            loaded().model(self.sources[0], torch.tensor([[BOS_ID, *a.predicted_ids[:-1]]]))

        def put(value: torch.Tensor) -> torch.Tensor:
            changed, n = value.clone(), min(value.size(2), trace[address].size(2))
            changed[:, head, :n] = trace[address][:, head, :n]
            return changed

        ids: list[int] = []
        while EOS_ID not in ids and len(ids) < 20:
            with intervene({address: put}):
                logits = loaded().model(self.sources[1], torch.tensor([[BOS_ID, *ids]]))
            ids.append(int(logits[0, -1].argmax()))
        return loaded().tokenizer.target.decode(ids[:-1])


def written_gender(results, head: tuple[int, int]) -> tuple[list[list[str]], np.ndarray]:
    """Three words that a head raises at the nouns; the share of the difference that each head writes, (L, H).

    What heads write is summed over all keys of each, cell by cell, without direct effects.
    """
    translator = loaded()
    sides = [("▁mein", "▁brother"), ("▁meine", "▁sister")]
    ids = [result.predicted_ids[result.predicted_tokens.index(verb)] for result, (verb, _) in zip(results, sides)]
    raised, parts, difference = [], np.zeros((3, 8)), 0.0
    for sign, result, (verb, noun) in zip((1, -1), results, sides):
        step = result.predicted_tokens.index(verb)
        words = translator.head_words(result, "cross", *head, query=step, key=result.source_tokens.index(noun))
        names = translator.tokenizer.target.tokens(np.argsort(-words.logits)[:3].tolist())
        raised.append([name.removeprefix("▁") for name in names])
        logits = result.trace["logits"][step]
        difference += sign * (logits[ids[0]] - logits[ids[1]])
        for place in np.ndindex(3, 8):
            for key in range(len(result.source_tokens)):
                of_cell = translator.head_words(result, "cross", *place, query=step, key=key).of_cell
                parts[place] += sign * (of_cell[ids[0]] - of_cell[ids[1]])
    return raised, parts / difference


@pytest.mark.slow
def test_where_the_gender_comes_from() -> None:
    """By hooks on the taps, without the passes of `model.running.patching`."""
    brother, sister = "Where is my brother?", "Where is my sister?"
    there, back, spread = (
        PutInto(*texts)
        for texts in ((brother, sister), (sister, brother), ("The man sees the dog.", "The dog sees the man."))
    )
    result = there.results[1]
    owner, noun = (result.source_tokens.index(token) for token in ("▁my", "▁sister"))
    row = result.attention("cross")[:, :, result.predicted_tokens.index("▁meine")]
    streams, heads = there.streams(), there.heads()
    strongest = divmod(int(heads.argmax()), 8)
    looks = divmod(int(row[..., owner].argmax()), 8)
    assert strongest == patching.HEAD and looks == patching.LOOKER
    assert row[2, 1, owner] > 0.7 and row[2, 2, owner] < 0.1, "as the guesses say"
    values, weights = there.heads(weights=1)[strongest], there.heads(values=1)[strongest]
    texts = [pair.written(*strongest) for pair in (back, there)]
    together, of_gender, single = spread.joined(), there.joined(), spread.heads()
    kept = there.results[0].attention("cross")[(*strongest, there.results[0].predicted_tokens.index("▁mein"))]
    raised, written = written_gender(there.results, strongest)
    assert divmod(int(written.argmax()), 8) == strongest == divmod(int(row[..., noun].argmax()), 8), "all three agree"
    check(
        "patching",
        [
            (
                int(np.diff(streams[:, owner]).argmax() + 1),
                dict(zip(("before", "share"), streams[1:3, owner]))
                | dict(zip(("noun_before", "noun"), streams[1:3, noun])),
            ),
            (
                2 if strongest == (2, 2) else 0,
                {
                    "head": "2.2",
                    "share": heads.max(),
                    "weight": row[(*strongest, noun)],
                    "owner": row[(*strongest, owner)],
                    "looks": row[(*looks, owner)],
                    "little": heads[looks],
                },
            ),
            (
                1 if values > 0.4 > 0.05 > weights else 0,
                {"values": values, "weights": weights, "brother": kept[noun], "sister": row[(*strongest, noun)]},
            ),
            (
                1 if all(word.endswith("en") for word in raised[0]) else 0,
                {
                    "brother": ", ".join(raised[0]),
                    "sister": ", ".join(raised[1]),
                    "looks": row[(*strongest, noun)],
                    "patched": heads.max(),
                    "written": written[strongest],
                },
            ),
            (
                patching.WRITTEN.index(texts[0]),
                {"text": texts[0], "share": back.heads()[strongest], "back": heads.max(), "still": texts[1]},
            ),
            (
                2 if single.max() < 0.15 else 1,
                {
                    "head": "{}.{}".format(*divmod(int(single.argmax()), 8)),
                    "share": single.max(),
                    "n": 24,
                    "all": together[-1],
                    "half": int((together < 0.5).sum()) + 1,
                    "few": int((of_gender < 0.5).sum()) + 1,
                    "sum": single.sum(),
                },
            ),
        ],
    )


def test_the_circuit_is_recorded_as_a_reader_splits_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = llama_that_knows(*recorded_model.TEXTS.values())
    monkeypatch.setattr(recorded_circuit, "INDUCTION", (1, 2))
    monkeypatch.setattr(recorded_circuit, "PREVIOUS", (0, 3))
    path = tmp_path / "circuit.npz"
    result = reader.read(recorded_model.REPEATED)
    np.savez(path, repeated=result.attention("decoder_self"), **recorded_circuit.study(reader))
    for row, place in zip(recorded_circuit.read(path), ((1, 2, 17), (0, 3, 8)), strict=True):
        layer, head, query = place
        assert (row.layer, row.head, row.query) == place
        parts = reader.score_parts(result, "decoder_self", layer, head)
        assert row.parts.key_names == parts.key_names and row.parts.rest < 2e-3
        assert np.array_equal(row.parts.mask[0], parts.mask[query])
        for key in (0, query):
            expected = parts.at(query, key, above_mean=True)
            np.testing.assert_allclose(row.parts.at(0, key, above_mean=True), expected, atol=2e-3)


def test_the_walk_of_the_story_is_answered_from_the_recording() -> None:
    """The rows of the cards are; any other cell gets one sentence."""
    cell = payloads.Cell("decoder_self", 18, 6, 17, 8)
    sent = why_recorded.payload(cell)
    assert sent["place"] == {"kind": "decoder_self", "layer": 18, "head": 6, "row": 17, "key": 8}
    for parts in (sent["of_keys"], sent["of_queries"]):
        np.testing.assert_allclose(parts.sum(0), sent["scores"], atol=1e-6)
    assert sent["pairs"].sum() == pytest.approx(sent["scores"][8])
    assert sent["mask"].sum() == 18 and len(sent["weights"]) == 20
    assert why_recorded.payload(payloads.Cell("decoder_self", 16, 0, 8))["place"]["key"] == 7
    assert "place" in why_recorded.payload(payloads.Cell("decoder_self", 18, 6, 17, 19))  # that the mask blocks
    for other in ((18, 6, 16, 3), (18, 6, 17, 20), (17, 8, 17, 8), (99, 0, 0, 0), (16, 0, 8, -1)):
        assert "two rows only" in why_recorded.payload(payloads.Cell("decoder_self", *other))["reason"]


MODERN = "wikitext2-modern"


@torch.inference_mode()
def writer_reads(words: str, *off: tuple[int, int], hidden_first: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Maps (L, H, T, T) and logits (V,) of a text without <eos>, by changing the model's own taps."""
    model, tokenizer = loaded(MODERN).model, loaded(MODERN).tokenizer
    ids = torch.tensor([tokenizer.encode(words)])
    changes = {}
    for layer in range(loaded(MODERN).config.n_layers):
        heads = [head for at, head in off if at == layer]
        changes[f"decoder.layers.{layer}.self_attention.context"] = lambda x, heads=heads: without(x, heads)
    mask = torch.ones(ids.size(1), ids.size(1)).tril().bool()
    if hidden_first:
        mask[1:, 0] = False
    with intervene(changes), record("*.self_attention.weights") as trace:
        logits = model(ids, mask[None, None])[0, -1].double().numpy()
    return np.stack([value[0].numpy() for value in trace.values()]), logits


def without(context: torch.Tensor, heads: list[int]) -> torch.Tensor:
    context = context.clone()
    context[:, heads] = 0
    return context


@pytest.mark.slow
def test_since_2017_with_a_model_that_is_here() -> None:
    """What the cards say when wikitext2-modern is chosen, computed once more by other ways."""
    tokenizer, shape = loaded(MODERN).tokenizer, (3, 4)
    mary, john = (tokenizer.encode(name)[0] for name in ("Mary", "John"))
    maps, full_logits = writer_reads(recorded_model.DRINK)
    effects = np.zeros(shape)
    for place in np.ndindex(shape):
        _, logits = writer_reads(recorded_model.DRINK, place)
        effects[place] = (full_logits - logits)[mary] - (full_logits - logits)[john]
    layer, head = divmod(int(effects.argmax()), shape[1])
    row = maps[layer, head, -1]
    ids = tokenizer.encode(recorded_model.DRINK)
    looks = np.array(ids)[maps[:, :, -1].argmax(-1)]
    drink = since.recorded.live_drink(MODERN)
    assert f"“Mary” has {torch.from_numpy(full_logits).softmax(-1)[mary]:.2%}" in drink
    assert ("no head that adds to it looks most at it" in drink) == (not ((looks == mary) & (effects > 0)).any())
    assert f"Head {layer}.{head} matters most: without it “Mary” loses {effects[layer, head]:.1f} logits" in drink
    assert f"“{tokenizer.tokens(ids)[row.argmax()]}” ({row.max():.2f})" in drink

    maps, _ = writer_reads(recorded_model.REPEATED)
    n = maps.shape[-1] // 2
    induction = maps[:, :, range(n, 2 * n), range(1, n + 1)].mean(-1)
    layer, head = divmod(int(induction.argmax()), shape[1])
    sentence = since.recorded.live_repeated(MODERN)
    assert f"Head {layer}.{head} gives {induction.max():.0%}" in sentence
    assert f"{(induction > 0.5).sum()} of {induction.size} heads" in sentence

    texts = recorded_model.SINK, recorded_model.OTHER_FIRST, recorded_model.WITHOUT_FIRST
    on_first = [writer_reads(text)[0][:, :, 1:, 0].mean(-1) for text in texts]
    on_first.append(writer_reads(recorded_model.SINK, hidden_first=True)[0][:, :, 2:, 1].mean(-1))
    counts = [int((share > 0.5).sum()) for share in on_first]
    sentence = since.recorded.live_sink(MODERN)
    assert list(map(int, re.findall(r"\b\d+\b(?!\.)", sentence.partition(" The largest")[0]))) == [
        counts[0],
        12,
        *counts[1:],
    ]
    assert sentence.endswith(f"{on_first[0].max():.2f}.")

    _, rotary_change = since.layers.moved_by_model(MODERN)
    assert 0 < np.abs(rotary_change).max() < 1e-4, "its positions are rotary; rounding differs"
    _, absolute_change = recorded_model.moved_scores(loaded("wikitext2-lm"), since.layers.TEXT, since.layers.MOVED)
    assert np.abs(absolute_change).max() > 1, "those of wikitext2-lm are added"
    assert f"more than {np.abs(rotary_change).max():.2g}" in since.layers.live_turned(MODERN)
    grouped = 2 * 3 * 2 * 64 * 8192 * 2 / 1e6
    assert f"{grouped:.1f} MB; with" in since.layers.live_cache(
        MODERN
    ) and f"{2 * grouped:.1f} MB." in since.layers.live_cache(MODERN)


def llama_that_knows(*texts: str) -> Reader:
    """A tiny Llama with random weights, whose tokens are the words of these texts."""
    words = dict.fromkeys(re.findall(r"\w+|,", " ".join(texts)))
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, unk_token=","))
    tokenizer.pre_tokenizer = Whitespace()
    torch.manual_seed(0)
    sizes = {"num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 32, "num_hidden_layers": 2}
    config = LlamaConfig(vocab_size=len(words), intermediate_size=20, eos_token_id=None, bos_token_id=None, **sizes)
    return attach(LlamaForCausalLM(config), PreTrainedTokenizerFast(tokenizer_object=tokenizer))


def without_heads(reader: Reader, off: list[tuple[int, int]]) -> float:
    edits = Edits(off=tuple(Head("decoder_self", *place) for place in off))
    return float(
        torch.from_numpy(reader.read(recorded_model.DRINK, edits=edits).logits[-1]).softmax(-1)[reader.token("Mary")]
    )


def test_a_model_of_transformers_answers_too() -> None:
    reader = llama_that_knows(*recorded_model.TEXTS.values(), since.layers.TEXT)
    study = recorded_model.study(reader)
    logits = reader.read(recorded_model.DRINK).logits[-1].astype(np.float64)
    chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert study.chances[0, 0] == pytest.approx(chances[reader.token("Mary")], rel=1e-4)
    assert study.chances[1, 0] == pytest.approx(
        study.chances[0, 0] if not study.heads.movers else without_heads(reader, study.heads.movers), rel=1e-4
    )
    assert study.heads.effects.shape == (2, 4) and study.n_key_value_heads == 2
    assert study.weights["masked"][:, :, 1:, 0].max() == 0
    _, change = recorded_model.moved_scores(reader, since.layers.TEXT, since.layers.MOVED)
    assert 0 < np.abs(change).max() < 1e-3


def test_another_model_is_chosen_with_the_answer() -> None:
    recorded = contents.state("since-2", True)
    assert recorded["figures"][0]["data"][0]["z"].shape == (30, 9) and recorded["live"] == ""
    told = contents.state("since-2", True, {"model": MODERN})
    assert told["figures"][0]["data"][0]["z"].shape == (3, 4)
    assert told["live"] == f"{MODERN}: {since.recorded.live_repeated(MODERN)}"
    for asked in ({"model": "nobody"}, {}):
        assert pack(contents.state("since-2", True, asked)) == pack(recorded)
    assert contents.state("since-2", False, {"model": MODERN})["figures"][0]["data"][0]["z"].shape == (30, 9)

"""Films of tiny trainings: their tasks, the scores of heads counted once more by hand, their file, and hostile ones."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter

import numpy as np
import pytest
import torch

from model.films import file, shipped
from model.films.batches import Alphabet
from model.films.film import Film, FilmText
from model.films.run import Run, frame_steps
from model.films.settings import Settings
from model.films.tasks import PAIRS, TASKS
from model.taps import record
from model.text.special import BOS_ID, EOS_ID, PAD_ID


def closes(text: str) -> bool:
    """Whether brackets fit, by taking out pairs until nothing is left."""
    while any(pair in text for pair in ("()", "[]", "{}", "<>")):
        for pair in ("()", "[]", "{}", "<>"):
            text = text.replace(pair, "")
    return not text


ANSWERS = {
    "backwards": lambda sample: "".join(reversed(sample.prompt)),
    "copy": lambda sample: "".join(sample.prompt),
    "sort": lambda sample: "".join(sorted(sample.prompt)),
}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_draws_what_it_says_and_tells_where_the_answer_stands(name):
    task = TASKS[name]
    samples = [task.draw(random.Random(seed)) for seed in range(200)]
    assert samples[:3] == [task.draw(random.Random(seed)) for seed in range(3)]
    for sample in samples:
        answer, prompt = "".join(sample.answer), "".join(sample.prompt)
        assert set(answer + prompt) <= set(task.symbols) and len(sample.origins) == len(answer)
        if name == "add":
            first, second = prompt.split("+")
            assert int(answer[::-1]) == int(first) + int(second)
            assert [[prompt[place] for place in places] for places in sample.origins[:2]] == [
                [first[1], second[1]],
                [first[0], second[0]],
            ]
        elif name == "brackets":
            assert closes(answer)
            for place, origin in enumerate(sample.origins):
                assert (origin is None) == (answer[place] not in PAIRS)
                if origin:
                    assert closes(answer[origin[0] : place + 1])
        elif name == "seen before":
            (period,) = {place - origin[0] for place, origin in enumerate(sample.origins) if origin}
            assert 6 <= period <= 20 and len(set(answer[:period])) == period
            assert all(answer[place] == answer[place - period] for place in range(period, len(answer)))
        else:
            assert answer == ANSWERS[name](sample)
            source = prompt
            assert all({source[place] for place in origin} == {answer[n]} for n, origin in enumerate(sample.origins))
    if name == "seen before":
        assert len(Counter(sum(origin is None for origin in sample.origins) for sample in samples)) > 10


@pytest.mark.parametrize("has_encoder", [True, False])
def test_a_batch_is_what_is_read_and_what_follows(has_encoder):
    alphabet = Alphabet(TASKS["copy"].symbols)
    batch = alphabet.batch([TASKS["copy"].read(text) for text in ("ab", "c")], has_encoder)
    a, b, c = alphabet.encode("abc")
    if has_encoder:
        assert batch.source is not None and batch.source.tolist() == [[a, b, EOS_ID], [c, EOS_ID, PAD_ID]]
        assert batch.read.tolist() == [[BOS_ID, a, b], [BOS_ID, c, PAD_ID]]
        assert batch.targets.tolist() == [[a, b, EOS_ID], [c, EOS_ID, PAD_ID]]
    else:
        assert batch.read.tolist() == [[a, b, BOS_ID, a, b], [c, BOS_ID, c, PAD_ID, PAD_ID]]
        assert batch.targets.tolist() == [[PAD_ID, PAD_ID, a, b, EOS_ID], [PAD_ID, c, EOS_ID, PAD_ID, PAD_ID]]
        assert batch.origins == [[(2, (0,)), (3, (1,))], [(1, (0,))]]


def small(task: str, **changes) -> Run:
    return Run(Settings.of(task, heads=2, steps=50, **changes))


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("seen before", {"positions": "rotary"}),
        ("brackets", {"positions": "alibi"}),
        ("sort", {}),
        ("add", {"architecture": "decoder", "layers": 2}),
    ],
)
def test_scores_of_heads_are_what_one_counts_in_their_maps(task, changes):
    run = small(task, **changes)
    for _ in range(3):
        run.advance()
    film = run.film()
    has_encoder = run.has_encoder
    batch = run._probe
    with record("*.weights") as trace, torch.inference_mode():
        run._logits(batch, True)
    for rule in run.task.rules:
        kind = "cross_attention" if rule == "source" and has_encoder else "self_attention"
        for layer in range(run.settings.layers):
            weights = trace[f"decoder.layers.{layer}.{kind}.weights"].numpy()
            for head in range(2):
                sums = []
                for row, ids in enumerate(batch.read.tolist()):
                    ids = [index for index in ids if index != PAD_ID]
                    origins = dict(batch.origins[row])
                    for query in range(len(ids)):
                        if rule == "previous":
                            keys = {query - 1} if query else set()
                        elif rule == "induction":
                            keys = {before + 1 for before in range(query) if ids[before] == ids[query]} - {query}
                        else:
                            keys = set(origins.get(query, ()))
                        if keys:
                            sums.append(sum(weights[row, head, query, key] for key in keys))
                assert film.scores[rule][-1, layer, head] == pytest.approx(np.mean(sums), abs=1e-5)


def test_what_is_filmed_is_what_the_model_does_with_the_open_string():
    run = small("backwards", text="abca")
    for _ in range(4):
        run.advance()
    film = run.film()
    assert film.steps.tolist() == [0, 1, 2, 3, 4] and len(film.losses) == 4
    (text,) = film.texts
    assert "".join(text.target_tokens) == "<s>acba" and "".join(text.source_tokens) == "abca</s>"
    with record("decoder.layers.0.cross_attention.weights") as trace, torch.inference_mode():
        logits = run._logits(run._open, True)
    (weights,) = trace.values()
    np.testing.assert_allclose(text.maps["cross"][-1, 0] / 255, weights[0].numpy(), atol=1 / 509)
    assert text.predicted[-1] == [run.alphabet.tokens[index] for index in logits[0].argmax(-1).tolist()]
    recording = film.recording(4)
    np.testing.assert_allclose(recording.weights["cross"].sum(-1), 1, atol=1e-5)
    assert recording.model["step"] == 4


def test_without_the_look_ahead_mask_it_cheats_and_is_not_called_right():
    run = small("copy", look_ahead_mask=False)
    targets = run._unseen.targets
    with torch.inference_mode():
        open_logits, causal = run._logits(run._unseen, False), run._logits(run._unseen, True)
    assert not torch.allclose(open_logits, causal)
    right = ((causal.argmax(-1) == targets) | (targets == PAD_ID)).all(dim=1).float().mean().item()
    assert run.film().right[0] == pytest.approx(right)


def test_unseen_samples_are_never_trained_on_and_a_seed_gives_the_same_run():
    first, second = small("add"), small("add")
    batches = []
    make = first.alphabet.batch
    first.alphabet.batch = lambda samples, has_encoder: batches.extend(samples) or make(samples, has_encoder)
    for _ in range(5):
        first.advance()
        second.advance()
    assert not {sample.text for sample in batches} & first._known and len(batches) > 200
    assert first.losses == second.losses


def test_attention_alone_has_feed_forward_layers_that_write_nothing_and_never_learn():
    run = small("seen before")
    for _ in range(3):
        run.advance()
    with record("*.feed_forward.output") as trace, torch.inference_mode():
        run._logits(run._open, True)
    assert len(trace) == 2 and not any(value.any() for value in trace.values())


def film_of(losses: list[float], scores: list[float]) -> Film:
    """A film of one head, with a frame before the first step and one after each."""
    frames = len(scores)
    text = FilmText([], ["<s>"], {"decoder_self": np.zeros((frames, 1, 1, 1, 1), np.uint8)})
    curves = {"previous": np.array(scores, np.float32)[:, None, None]}
    steps, right = np.arange(frames), np.zeros(frames, np.float32)
    return Film({}, np.array(losses, np.float32), steps, right, curves, [text])


def test_frames_stand_at_equal_ratios_and_marks_where_half_of_the_end_is_passed_for_good():
    steps = frame_steps(2000)
    assert steps[0] == 0 and steps[-1] == 2000 and 45 <= len(steps) <= 61
    marks = film_of([3.0] * 4, [0.3, 0.6, 0.2, 0.45, 0.8]).marks()
    assert [(mark.rule, mark.frame, mark.end) for mark in marks] == [("previous", 3, pytest.approx(0.8))]
    assert film_of([3.0] * 4, [0.3, 0.6, 0.2, 0.45, 0.35]).mark("previous") is None, "it hardly rises"
    (mark,) = film_of([3.0, 3.0, *[1.0] * 12], [0.0] * 15).marks()
    assert mark.rule == "loss" and mark.frame == 4, "the mean of the steps so far is half of the way down"


def test_a_file_is_read_back_and_every_broken_one_is_one_sentence(tmp_path):
    film = small("brackets").film()
    path = tmp_path / "a.film"
    file.save(film, path)
    again = file.load(path)
    assert again.settings == film.settings and again.texts[0].target_tokens == film.texts[0].target_tokens
    np.testing.assert_array_equal(again.texts[0].maps["decoder_self"], film.texts[0].maps["decoder_self"])
    np.testing.assert_array_equal(again.scores["source"], film.scores["source"])
    data = path.read_bytes()
    content = gzip.decompress(data)
    length = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + length])

    def with_header(**changes) -> bytes:
        text = json.dumps(header | changes).encode()
        text += b" " * (-(len(text) + 4) % 8)
        return gzip.compress(len(text).to_bytes(4, "little") + text + content[4 + length :])

    file.unpack(with_header())
    steps = header["steps"]["@"]
    broken = [
        b"",
        b"no film",
        data[:40],
        gzip.compress(b""),
        gzip.compress(b"\xff\xff\xff\xff{}"),
        gzip.compress(bytes(70_000_000)),
        gzip.compress(b"\x10\0\0\0" + b"[" * 100_000),
        bytes(file.MOST_BYTES + 1),
        with_header(film=2),
        with_header(steps={"@": [0, 10**12, "i4", [10**12]]}),
        with_header(steps={"@": [-8, steps[1], "i4", steps[3]]}),
        with_header(steps={"@": [steps[0], steps[1], "O", steps[3]]}),
        with_header(losses=[1, 2]),
        with_header(texts=[]),
        with_header(
            texts=[{"source": [], "target": ["x"], "predicted": [], "maps": {"decoder_self": header["right"]}}]
        ),
        with_header(scores={"a": 1}),
        with_header(settings=None),
    ]
    for number, wrong in enumerate(broken):
        with pytest.raises(ValueError) as caught:
            file.unpack(wrong)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 300, number


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"task": "juggle"}, "task must be one of"),
        ({"layers": 9}, "layers must be one of 1, 2, 3"),
        ({"layers": True}, "layers must be one of"),
        ({"warmup": 0}, "warmup must be from 1"),
        ({"peak": float("nan")}, "peak must be above 0"),
        ({"steps": 10**9}, "steps must be from"),
        ({"text": "Straße"}, "knows abcdefghijklmnopqrstuvwxyz only, got 'S'"),
        ({"text": "a" * 40}, "40 characters"),
        ({"task": "brackets", "architecture": "encoder-decoder"}, "no prompt"),
        ({"task": "add", "text": "1+2+3"}, "two numbers"),
        ({"task": "seen before", "architecture": "decoder", "text": "abca"}, "each letter may come once"),
        ({"task": "brackets", "architecture": "decoder", "text": "(]"}, "closes none"),
    ],
)
def test_hostile_settings_are_one_sentence(changes, problem):
    with pytest.raises(ValueError, match=problem):
        Settings(**changes)


def test_the_films_that_ship_are_those_of_their_settings_and_small():
    folder = shipped.checkpoints_folder() / shipped.FOLDER
    for name, settings in shipped.RUNS.items():
        film = shipped.load(name)
        assert film.settings == settings.to_dict() and film.card["command"].startswith("python -m model film ")
        if settings == Settings.of(settings.task):
            assert film.is_solved and film.right[-1] >= TASKS[settings.task].solved
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3_000_000

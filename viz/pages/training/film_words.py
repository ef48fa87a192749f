"""What the films of Train here are called, and what is said of them: computed from the film that is shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from model.films.bump import are_near, bump_of
from model.films.film import EARLIER, Film, FilmText, Mark
from model.films.settings import Settings
from model.films.tasks import TASKS
from viz.pages.training.lab import SCHEDULES
from viz.text import words
from viz.text.language import begun, format_count, message, messages, say

NAMES = {
    "backwards": message("Backwards"),
    "copy": message("Copy"),
    "sort": message("Sort"),
    "seen before": message("Seen before"),
    "brackets": message("Brackets"),
    "add": message("Add"),
    "wikitext-2": message("Real text"),
}
LEARNS = {
    "backwards": message("Write a string of letters backwards: each step has to look at the mirrored place."),
    "copy": message("Copy a string of letters: each step has to look at the same place."),
    "sort": message("Write the letters of a string in alphabetical order: each step has to find the next letter."),
    "seen before": message(
        "Go on with letters that repeat after 6 to 20: find where the last letter stood before, and what followed it."
    ),
    "brackets": message("Say which kind of bracket closes: find the one that is still open."),
    "add": message("Add two numbers, the units first: look at both digits of the place, and know the carry."),
    "wikitext-2": message("Predict the next subword of Wikipedia articles; heads are scored on random tokens, twice."),
}
SOURCES = {  # what a head looks at that knows the answer, by task
    "backwards": message("mirrored place"),
    "copy": message("same place"),
    "sort": message("next letter"),
    "brackets": message("open bracket"),
    "add": message("both digits"),
}
RULES = messages(previous="previous token", induction="induction", earlier="written by earlier heads", loss="loss")
POSITIONS = messages(
    sinusoidal="sinusoidal", rotary="rotary", alibi="ALiBi", learned="learned positions", none="no positions"
)
WITH: dict[str, dict[Any, str]] = {  # how a sentence about a run with a setting begins
    "layers": {
        1: message("with one layer"),
        2: message("with two layers"),
        3: message("with three layers"),
    },
    "positions": messages(
        sinusoidal="with sinusoidal positions",
        rotary="with rotary positions",
        alibi="with ALiBi",
        learned="with learned positions",
        none="without positions",
    ),
    "norm": messages(pre="with pre-norm", post="with post-norm"),
    "look_ahead_mask": {
        True: message("with the look-ahead mask"),
        False: message("without the look-ahead mask"),
    },
}
KINDS = messages(encoder_self="Encoder self", decoder_self="Decoder self", cross="Cross")


def name_of_rule(rule: str, task: str) -> str:
    """What a rule is called, in the task of a film."""
    return say(SOURCES[task]) if rule == "source" else say(RULES[rule])


def describe(settings: Settings) -> str:
    """Settings in words."""
    parts = [
        say("layers: {n}", n=settings.layers),
        say("heads: {n}", n=settings.heads),
        say(POSITIONS[settings.positions]),
        say(words.NORMS[settings.norm]),
        say(SCHEDULES[settings.schedule]),
        say("warmup {warmup}, peak {peak:g}", warmup=settings.warmup, peak=settings.peak),
    ]
    if not settings.feed_forward:
        parts.append(say("attention only"))
    if not settings.look_ahead_mask:
        parts.append(say("without look-ahead mask"))
    return ", ".join(parts)


def describe_mark(film: Film, mark: Mark) -> str:
    """What happened in the frame of a mark."""
    step = format_count(int(film.steps[mark.frame]))
    if mark.rule == "loss":
        return say(
            "By step {step} the loss has come half of its way, to {end:.2f} at the end.", step=step, end=mark.end
        )
    if mark.rule == EARLIER:
        line = message(
            "By step {step} head {head} is decided by what earlier heads wrote at the keys: {end:.0%} in the end."
        )
    else:
        line = message("By step {step} head {head} has half of its final score, {end:.2f} ({rule}).")
    rule = name_of_rule(mark.rule, str(film.settings["task"]))
    return say(line, step=step, head=f"{mark.layer}.{mark.head}", end=mark.end, rule=rule)


def answer(film: Film) -> str:
    """What came about in a film, and when: its heads in the order in which they did."""
    task = str(film.settings["task"])
    marks = [mark for mark in film.marks() if mark.rule not in ("loss", EARLIER)]
    if not marks:
        rules = [rule for rule in film.scores if rule != EARLIER]
        scores = ", ".join(f"{name_of_rule(rule, task)} {film.scores[rule][-1].max():.2f}" for rule in rules)
        return say(
            "By step {n} no head has learned its rule: {scores}.", n=format_count(len(film.losses)), scores=scores
        )
    parts = [
        say("{rule} at step {step}", rule=name_of_rule(mark.rule, task), step=format_count(int(film.steps[mark.frame])))
        for mark in marks
    ]
    return say("Heads form: {heads}.", heads=", ".join(parts)) + " " + how_far(film)


def how_far(film: Film) -> str:
    """How much is right, by which step."""
    step = format_count(len(film.losses))
    if film.is_solved:
        return say("Solved by step {step}.", step=step)
    if film.settings["task"] not in TASKS:
        first, last = film.loss_at(0), film.loss_at(film.n_frames - 1)
        return say("The loss falls from {first:.2f} to {last:.2f}.", first=first, last=last)
    return say("{share:.0%} is right by step {step}.", step=step, share=float(film.right[-1]))


def names_of_pair(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """What two runs are called, by the one setting in which they differ; a ValueError where it is not one."""
    (setting,) = [name for name in first if first[name] != second.get(name)]
    return [_name_of(setting, settings[setting]) for settings in (first, second)]


def _name_of(setting: str, value: Any) -> str:
    """A setting of one of two runs, as a sentence about that run begins."""
    if setting == "warmup":
        return say("with no warmup") if value == 1 else say("with a warmup of {n} steps", n=format_count(value))
    if setting == "seed":
        return say("with seed {n}", n=value)
    return say(WITH[setting][value])


def difference(films: Sequence[Film], names: Sequence[str]) -> str:
    """In one sentence how the ends of two films differ, which `names_of_pair` has named."""
    films_by_name = dict(zip(names, films))
    a, b = sorted(names, key=lambda name: not films_by_name[name].is_solved)  # what has solved it is said first
    first, second = films_by_name[a], films_by_name[b]
    values = {
        "a": begun(a),
        "b": b,
        "step": format_count(len(first.losses)),
        "end": format_count(len(second.losses)),
    }
    if first.settings["task"] not in TASKS:
        line = message("{a} the loss ends at {loss:.2f}, {b} at {other:.2f}.")
        losses = [film.loss_at(film.n_frames - 1) for film in (first, second)]
        return say(line, **values, loss=losses[0], other=losses[1])
    if second.is_solved:
        return say("{a} the task is solved by step {step}, {b} by step {end}.", **values)
    other = float(second.right[-1])
    if first.is_solved:
        line = message("{a} the task is solved by step {step}, {b} {other:.0%} is right by step {end}.")
        return say(line, **values, other=other)
    line = message("{a} {share:.0%} is right by step {step}, {b} {other:.0%} by step {end}.")
    return say(line, **values, share=float(first.right[-1]), other=other)


def scores_of_pair(films: Sequence[Film]) -> str:
    """The largest scores of two films at their ends, by rule."""
    task = str(films[0].settings["task"])
    line = message("{rule} {a:.2f} and {b:.2f}")
    parts = []
    for rule in films[0].scores:
        if rule != EARLIER:
            a, b = (float(film.scores[rule][-1].max()) for film in films)
            parts.append(say(line, rule=name_of_rule(rule, task), a=a, b=b))
    return say("Largest scores: {scores}.", scores=", ".join(parts))


def notes_of_pair(films: Sequence[Film], names: Sequence[str]) -> list[str]:
    """What is small below the difference of two films of real text."""
    bumps = [f"{begun(name)}: {bump(film)}" for film, name in zip(films, names)]
    return [scores_of_pair(films), *bumps]


def component_words(task: str) -> dict[str, str]:
    """The words that the film's component shows."""
    rules = {rule: say(text) for rule, text in RULES.items()}
    kinds = {kind: say(text) for kind, text in KINDS.items()}
    return {
        **rules,
        **kinds,
        "source": say(SOURCES[task]) if task in SOURCES else "",
        "loss": say("loss (share of its first value)"),
        "right": say("right"),
        "steps": say("training steps"),
        "slider": say("Step of the training"),
        "play": say("Play"),
        "pause": say("Pause"),
        "head": say("{kind}, layer {layer}, head {head}: open it on the stage"),
        "point": say("layer {layer}, head {head}, {rule}: {score} after step {step}"),
        "counter": say("after step {step}: {right} % right, loss {loss}"),
        "layer": say("Layer {layer}"),
        "beside": say("{right} % right, loss {loss}"),
        "step": say("after step {step}"),
        "nothing": say("Click on a point of a curve, or on a tile, to open that head at that step on the stage."),
    }


def marks_of(film: Film) -> list[dict[str, Any]]:
    """What happened in a film and when, as film.js shows it."""
    return [
        {"step": int(film.steps[mark.frame]), "rule": mark.rule, "text": describe_mark(film, mark)}
        for mark in film.marks()
    ]


def name_of_text(text: FilmText) -> str:
    """A text of a film as a visitor reads it."""
    return " ".join(text.target_tokens).replace("▁", "")


def bump(film: Film) -> str:
    """Whether the loss has a bump, and whether an induction head forms that could be its reason."""
    bent = bump_of(film.losses)
    if bent is None:
        line = say(
            "The loss has no bump above the noise of its batches: it does not fall faster again after it has slowed "
            "down."
        )
    else:
        line = say(
            "The loss has a bump: about step {slow_step} it falls by {slow:.2f} per doubling of the steps, about "
            "step {fast_step} by {fast:.2f}.",
            slow_step=format_count(bent.slow_step),
            slow=bent.slow,
            fast_step=format_count(bent.fast_step),
            fast=bent.fast,
        )
        warmup = int(film.settings["warmup"])
        if warmup > 1 and are_near(bent.fast_step, warmup):
            line += " " + say("That is near the end of the warmup, step {step}.", step=format_count(warmup))
    return line + " " + induction(film)


def induction(film: Film) -> str:
    """When an induction head forms, or that none does."""
    mark = film.mark("induction") if "induction" in film.scores else None
    if mark is None:
        score = float(film.scores["induction"][-1].max()) if "induction" in film.scores else 0.0
        line = message(
            "No induction head forms by step {n} at this size (largest score {score:.2f}): whatever bends the "
            "loss here, no such head does."
        )
        return say(line, n=format_count(len(film.losses)), score=score)
    return say("The induction head forms at step {step}.", step=format_count(int(film.steps[mark.frame])))

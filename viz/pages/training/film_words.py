"""What the films of Train here are called, and what is said of them: computed from the film that is shown."""

from collections.abc import Sequence
from typing import Any

from model.films.bump import bump_of
from model.films.film import EARLIER, Film, FilmText, Mark
from model.films.settings import Settings
from model.films.tasks import TASKS
from viz.pages.training.lab import SCHEDULES
from viz.text import words
from viz.text.language import format_count, message, messages, say

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
DIFFERENCE = message("{name}: {end} Largest scores: {scores}.")
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
        line = message("After {n} steps no head has learned its rule: {scores}.")
        return say(line, n=format_count(len(film.losses)), scores=largest_scores(film))
    parts = [
        say("{rule} at step {step}", rule=name_of_rule(mark.rule, task), step=format_count(int(film.steps[mark.frame])))
        for mark in marks
    ]
    return say("Heads form: {heads}.", heads=", ".join(parts)) + " " + how_far(film)


def how_far(film: Film) -> str:
    """How much is right, after how many steps."""
    step = format_count(len(film.losses))
    if film.is_solved:
        return say("Solved after {step} steps.", step=step)
    if film.settings["task"] not in TASKS:
        first, last = film.loss_at(0), film.loss_at(film.n_frames - 1)
        return say("The loss falls from {first:.2f} to {last:.2f}.", first=first, last=last)
    return say("After {step} steps {share:.0%} is right.", step=step, share=float(film.right[-1]))


def difference(films: Sequence[Film], names: Sequence[str]) -> str:
    """How two films ended that differ in one thing."""
    ends = zip(names, map(how_far, films), map(largest_scores, films))
    return " ".join(say(DIFFERENCE, name=name, end=end, scores=scores) for name, end, scores in ends)


def largest_scores(film: Film) -> str:
    """The largest score of each rule at the end."""
    task = str(film.settings["task"])
    rules = [rule for rule in film.scores if rule != EARLIER]
    return ", ".join(f"{name_of_rule(rule, task)} {film.scores[rule][-1].max():.2f}" for rule in rules)


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
    return line + " " + induction(film)


def induction(film: Film) -> str:
    """When an induction head forms, or that none does."""
    mark = film.mark("induction") if "induction" in film.scores else None
    if mark is None:
        score = float(film.scores["induction"][-1].max()) if "induction" in film.scores else 0.0
        line = message(
            "No induction head forms in {n} steps at this size (largest score {score:.2f}): whatever bends the "
            "loss here, no such head does."
        )
        return say(line, n=format_count(len(film.losses)), score=score)
    return say("The induction head forms at step {step}.", step=format_count(int(film.steps[mark.frame])))

"""Turns: no more at a time than there are places, first come, first served, and nobody keeps a place for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from model import load_translator
from model.measures.agreement import without_each_head
from tests.test_app.conftest import SENTENCES, save_tiny
from viz.views import turns
from viz.views.turns import Turns

PATIENCE = 60


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.001)


@contextmanager
def thread(target: Callable[[], None]) -> Iterator[threading.Thread]:
    """A thread that must have ended at the end of the block."""
    running = threading.Thread(target=target, daemon=True)
    running.start()
    yield running
    running.join(PATIENCE)
    assert not running.is_alive()


class Gone(BaseException):
    """What a page raises whose visitor has left."""


def test_first_come_first_served() -> None:
    queue, order = Turns(1), []

    def work(name: int) -> Callable[[], None]:
        def come() -> None:
            with queue.turn():
                order.append(name)

        return come

    with queue.turn():
        threads = []
        for name in range(5):
            threads.append(threading.Thread(target=work(name), daemon=True))
            threads[-1].start()
            until(lambda n=name: queue.waiting == n + 1)
        assert order == []
    for waiting_thread in threads:
        waiting_thread.join(PATIENCE)
    assert order == [0, 1, 2, 3, 4]


def test_no_more_at_a_time_than_places() -> None:
    queue, inside, most = Turns(2), [], []

    def come() -> None:
        for _ in range(20):
            with queue.turn():
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                queue.offer()
                inside.pop()

    threads = [threading.Thread(target=come, daemon=True) for _ in range(8)]
    for waiting_thread in threads:
        waiting_thread.start()
    for waiting_thread in threads:
        waiting_thread.join(PATIENCE)
    assert len(most) == 160 and max(most) == 2
    with queue.turn(), thread(come):  # and all places are free again
        until(lambda: len(most) == 180)


def test_long_work_lets_short_work_pass_and_goes_on() -> None:
    """At the first offer after its slice; before that it keeps its place."""
    for slice, expected in ((0.0, [0, "short", 1, 2]), (1e9, [0, 1, 2, "short"])):
        queue, done = Turns(1, slice), []

        def short(queue=queue, done=done) -> None:
            with queue.turn():
                done.append("short")

        competitor = threading.Thread(target=short, daemon=True)
        with queue.turn():
            done.append(0)
            competitor.start()
            until(lambda queue=queue: queue.waiting == 1)
            for step in (1, 2):
                queue.offer()
                done.append(step)
        competitor.join(PATIENCE)
        assert done == expected


def test_how_long_somebody_waits_counts_all_places_of_a_call() -> None:
    queue, seen = Turns(1, slice=0.0), []

    def come() -> None:
        with queue.turn():
            queue.offer()  # the other one waits again: this place is given back, and waited for once more

    assert queue.longest_wait == 0
    competitor = threading.Thread(target=come, daemon=True)
    with queue.turn():
        competitor.start()
        until(lambda: queue.longest_wait >= 0.05)
        queue.offer()
        until(lambda: queue.waiting == 1)
        seen.append(queue.longest_wait)
    competitor.join(PATIENCE)
    assert seen[0] >= 0.05 and queue.longest_wait == 0


def test_a_turn_inside_a_turn_is_the_same_one() -> None:
    queue, order = Turns(1), []

    def come() -> None:
        with queue.turn():
            order.append("other")

    with queue.turn():
        with queue.turn():
            order.append("inner")
        competitor = threading.Thread(target=come, daemon=True)
        competitor.start()
        until(lambda: queue.waiting == 1)  # the place is still taken
        order.append("outer")
    competitor.join(PATIENCE)
    assert order == ["inner", "outer", "other"]


def test_an_offer_outside_a_turn_only_looks_whether_the_work_is_wanted() -> None:
    queue, looks = Turns(1), []
    queue.still_wanted = lambda: looks.append(1)
    queue.offer()
    assert looks == [1] and queue.waiting == 0


def test_who_leaves_while_waiting_leaves_the_queue() -> None:
    queue, gone, left, served = Turns(1), threading.Event(), [], []
    mine = threading.local()

    def look() -> None:
        if getattr(mine, "leaves", False) and gone.is_set():
            raise Gone

    queue.still_wanted = look

    def leave() -> None:
        mine.leaves = True
        try:
            with queue.turn():
                served.append("left")
        except Gone:
            left.append(1)

    def stay() -> None:
        with queue.turn():
            served.append("stayed")

    with queue.turn():
        with thread(leave):
            until(lambda: queue.waiting == 1)
            second = threading.Thread(target=stay, daemon=True)
            second.start()
            until(lambda: queue.waiting == 2)
            gone.set()
        assert left == [1] and queue.waiting == 1
    second.join(PATIENCE)
    assert served == ["stayed"]


def test_who_leaves_at_an_offer_gives_the_place_back_once() -> None:
    queue = Turns(1, slice=0.0)

    def leave() -> None:
        raise Gone

    with pytest.raises(Gone), queue.turn():
        queue.still_wanted = leave
        queue.offer()
    queue.still_wanted = lambda: None
    with queue.turn():
        assert queue._free == 0
    assert queue._free == 1


class TestOfTheModel:
    """What computes does so in its turn, and can be ended between two steps."""

    @pytest.fixture
    def translator(self, tmp_path, monkeypatch):
        monkeypatch.setattr(turns, "TURNS", Turns(1, slice=0.0))
        return turns.queued(load_translator(str(save_tiny(tmp_path / "tiny"))))

    def test_a_short_sentence_passes_a_long_search(self, translator, monkeypatch) -> None:
        done, queue = [], turns.TURNS
        long = " ".join(["The animal was tired."] * 4)
        expected = {text: translator.translate(text, beam=width).text for text, width in ((long, 16), ("A man.", 1))}
        steps = translator.stepper.step

        def step(*args):
            if threading.current_thread() is not short and not done:
                if not short.ident:
                    short.start()
                    until(lambda: queue.waiting == 1)
            return steps(*args)

        def come() -> None:
            done.append(translator.translate("A man.", beam=1).text)

        short = threading.Thread(target=come, daemon=True)
        monkeypatch.setattr(translator.stepper, "step", step)
        done.append(translator.translate(long, beam=16).text)
        short.join(PATIENCE)
        assert done == [expected["A man."], expected[long]]

    @pytest.mark.parametrize("after", [1, 3])
    def test_work_that_nobody_wants_ends_at_the_next_step(self, translator, monkeypatch, after: int) -> None:
        calls, steps = [], translator.stepper.step

        def step(*args):
            calls.append(1)
            return steps(*args)

        def look() -> None:
            if len(calls) == after:
                raise Gone

        monkeypatch.setattr(translator.stepper, "step", step)
        turns.TURNS.still_wanted = look
        with pytest.raises(Gone):
            translator.translate(SENTENCES[0], beam=4)
        assert len(calls) == after and turns.TURNS._free == 1

    def test_importance_has_a_turn_for_every_layer(self, translator) -> None:
        result = translator.translate(SENTENCES[1])
        source = translator.source_ids(SENTENCES[1])
        for heads, scores in turns.each_in_turn(without_each_head(translator.model, source, result.predicted_ids)):
            assert turns.TURNS._free == 1  # none is kept while the page draws
            assert len(heads) == len(scores) > 0

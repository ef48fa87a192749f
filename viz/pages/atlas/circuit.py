"""The circuit of a written word: the heads that it comes from, those that these use, and what they keep of it alone."""

import base64
import html
import json
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from model.analysis.circuits import Circuit, HeadName, Place
from model.commands.circuit_picture import Captions, Picture, draw
from model.results.recording import axis_tokens
from model.running.circuit_check import Faithfulness
from model.running.translator import Translator
from viz.stage import words as stage_words
from viz.text import words
from viz.text.language import messages, say
from viz.ui import controls, frame, shared
from viz.views import cached
from viz.views.cached import Request, cache_results

THRESHOLDS = (0.01, 0.02, 0.05, 0.1)
MOST = 24
MOST_TEXTS = 8  # over which means are taken
CAPTIONS = messages(
    encoder="encoder",
    decoder="decoder",
    cross="cross",
    layer="layer",
    queries="queries",
    keys="keys",
    values="values",
    to_word="to the word",
    legend="thickness: logits; dashed: against the word",
)
SIDES = {"q": "queries", "k": "keys", "v": "values"}


@cache_results(16)
def circuit_of(request: Request, step: int, threshold: float, texts: Sequence[str]) -> tuple[Circuit, Faithfulness]:
    """The circuit of the word of a step of a translation, against the runner-up, and what is left of it alone.

    Other heads are replaced by their means over texts, without any over the sentence itself.
    """
    loaded = cached.loaded_as(Translator, request.model)
    result = loaded.force(request.text, cached.compute(request))
    circuit = loaded.circuit(result, against="runner-up", step=step, threshold=threshold, most=MOST)
    others = [loaded.translate(text, beam=1) for text in texts]
    return circuit, loaded.faithfulness(result, circuit, others or [result])


def show(result: cached.Result, request: Request, texts: Sequence[str]) -> None:
    """Draw the circuit of the word that the visitor chooses; `texts` are other sentences."""
    steps = list(range(len(result.predicted_tokens)))
    with frame.controls("circuit"):
        frame.label(say("Written word"))
        spoken = {step: stage_words.label(token) for step, token in enumerate(result.predicted_tokens)}
        step = controls.choose(
            say("Written word"),
            steps,
            "circuit-step",
            widget=st.selectbox,
            label_visibility="collapsed",
            format_func=spoken.__getitem__,
        )
        label = say("Share of the logit from which a head counts")
        threshold = controls.steps(label, THRESHOLDS, 0.02, "circuit-least")
    try:
        circuit, kept = circuit_of(request, step, threshold, texts[:MOST_TEXTS])
    except ValueError as error:
        shared.warn(str(error))
        return
    other = cached.loaded_as(Translator, request.model).tokenizer.target.tokens([circuit.against or 0])[0]
    names = {"word": spoken[step], "other": stage_words.label(other), "logit": circuit.logit}
    frame.picture_title(say("“{word}” over “{other}”: {logit:.2f} logits", **names))
    if not circuit.nodes:
        st.info(say("No head adds that much of it by itself."))
        return
    picture = picture_of(result, circuit, spoken[step])
    code = base64.b64encode(picture.encode()).decode()
    about = html.escape(say("Heads that the word comes from, and who uses whom; the table has the numbers."))
    st.html(f'<img alt="{about}" style="max-width: 100%" src="data:image/svg+xml;base64,{code}">')
    frame.note(in_words(kept, len(circuit.heads), len(texts[:MOST_TEXTS])))
    show_edges(result, circuit)
    with shared.row(gap="small"):
        written = json.dumps(circuit.to_dict(), indent=1)
        st.download_button(
            say("Picture (SVG)"), picture, "circuit.svg", "image/svg+xml", key="circuit-svg", on_click="ignore"
        )
        st.download_button(
            say("Numbers (JSON)"), written, "circuit.json", "application/json", key="circuit-json", on_click="ignore"
        )


def in_words(kept: Faithfulness, n_heads: int, n_texts: int) -> str:
    """What the answer keeps, as a sentence."""
    return say(
        "Of {whole:.2f} logits {left:.2f} are left with all but these {n} heads replaced by their means over {m} other "
        "sentences, and {nothing:.2f} with these replaced, too. The logits below are estimates by one gradient.",
        whole=kept.whole,
        left=kept.heads,
        nothing=kept.nothing,
        n=n_heads,
        m=n_texts,
    )


def picture_of(result: cached.Result, circuit: Circuit, word: str) -> str:
    """The picture as SVG, in the visitor's language."""
    captions = Captions(**{name: say(text) for name, text in CAPTIONS.items()})
    rows = [
        f"{stage_words.label(read)} → {stage_words.label(written)}"
        for read, written in zip(result.target_tokens, result.predicted_tokens)
    ]
    source = list(map(stage_words.label, result.source_tokens))
    return draw(circuit, Picture("", word, source, rows, name_of, captions))


def name_of(head: HeadName | Place) -> str:
    """A head with its kind of attention."""
    return f"{say(words.SHORT_KINDS[head.kind])} {head.layer}.{head.head}"


def show_edges(result: cached.Result, circuit: Circuit) -> None:
    """A table of who takes what from whom."""

    def place_in_words(place: Place) -> str:
        queries, _, _ = axis_tokens(result, place.kind)
        return say("{head} at “{token}”", head=name_of(place), token=stage_words.label(queries[place.position]))

    table = [
        {
            say("from"): place_in_words(edge.source),
            say("takes part in"): say(CAPTIONS[SIDES[edge.side]]),
            say("of"): place_in_words(edge.target),
            say("logits"): round(edge.amount, 3),
            say("share"): say("{x:.1%}", x=edge.share),
        }
        for edge in circuit.edges
    ]
    if table:
        st.dataframe(pd.DataFrame(table), hide_index=True, key="circuit-edges", height="content")

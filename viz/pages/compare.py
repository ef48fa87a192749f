"""The page Compare: two translations beside each other on the stage, and their difference."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model.analysis import comparison
from viz.text import words, words_compare
from viz.text.language import say
from viz.text.words_compare import B_EXAMPLE, MODEL, SEARCH, SENTENCE, VERSUS
from viz.ui import choices, shared, staged
from viz.views import cached, codes, maps, recipes, view
from viz.views.made import made, with_imports
from viz.views.view import View

Pair = tuple[cached.Request, cached.Request]
NAMES = ("versus", "text-b", "model-b", "beam-b")  # in an address
KEPT = "compare-kept"  # in the session: what was chosen of B, under these names


def usual(names: list[str], a: View) -> dict:
    """What B is at first: the example with another word, or the same sentence, another model, and greedy."""
    model = a.model or names[0]
    text = B_EXAMPLE if a.text == view.EXAMPLE else a.text
    other = next((name for name in names if name != model), model)
    return {"versus": SENTENCE, "text-b": text, "model-b": other, "beam-b": 1}


def arrive(names: list[str], a: View) -> None:
    """Choose what B is: by the address, or as it was before."""
    state, query = st.session_state, st.query_params.to_dict()
    readers = {"versus": codes.one_of(VERSUS), "text-b": str, "model-b": codes.one_of(names)}
    found, problems = codes.read(query, readers | {"beam-b": codes.one_of(view.BEAMS)})
    choices.missed(problems)
    before = {} if found or view.is_addressed(query) else state.get(KEPT, {})
    state[KEPT] = usual(names, a) | before | found
    for name in NAMES:
        state.pop(name, None)


def ask(names: list[str], a: cached.Request) -> tuple[str, cached.Request]:
    """The second row above the stage: what differs, a key of VERSUS, and what B is."""
    state = st.session_state
    for name in NAMES:  # those that were not drawn are forgotten by Streamlit
        state.setdefault(name, state[KEPT][name])
    hidden = {"label_visibility": "collapsed"}
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ask-b"):
        said = {code: say(name) for code, name in VERSUS.items()}
        label = say("What differs")
        versus = st.segmented_control(label, list(said), key="versus", format_func=said.get, required=True, **hidden)
        if versus == SENTENCE:
            live = staged.LIVE if state.get("stage-live", True) else False
            text = st.text_input(say("Sentence B"), key="text-b", live=live, **hidden)
            b = replace(a, text=text or "")
        elif versus == MODEL:
            b = replace(a, checkpoint=st.selectbox(say("Model B"), names, key="model-b", **hidden))
        else:
            label, widths = say("Search of B"), list(words.BEAMS)
            b = replace(a, beam=st.selectbox(label, widths, key="beam-b", format_func=recipes.decoded, **hidden))
    state[KEPT] |= {name: state[name] for name in NAMES}
    return versus, b


def address(names: list[str], a: View, versus: str) -> dict[str, str]:
    """What the address says of B, without defaults."""
    of = {SENTENCE: "text-b", MODEL: "model-b", SEARCH: "beam-b"}[versus]
    chosen, default = st.session_state[KEPT], usual(names, a)
    return {name: codes.code(chosen[name]) for name in ("versus", of) if chosen[name] != default[name]}


def answer(asked: tuple[str, Pair]) -> tuple[cached.Shown, cached.Shown]:
    return tuple(map(cached.compute, asked[1]))


def put(versus: str, pair: Pair, results: tuple[cached.Shown, cached.Shown], chosen: View, more: dict) -> None:
    """Show both on the stage; more: what the address says beside what is shown."""
    a, b = (
        staged.shown_of(result, request, chosen, recipes.translation(request), rowwise=False)
        for result, request in zip(results, pair)
    )
    a, b = replace(a, effects=None), replace(b, effects=None, address=dict(b.address) | more)
    differing = {
        SENTENCE: ("", ""),
        MODEL: tuple(request.checkpoint for request in pair),
        SEARCH: tuple(recipes.decoded(request.beam) for request in pair),
    }[versus]
    scores = (float(result.log_probabilities.sum(dtype="float64")) for result in results)
    said = [say("log-probability {number:.2f}", number=score) for score in scores]
    comparing = {
        "names": [" · ".join(filter(None, one)) for one in zip("AB", differing)],
        "about": [" · ".join(filter(None, one)) for one in zip(differing, said)],
        "words": comparison.beside(*(result.text.split() for result in results)),
        "note": note(versus, pair),
        "code": {kind: code(pair, kind, chosen.rows) for kind in a.built.keys() & b.built.keys()},
    }
    staged.put(b, a, comparing=comparing, owned=NAMES)


def note(versus: str, pair: Pair) -> str:
    """What this comparison does not tell, in a sentence; empty where there is nothing to say."""
    if pair[0] == pair[1]:
        if versus == MODEL and len(staged.models()) < 2:
            return say(words_compare.ONE_MODEL)
        return say(words_compare.CHANGE_B if versus == SENTENCE else words_compare.EQUAL)
    if versus != MODEL:
        return ""
    cards = [cached.translator(request.checkpoint).card for request in pair]
    return words_compare.two_models(*((card.get("source"), card.get("target")) for card in cards))


def code(pair: Pair, kind: str, rows: str) -> str:
    """Python that draws the difference of a head; {layer} and {head} stand for the opened one, rows as of a View."""
    loaded = {pair[1].checkpoint: "other"} | {pair[0].checkpoint: "translator"}
    lines = [recipes.loading(checkpoint, name) for checkpoint, name in loaded.items()]
    for name, request in zip("ab", pair):
        lines += recipes.translating(request, name, loaded[request.checkpoint])
    axes = [maps.axis_tokens(made(None, name), kind, rows)[:2] for name in "ba"]
    lines += [f"{name} = comparison.pairs({b!r}, {a!r})" for name, b, a in zip(("rows", "columns"), *axes)]
    both = ", ".join(f"{name}.attention({kind!r})[{{layer}}, {{head}}]" for name in "ba")
    lines += [f"change = comparison.difference({both}, rows, columns)"]
    for name, tokens, pairs in zip(("queries", "keys"), axes[0], ("rows", "columns")):
        lines.append(f"{name} = [{tokens!r}[i] for i, _ in {pairs}]")
    figure = 'figure = difference_heatmap(change, queries, keys, a="B", b="A")'
    return with_imports(*lines, figure, "figure.show()")


def show(names: list[str], chosen: View, came: bool) -> None:
    """The row that says in what B differs, and the stage with both; arguments as of `staged.page`."""
    if came:
        arrive(names, chosen)
    a = cached.Request.of(chosen, names[0])
    versus, b = ask(names, a)
    more = address(names, chosen, versus)
    examples = SENTENCE, (a.example, replace(a.example, text=B_EXAMPLE))
    answered = shared.compute_or_keep("compare-answered", (versus, (a, b)), answer, examples)
    if answered is None:
        return
    (versus, pair), results = answered
    st.session_state["shown-text"] = results[0].text
    st.session_state[view.KEPT] = chosen
    put(versus, pair, results, chosen, more)
    for checkpoint in dict.fromkeys(request.checkpoint for request in pair):
        shared.small(words.describe_card(checkpoint, cached.translator(checkpoint).card), f"card-{checkpoint}")


staged.page("compare", staged.models(), show)

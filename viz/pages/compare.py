"""The page Compare: two translations beside each other on the stage, and their difference."""

from dataclasses import replace

import streamlit as st

from model.analysis import comparison
from viz.text import words
from viz.text.language import messages, say
from viz.ui import choices, shared, staged
from viz.views import cached, codes, maps, recipes, view
from viz.views.made import made, with_imports
from viz.views.view import View

Pair = tuple[cached.Request, cached.Request]
VERSUS = messages(sentence="Sentences", model="Models", search="Searches")
OF = {"sentence": "text-b", "model": "model-b", "search": "beam-b"}  # what then is chosen of B, in an address
NAMES = ("versus", *OF.values())
KEPT = "compare-kept"  # in the session: what was chosen of B, under these names
B_EXAMPLE = "The animal didn't cross the street because it was too wide."


def usual(names: list[str], a: View) -> dict:
    """What B is at first: the example with another word, or the same sentence, another model, and greedy."""
    model = a.model or names[0]
    text = B_EXAMPLE if a.text == view.EXAMPLE else a.text
    other = next((name for name in names if name != model), model)
    return {"versus": "sentence", "text-b": text, "model-b": other, "beam-b": 1}


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
    with shared.row(gap="small", key="ask-b"):
        more = {"key": "versus", "format_func": lambda code: say(VERSUS[code]), "required": True, **hidden}
        versus = st.segmented_control(say("What differs"), list(VERSUS), **more)
        hidden["key"] = OF[versus]
        if versus == "sentence":
            b = replace(a, text=st.text_input(say("Sentence B"), live=staged.live(), **hidden) or "")
        elif versus == "model":
            b = replace(a, checkpoint=st.selectbox(say("Model B"), names, **hidden))
        else:
            more = {"format_func": recipes.decoded, **hidden}
            b = replace(a, beam=st.selectbox(say("Search of B"), list(words.BEAMS), **more))
    state[KEPT] |= {name: state[name] for name in NAMES}
    return versus, b


def answer(asked: tuple[str, Pair]) -> list[cached.Shown]:
    return list(map(cached.compute, asked[1]))


def put(versus: str, pair: Pair, results: list[cached.Shown], chosen: View, more: dict) -> None:
    """Show both on the stage; more: what the address says beside what is shown."""
    sides, names, about = [], [], []
    for side, request, result in zip("AB", pair, results):
        shown = staged.shown_of(result, request, chosen, recipes.translation(request), rowwise=False)
        sides.append(replace(shown, effects=None, address=dict(shown.address) | more))
        differing = {"sentence": "", "model": request.checkpoint, "search": recipes.decoded(request.beam)}[versus]
        score = float(result.log_probabilities.sum(dtype="float64"))
        names.append(f"{side} · {differing}" if differing else side)
        about.append(" · ".join(filter(None, (differing, say("log-probability {number:.2f}", number=score)))))
    a, b = sides
    comparing = {
        "names": names,
        "about": about,
        "words": comparison.beside(*(result.text.split() for result in results)),
        "note": note(versus, pair),
        "code": {kind: code(pair, kind, chosen.rows) for kind in a.built.keys() & b.built.keys()},
    }
    staged.put(b, a, comparing=comparing, owned=NAMES)


def note(versus: str, pair: Pair) -> str:
    """What this comparison does not tell, in a sentence; empty where there is nothing to say."""
    if pair[0] == pair[1]:
        if versus == "model" and len(staged.models()) < 2:
            return say(
                "There is only one checkpoint, so both sides use the same model. To train another: python -m model "
                "train --help"
            )
        if versus == "sentence":
            return say("Nothing differs yet: change a word of sentence B.")
        return say("Nothing differs: A and B are the same run.")
    if versus != "model":
        return ""
    cards = [cached.translator(request.checkpoint).card for request in pair]
    a, b = ([card.get("source"), card.get("target")] for card in cards)
    if a == b:
        return say("Heads of different models do not correspond: head 3 in A is unrelated to head 3 in B.")
    a, b = ("-".join(words.language(code, "?") for code in codes) for codes in (a, b))
    return say("A translates {a}, B {b}: one of them reads a language it was not trained on.", a=a, b=b)


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
    a, state, default = cached.Request.of(chosen, names[0]), st.session_state, usual(names, chosen)
    versus, b = ask(names, a)
    kept = state[KEPT]
    more = {name: codes.code(kept[name]) for name in ("versus", OF[versus]) if kept[name] != default[name]}
    example = "sentence", (a.example, replace(a.example, text=B_EXAMPLE))
    answered = shared.compute_or_keep("compare-answered", (versus, (a, b)), answer, example)
    if answered is None:
        return
    (versus, pair), results = answered
    state["shown-text"], state[view.KEPT] = results[0].text, chosen
    put(versus, pair, results, chosen, more)
    for checkpoint in dict.fromkeys(request.checkpoint for request in pair):
        shared.card(checkpoint, f"card-{checkpoint}")


staged.page("compare", staged.models(), show)

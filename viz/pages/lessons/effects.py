"""Is attention an explanation? Weights beside direct effects, and a network without weights."""

import numpy as np
import torch

from model.analysis import maps as analysis
from model.running.translator import Translator
from model.text.special import BOS_ID, UNK_ID
from viz.figures import Figure, bars, head_board, written_heatmap
from viz.pages.lessons.card import Figures, OnStage, Story, card, request_translation
from viz.text.language import message, say
from viz.ui.stage.effects_results import agreement_of, compute_result
from viz.views.cached import cache_results, compute, loaded_as
from viz.views.results.heads_results import importance

SENTENCE = request_translation("The animal didn't cross the street because it was too tired.")
SHARP = 0.5  # the mean largest weight of a sharp head, at least
FAINT = 1 / 3  # of the largest direct effect: below this an effect is faint
WORD = "erte"
NOT = "▁nicht"
READ = "▁because"
BIKE = "bike"
EFFECTS = {"measure": "effects"}
MEAN = EFFECTS | {"against": "mean"}


def _direct() -> np.ndarray:
    """The mean size of what each head of cross-attention adds to a word directly, in logits over the runner-up."""
    return np.abs(compute_result(SENTENCE, "effects", "runner-up").heads("cross").sum(-1)).mean(-1)


def _without() -> np.ndarray:
    """What the translation loses without each of them, in nats, (L, H)."""
    return -importance(SENTENCE)["cross"]


def quiet_head() -> tuple[int, int]:
    """Layer and head, of all that are sharp and add little directly, of the one whose loss costs most."""
    sharp = compute(SENTENCE).attention("cross").max(-1).mean(-1) >= SHARP
    direct = _direct()
    cost = np.where(sharp & (direct < FAINT * direct.max()), _without(), -np.inf)
    return analysis.largest_cell(cost)


def _at_steer() -> dict[str, str]:
    """The address of the page on which the visitor can switch the head off."""
    layer, head = quiet_head()
    return {"text": SENTENCE.text, "kind": "cross", "edits": f"v1_oc{layer}-{head}"}


def _board(answered: bool) -> Figure:
    values = _without() if answered else _direct()
    value = message("loss without the head (nats)") if answered else message("mean size of the direct effect (logits)")
    return head_board(values, value=value, selected=quiet_head(), say=say)


@cache_results()
def left_out() -> tuple[list[str], list[str], np.ndarray, np.ndarray]:
    """What each word of the GRU's translation loses when a source word is replaced by <unk>.

    Returns:
        The T written words, the S source words, what is lost in nats float64 (T, S), and the words' probabilities (T,).
    """
    loaded = loaded_as(Translator, "multi30k-de-en-gru")
    result = loaded.translate("Ein Mann fährt mit dem Fahrrad auf der Straße.", 1)
    source = torch.tensor([loaded.source_ids(result.source)])
    target = result.predicted_ids
    each = source.repeat(source.shape[1], 1).fill_diagonal_(UNK_ID)
    with torch.inference_mode():
        inputs = torch.tensor([[BOS_ID, *target[:-1]]]).expand(len(each) + 1, -1)
        logs = loaded.model(torch.cat([source, each]), inputs).double().log_softmax(-1)  # (1 + S, T, V)
    scores = logs[:, range(len(target)), target].numpy()  # (1 + S, T)
    return result.predicted_tokens, result.source_tokens, (scores[0] - scores[1:]).T, np.exp(scores[0])


def _gru(answered: bool) -> Figure:
    target, sources, lost, chances = left_out()
    if not answered:
        return bars(chances[:, None], target, value=message("probability"), top=1.0, say=say)
    row = target.index(BIKE)
    return written_heatmap(
        lost.round(1) + 0,  # no "-0"
        target,
        sources,
        row_axis=message("written word"),
        column_axis=message("source word left out"),
        value=message("drop of the log-probability (nats)"),
        signed=True,
        selected=(row, int(lost[row].argmax())),
        say=say,
    )


STORY = Story(
    "Is attention an explanation?",
    "A weight says where a head looks. What a head does is another question.",
    "Jain and Wallace 2019 · Wiegreffe and Pinter 2019 · Kobayashi et al. 2020 · Bastings and Filippova 2020",
)


@card(
    "A head of the cross-attention. Its weights are sharp: most rows have one large cell. With the answer, "
    "the map shows direct effects: what the head adds itself to the logit of each written word.",
    "How much does it add to a word's logit, on average?",
    ("More than 2", "About 1", "Less than 0.2"),
    "{effect:.2f} logits over the runner-up, though the largest weight of its rows is {weight:.2f} on average.",
    "The head that adds most adds {most:.2f}.",
    OnStage(SENTENCE, {"at": quiet_head}, EFFECTS),
    right=2,
)
def small() -> dict:
    head = quiet_head()
    sizes = _direct()
    weights = compute(SENTENCE).attention("cross")[head]
    return {"weight": weights.max(-1).mean(), "effect": sizes[head], "most": sizes.max()}


@card(
    "All 24 heads of the cross-attention by the size of their direct effect. Our head, framed, adds less than a third "
    "of what the largest adds.",
    "So can it be switched off without harm?",
    ("Yes, nothing changes", "No, it costs more than most heads"),
    "Without it the translation loses {drop:.2f} nats; only {rank} of {all} heads cost more.",
    "Later layers read what it wrote: a direct effect is not the whole effect.",
    Figures(_board, "steer", _at_steer),
    right=1,
)
def harm() -> dict:
    drops = _without()
    head = quiet_head()
    return {"drop": drops[head], "rank": int((drops > drops[head]).sum()), "all": drops.size}


@card(
    "“erte” completes “überqu” to “überquerte”. The framed row shows where a head of the cross-attention looked while "
    "the decoder wrote it.",
    "Which parts of the decoder wrote “erte”?",
    ("Cross-attention, by reading “cross”", "Self-attention of the last layer", "The three feed-forward layers"),
    "Feed-forward layers: {fed:.1f} of {logit:.1f} logits; no cross-attention adds more than {cross:.1f}.",
    "The decoder completes a word that it has begun. No map of weights shows that.",
    OnStage(SENTENCE, {"pin": WORD}, MEAN | {"view": "parts"}),
    right=2,
)
def parts() -> dict:
    effects = compute_result(SENTENCE, "effects")
    row = compute(SENTENCE).predicted_tokens.index(WORD)
    cross = [part[row] for name, part in effects.parts.items() if name.endswith("cross_attention")]
    fed = [part[row] for name, part in effects.parts.items() if name.endswith("feed_forward")]
    return {"fed": sum(fed), "logit": effects.logits[row], "cross": max(cross)}


@card(
    "The mean of all 24 heads. While the decoder writes “nicht”, most weight lies on “because”, the framed cell.",
    "Which source token adds most to the logit of “nicht”?",
    "because|' (didn't)|street".split("|"),
    "The “'” of “didn't”: {effect:.1f} logits over all heads.",
    "“because” has a weight of {weight:.2f} and adds {own:.1f}. These columns are encoder positions, which already "
    "mix words.",
    OnStage(
        SENTENCE,
        {"pin": NOT, "ring": (NOT, READ), "summary": "mean", "over": "all"},
        MEAN | {"ring": (NOT, "'")},
    ),
    right=1,
)
def apart() -> dict:
    result = compute(SENTENCE)
    row = result.predicted_tokens.index(NOT)
    column = result.source_tokens.index(READ)
    sums = compute_result(SENTENCE, "effects").heads("cross").sum((0, 1))[row]  # by all heads, from each source token
    weight = result.attention("cross").mean((0, 1))[row, column]
    return {"weight": weight, "effect": sums.max(), "own": sums[column]}


@card(
    "Rank the source tokens by a head's weights, then by its direct effects. A rank correlation of 1 means the same "
    "order, 0 no relation.",
    "How large is it, over all heads and words of this sentence?",
    "0.9 0.5 0.1".split(),
    "{agreement:.2f} with direct effects, {occlusion:.2f} with leaving source tokens out, {input_gradient:.2f} with "
    "gradient times input.",
    "Norms, which contain the weight as a factor, agree best: {norms:.2f}.",
    OnStage(SENTENCE, then=EFFECTS | {"view": "agree"}),
    right=2,
)
def rates() -> dict:
    return {name: float(np.nanmean(rates)) for name, rates in agreement_of(SENTENCE).items()}


@card(
    "A GRU without attention: it squeezes the German sentence into one vector. The bars show how probable each word "
    "was that it wrote.",
    "Can one still tell which source word “bike” depends on?",
    ("No, not without attention", "Yes, by leaving out source words"),
    "Replace each source word by <unk> in turn: “bike” loses most without “{key}”, {drop:.1f} nats.",
    "An explanation needs no map of attention, and a map is not yet one.",
    Figures(_gru, "models", {"direction": "de-en"}),
    right=1,
)
def occluded() -> dict:
    target, sources, lost, _ = left_out()
    row = lost[target.index(BIKE)]
    return {"key": sources[row.argmax()], "drop": row.max()}

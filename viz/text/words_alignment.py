"""The plain words about alignment: how heads are scored as word aligners, and what the sets of links are worth."""

from __future__ import annotations

from viz.text.language import message, say

INTRO = message(
    "Does a head of the cross-attention know which source word a target word translates? The model is made to read a "
    "translation; every target word is linked to the source word that a head reads most there, and these links are "
    "compared with links made beforehand. The alignment error rate is 0 where all of them agree and 1 where none does."
)
READ_AT = {
    "output": message("At the output: the step that predicts the word"),
    "input": message("At the input: one step later, the step that reads the word"),
}
MEASURES = {
    "weights": message("attention weights"),
    "norms": message("contributions, ‖weight · value · output projection‖"),
}
BOARD = message(
    "Rows are layers, columns are heads; on the right the mean and the maximum of a layer's heads. Brighter is better."
)
SOURCES = message(
    "Error rate of Och and Ney (2003); output and input as in Chen et al. (2020); contributions as in Kobayashi et al. "
    "(2020). Subwords are merged into words: to a word the sum, from a word the mean; special tokens take no part."
)
# By name of the set: what its links and its domain mean for the numbers.
SETS = {
    "alignment-de-en": message(
        "One hundred sentences from the European Parliament, lowercased, with links made by people for word aligners. "
        "Speeches are far from image captions and everyday talk, and lowercase German nouns fall into small pieces: a "
        "model trained on those often does not know the words, so a high error rate here says as much about the domain "
        "as about the heads."
    ),
    "multi30k/test_2016_flickr": message(
        "Sixty short image captions whose links were made by a language model, once and unchecked by any person: an "
        "indication, never a gold standard. It is the domain that the model was trained on, and both languages say "
        "things in nearly the same order: compare with the diagonal."
    ),
}
STALE = message(
    "These numbers were measured with other weights than those of this checkpoint now; the command below measures anew."
)
NOTHING = message(
    "Nothing was measured for this checkpoint yet. The command below scores its heads on pairs with word links and "
    "keeps the result beside the weights."
)
COUNTED = ("pairs", "links", "words")
COMMAND = "python -m model align --data FOLDER --checkpoint {name} --save"


def baselines(best_head: tuple[float, int, int], diagonal: float, best: float) -> str:
    """One line that puts a board's numbers in proportion.

    Args:
        best_head: the smallest error rate of the board, and the layer and the head that has it.
        diagonal: of linking each word to the one at the same share of its sentence.
        best: the least possible with one link a target word.

    Example:
        >>> baselines((0.2, 1, 5), 0.3, 0.1)
        'Best head: layer 1, head 5 with 0.200. The diagonal alone: 0.300. The least with one link a word: 0.100.'
    """
    error, layer, head = best_head
    return say(
        "Best head: layer {layer}, head {head} with {error:.3f}. The diagonal alone: {diagonal:.3f}. "
        "The least with one link a word: {best:.3f}.",
        layer=layer,
        head=head,
        error=error,
        diagonal=diagonal,
        best=best,
    )


def counted(result: dict) -> str:
    """One line on what was counted, of a result of `model.measures.alignment.measure`."""
    said = [say("{pairs} pairs, {links} links, {words} target words", **{name: result[name] for name in COUNTED})]
    if result["outside"]:
        said.append(say("links left out that point outside their sentence: {n}", n=result["outside"]))
    if result["too_long"]:
        said.append(say("pairs too long: {n}", n=result["too_long"]))
    return f"{'; '.join(said)}. {say('Links: {made_by}.', made_by=result['made_by'])}"

"""What `model` says when something cannot be done, as templates: it speaks English, a visitor perhaps not.

An error arrives as a whole sentence. Its template is found again, what stands in the places is taken, and the template
is said with it in the visitor's language.
"""

from __future__ import annotations

import string
from functools import cache
from typing import NamedTuple

from model.translation import KINDS
from viz.text.language import ENGLISH, current, message, say

# The place {error} is another error; {what} and {kind} are of WORDS; all others are taken as they are. A place that
# begins a template begins it in every language: the name of a file may stand before it.
ERRORS = (
    # What a visitor types and chooses.
    message("the text has {n} characters; at most {most} are allowed"),
    message("the text has {n} tokens; at most {most} are allowed"),
    message("there is nothing to translate: type a sentence"),
    message("the beam width must be from 1 to {most}, got {value}"),
    message("the length penalty must be from 0 to 5, got {value}"),
    message("{n} tokens are too many: the model has positions for {most}"),
    message("from 1 to {most} candidates can be had, got {n}"),
    message("the prefix holds token {token}; tokens are numbered from 0 to {last}"),
    message("the prefix has {n} tokens; at most {most} can be written"),
    message("token {token} cannot stand in a prefix, or only at its end"),
    message("the temperature must be from 0 to 100, got {value}"),
    message("the model computed logits that are not numbers: its weights, or a change made, are too large"),
    message("top_k must be 0 (all) or more, got {value}"),
    message("{name} must be above 0 and at most 1, got {value}"),
    message("{name} must be from 1 to {most}, got {value}"),
    message("the temperature must be a number above 0, got {value}"),
    message("the dropout must be from 0 to below 1, got {value}"),
    message("{what} has {n} characters; at most {most} are allowed"),
    message("{what} has {n} tokens; at most {most} are allowed"),
    message("there is no earlier step that could see the future: type a longer target"),
    message("the scale must be from 0 to {most}, got {value}"),
    message("the shift must be from 0 to {most} positions, got {value}"),
    message("with {n} positions there is no place before another: at least 2 are needed"),
    message("d_model must be even to pair sine and cosine, got {value}"),
    message("this model has no positional encoding: it reads word by word"),
    message("this model has no {kind}-attention"),
    message("the checks are for an encoder-decoder Transformer; this model is another one"),
    # Changes of heads, attention and masks.
    message("the code of the edits has {n} characters; at most {most} are allowed"),
    message("the code of edits begins with {right}, got {value}"),
    message("the edits cannot be read: {value} is not a valid edit"),
    message("the strength of a forced attention must be from 0 to 1, got {value}"),
    message("a head is either switched off or made uniform, but both are set for {what}"),
    message("the {kind} cell in row {row}, column {column} cannot be both open and blocked"),
    message("the attention of step {step} is forced twice in the same head"),
    message("step {step} of the decoder cannot attend to the later step {later}"),
    message("only the heads of an encoder-decoder Transformer can be changed"),
    message("single cells can be changed for one sentence only, not for many at a time"),
    message("{what}s of the {kind}-attention are 0 to {last}, got {what} {place}"),
    message("{what}s of the {kind}-attention are 0 to {last} here, got {what} {place}"),
    # Training in the app, recorded runs, and their curves.
    message("there is nothing to reverse: type 1 to {most} letters from a to z"),
    message("the model knows the small letters a to z only, got {value}"),
    message("the string has {n} letters; at most {most} are allowed"),
    message("the Noam schedule needs a warmup of at least 1 step, got {value}"),
    message("{path}, line {number}, is not a JSON object"),
    message("{path}: the first line of a recorded run has {name}, a {type}"),
    message("{path}: the steps of a history are whole numbers that rise"),
    message("{path}: step {step} has {name} {value}, which is not a number"),
    message("{path} has no snapshots (folders step-000200 and so on)"),
    message("the line {name} has {axis} {value}; on a logarithmic axis all must be above 0."),
    # A file of attention.
    message(
        "attention can be followed through a decoder with as much self-attention as cross-attention, got {own} and "
        "{cross} layers"
    ),
    message("the file {path} does not exist"),
    message("this is not a whole .npz file, as numpy.savez writes it"),
    message("the file has {n} entries; at most {most} are allowed"),
    message("the file is packed in another way than numpy.savez and savez_compressed do it"),
    message("there is no attention in the file: at least one of {needed} is needed, got nothing"),
    message("there is no attention in the file: at least one of {needed} is needed, got {found}"),
    message("the layers of {array} have different shapes"),
    message("the layers of {array} must be numbered from 0 without gaps"),
    message("{array} is not a whole array, as numpy.save writes it"),
    message("{array} holds Python objects, which could run code: save plain texts or numbers"),
    message("{array} must hold floating-point numbers (a mask: true or false), got {type}"),
    message("{array} has the shape {shape}; at most {most} numbers are allowed"),
    message("{array} must be a row of texts, got {type} of shape {shape}"),
    message("there are {n} {array}; at most {most} can be drawn"),
    message("one of the {array} is longer than {most} characters"),
    message("the {array} have {n} characters; at most {most} can be drawn"),
    message("there are {n} predicted_tokens for {target} target_tokens; each needs one"),
    message("{array} needs {tokens} to name its axes"),
    message("{array} needs {queries} and {keys} to name its axes"),
    message("{array} must have the four axes (layers, heads, queries, keys), got the shape {shape}"),
    message(
        "{array} has {rows} rows and {columns} columns, "
        "but its rows are {n_queries} {queries} and its columns {n_keys} {keys}"
    ),
    message("{array} has {layers} layers and {heads} heads; from 1 to {most_layers} and {most_heads} are allowed"),
    message("{array} holds numbers that are not finite"),
    message("{array} holds numbers from {low} to {high}; weights are from 0 to 1: take them after the softmax"),
    message("there are {n} weights; at most {most} can be drawn: take a shorter text or fewer layers"),
    message("there is a mask for {array}, but no {array}"),
    message("{array}_mask must be true or false in {shape} cells (queries, keys), got {type} in {found}"),
    message(
        "{array}_mask blocks a cell with a weight of {weight}: True must mean 'may attend', and rows must be queries"
    ),
    # A checkpoint: its folder and files.
    message("there is no checkpoint {name}; there are none"),
    message("there is no checkpoint {name}; there are {known}"),
    message("{path}: {error}"),
    message("the file {path} cannot be read: {error}"),
    message("the file {path} cannot be read: it does not exist"),
    message("the file {path} cannot be read: it is not a file"),
    message("{path} has {n} bytes; at most {most} are read"),
    message("{path} is not JSON: {error}"),
    message("a number has {n} digits; at most {most} are read"),
    message("{path} must hold a JSON object, got {type}"),
    message("{path} is a link that leads out of its folder: put the file itself there"),
    message('{path} must have, under "sha256", one entry for each of {names}, and no other'),
    message(
        "{path} is not the file that {manifest} lists: its SHA-256 is {found}…, not {right}…. Fetch the checkpoint "
        "again, or, if you changed it yourself, run python -m model seal {folder}"
    ),
    message("{path}: the tokenizer has {n} tokens, the configuration {right}"),
    message("{path} is not a whole safetensors file: {error}"),
    message("{path} is not a whole safetensors file: its header would have {n} bytes"),
    message("{path}: the tensor {name} must hold finite floating-point numbers only"),
    message("{path}: the tensor {name} is missing"),
    message("{path}: the tensor {name} has shape {shape}, the configuration says {right}"),
    message("{path}: the tensor {name} does not belong to this model"),
    # A checkpoint: its configuration.
    message("{owner}: expected a JSON object, got {type}"),
    message("{owner}: unknown key {key}; allowed are {known}"),
    message("{owner}: the key {key} is missing"),
    message("{owner}: {key} must be of type {type}, got {value}"),
    message("{name} must be one of {allowed}, got {value}"),
    message("{name} must be at least 1, got {value}"),
    message("d_model ({d_model}) must be a multiple of n_heads ({n_heads})"),
    message("d_model must be even and a multiple of n_heads ({n_heads}), got {value}"),
    message("d_model must be even for {positions} positions, got {value}"),
    message("dropout must be in [0, 1), got {value}"),
    message("norm_eps must be above 0 and below 1, got {value}"),
    message("cutoffs must be whole numbers, each above the one before, got {value}"),
    message('an adaptive softmax (cutoffs) needs init "normal", got "library"'),
    message("at most {most} layers can be loaded"),
    message("at most {most} encoder or decoder layers can be loaded"),
    message("the sizes ask for more than {most} numbers"),
    # A checkpoint: its tokenizer.
    message("not a byte-pair tokenizer: {reason}"),
    message("the token {token} must have id {right}, the tokenizer gives it {found}"),
    message("the {n} token ids must be 0 to {last} without gaps"),
    message("lowercase must be true or false, got {value}"),
    message("token ids must be 0 to {last}, got {value}"),
    message("tokenizers of words have the keys type, source and target"),
    message("not a list of words: the keys must be {keys}"),
    message("not a list of words: {key} is not a list of texts"),
    message("not a list of words: {key} is {value}"),
    message("the language of words must be one of {allowed}, got {value}"),
    message("the words must differ from each other and from the special tokens, and none be empty"),
    message("the words of a text must be a list of texts"),
    message("the words of a text must differ from each other and hold no white space"),
    message("the words of a text must include {end} and {unknown}"),
    message("the tokenizer has no SentencePiece models: import the translator again"),
    message("not a SentencePiece model: {error}"),
    message("the tokens must be a list of texts"),
    message("the first tokens must be {tokens}"),
    message("the tokens must differ from each other, and none be empty"),
    message("at most {most} characters can be replaced, and by as many"),
    # What is kept beside the weights: the card, the reports.
    message('{path} must name two languages, "source" and "target"'),
    message("the scores by length of {test} are empty"),
    message("the scores by length of {test} have other keys than those of a group"),
    message("the scores by length of {test}: {name} must be a number from 0 up, got {value}"),
    message("{path} was measured with other weights: run python -m model atlas again"),
    message("{path} is not of these weights, or not what python -m model check --save writes: run it again"),
    message("{path} is not an atlas of heads: {array} is incomplete"),
    message("{path} does not fit the model: it has other layers or heads in {array}"),
)

# What stands in the places {what} and {kind}.
WORDS = (
    message("row"),
    message("column"),
    message("layer"),
    message("head"),
    message("encoder self"),
    message("decoder self"),
    message("cross"),
    message("source {n}"),
    message("target {n}"),
    message("{kind}, layer {layer}, head {head}"),
)
_INSIDE = {"error": ERRORS, "what": WORDS, "kind": WORDS}
_DEEPEST = 5  # errors in errors; real ones have two: the file, then what is wrong in it


class _Form(NamedTuple):
    """A template in its parts: there is one more literal part than there are places."""

    template: str
    literals: tuple[str, ...]
    places: tuple[str, ...]


def understood(text: str) -> str:
    """Say an error of `model` in the visitor's language.

    Args:
        text: the English sentence, with the values in it.

    Returns:
        The same in the language that is spoken here and now; as it is where it fits none of ERRORS.

    Example:
        >>> from viz.text.language import using
        >>> with using("de"):
        ...     understood("the text has 300 tokens; at most 256 are allowed")
        'der Text hat 300 Tokens; erlaubt sind höchstens 256'
    """
    return text if current() == ENGLISH else _said(text, ERRORS, _DEEPEST)


def fitting(text: str, templates: tuple[str, ...] = ERRORS) -> tuple[str, dict[str, str]] | None:
    """The template with the most literal text that a whole text fits, and what stands in its places; None for none."""
    for form in _forms(templates):
        values = _values(text, form)
        if values is not None:
            return form.template, values
    return None


def _said(text: str, templates: tuple[str, ...], levels: int) -> str:
    found = fitting(text, templates) if levels else None
    if found is None:
        return text
    template, values = found
    inside = {name: _said(values[name], _INSIDE[name], levels - 1) for name in values.keys() & _INSIDE.keys()}
    return say(template, **{**values, **inside})


@cache
def _forms(templates: tuple[str, ...]) -> list[_Form]:
    """The parts of templates, the one with the most literal text first."""
    forms = [_form(template) for template in templates]
    return sorted(forms, key=lambda form: -sum(map(len, form.literals)))


def _form(template: str) -> _Form:
    parts = list(string.Formatter().parse(template))
    places = tuple(name for _, name, _, _ in parts if name is not None)
    literals = tuple(literal for literal, _, _, _ in parts)
    return _Form(template, literals if len(literals) > len(places) else (*literals, ""), places)


def _values(text: str, form: _Form) -> dict[str, str] | None:
    """What stands in the places; None where the text does not fit. Each literal part is looked for once, from the left.

    So a visitor's text of any kind takes no longer than reading it once for each template.
    """
    first, *between = form.literals
    if not form.places:
        return {} if text == first else None
    last = between.pop()
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return None
    found = []
    for literal in between:
        begin = text.find(literal, at, end)
        if begin < 0:
            return None
        found.append(text[at:begin])
        at = begin + len(literal)
    found.append(text[at:end])
    values = dict(zip(form.places, found, strict=True))
    # The same place twice holds the same twice.
    return values if all(values[name] == value for name, value in zip(form.places, found)) else None


def sentence(error: ValueError) -> str:
    """The words of an error as a sentence of the page, in the visitor's language."""
    words = understood(str(error))
    first = words.split(" ", 1)[0]
    if "_" not in first and first not in KINDS:  # names of arrays stay as they are spelt
        words = words[:1].upper() + words[1:]
    return words.rstrip(".") + "."

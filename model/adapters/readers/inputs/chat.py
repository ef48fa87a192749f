"""Turns of a conversation as the text that a model was trained on: by the chat template of its tokenizer."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from model.text.errors import Problem, check_characters

Messages = Sequence[Mapping[str, str]]  # each with "role" ("system", "user", "assistant") and "content"
# In the place of contents, to see what the template writes between them; private characters, which no text has.
_PLACEHOLDER = "\ue000{}\ue001"
_PLACEHOLDERS = re.compile("\ue000(\\d+)\ue001")


def has_template(tokenizer: Any) -> bool:
    """Whether a tokenizer brings a chat template."""
    return bool(getattr(tokenizer, "chat_template", None))


def message_of(text: str) -> Messages:
    """A text as a chat of one turn, the user's."""
    return [{"role": "user", "content": text}]


def tokenized(tokenizer: Any, text: Any, messages: Messages | None, most: int) -> Any:
    """What a tokenizer makes of a text, or of messages where there are any, as tensors with one row.

    Raises:
        ValueError: for anything else, an empty text, one of more than `most` characters, and as in `chat_text`.
    """
    if messages is not None:
        text = chat_text(tokenizer, messages)
    elif isinstance(text, Sequence) and not isinstance(text, str) and text:
        raise ValueError(f"read takes one text, got {len(text)}: read_batch takes several, messages=... a chat")
    elif not isinstance(text, str):
        raise ValueError(f"a text must be a str, got {type(text).__name__}")
    check_characters(text, most)
    if not text.strip():
        raise Problem("there is nothing to read: type a text")
    if messages is not None:  # a template writes the special tokens, too
        return tokenizer(text, add_special_tokens=False, return_tensors="pt")
    return tokenizer(text, return_tensors="pt")


def chat_text(tokenizer: Any, messages: Messages) -> str:
    """Messages as their template writes them; where the last one is not an answer, up to where the answer begins.

    Raises:
        ValueError: if the tokenizer has no template, messages are not a list of roles and contents, or the template
            refuses or leaves out one of them.
    """
    if not has_template(tokenizer):
        raise Problem("this model has no chat template: it reads texts, and no messages")
    check_messages(messages)
    written = _PLACEHOLDERS.findall(_rendered(tokenizer, _with_placeholders(messages)))
    for number, message in enumerate(messages):
        if str(number) not in written:
            raise Problem("the chat template of this model leaves out a message of {role!r}", role=message["role"])
    return _rendered(tokenizer, messages)


def check_messages(messages: Any) -> None:
    """Raise a ValueError unless messages are a list of dictionaries with a role and a content, both texts."""
    expected = 'messages must be a list such as [{"role": "user", "content": "Hello"}]'
    if isinstance(messages, str | Mapping) or not isinstance(messages, Sequence) or not messages:
        raise ValueError(f"{expected}, got {messages!r:.80}")
    for message in messages:
        values = [message.get(name) for name in ("role", "content")] if isinstance(message, Mapping) else [None]
        if not all(isinstance(value, str) for value in values):
            raise ValueError(f"{expected}, got {message!r:.80} in it")
        if not message["content"].strip():
            raise Problem("there is nothing to read: type a text")


def template_tokens(tokenizer: Any, messages: Messages) -> np.ndarray:
    """Which tokens of a chat text come from the template and not from a message: bool (tokens,).

    Of a tokenizer that does not know where its tokens stand in the text, none.
    """
    text = chat_text(tokenizer, messages)
    spans = _spans(tokenizer, messages, text)
    if spans is None or not getattr(tokenizer, "is_fast", False):
        return np.zeros(len(tokenizer(text, add_special_tokens=False)["input_ids"]), dtype=bool)
    places = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    of_messages = [any(begin < stop and start < end for begin, end in spans) for start, stop in places]
    return ~np.array(of_messages, dtype=bool)


def special_tokens(
    tokenizer: Any, names: Mapping[str, str], inputs: Mapping[str, Tensor], messages: Messages | None = None
) -> dict[str, np.ndarray]:
    """By side which tokens are special, bool (tokens,); sides without one are left out.

    Args:
        names: by side the name of its ids in the inputs, a batch of one.
        messages: with which the first side begins, where it is a chat: what the template writes is special.
    """
    added = getattr(tokenizer, "added_tokens_decoder", {})
    special_ids = [index for index, token in added.items() if token.special]
    special_ids += getattr(tokenizer, "all_special_ids", ())
    special = {
        side: np.isin(inputs[name][0].cpu().numpy(), special_ids) for side, name in names.items() if name in inputs
    }
    if messages is not None:
        of_template = template_tokens(tokenizer, messages)
        next(iter(special.values()))[: len(of_template)] |= of_template
    return {side: flags for side, flags in special.items() if flags.any()}


def _spans(tokenizer: Any, messages: Messages, text: str) -> list[tuple[int, int]] | None:
    """Where each content begins and ends in a chat text; None where the template writes contents in another way."""
    pieces = _PLACEHOLDERS.split(_rendered(tokenizer, _with_placeholders(messages)))
    spans = []
    place = 0
    for piece, number in zip(pieces[::2], [*pieces[1::2], None]):
        place += len(piece)
        content = messages[int(number)]["content"] if number is not None else ""
        if not text.startswith(content, place):  # most templates take the spaces around it off
            content = content.strip()
        spans.append((place, place + len(content)))
        place += len(content)
    return spans if place == len(text) else None


def _with_placeholders(messages: Messages) -> Messages:
    return [{**message, "content": _PLACEHOLDER.format(number)} for number, message in enumerate(messages)]


def _rendered(tokenizer: Any, messages: Messages) -> str:
    is_answered = messages[-1]["role"] == "assistant"
    try:
        return tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=not is_answered)
    except Exception as error:  # a template is a program of others
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise Problem("the chat template of this model refuses the messages: {reason}", reason=reason[0]) from None

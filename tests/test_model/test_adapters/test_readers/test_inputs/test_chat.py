"""Turns of a chat: what is read against the tokenizer's own template, what is written against plain transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from model import attach
from model.adapters.readers.reader import Reader
from tests.support import architectures, chats
from tests.test_model.test_adapters.test_readers.test_reader import close, outputs_of

USER = [{"role": "user", "content": "  Hi, who? "}]
SEVERAL = [
    {"role": "system", "content": "user"},  # as the template writes its own words
    {"role": "user", "content": "user"},
    {"role": "assistant", "content": "Me."},
    {"role": "user", "content": "Hi, who?"},
]
ANSWERED = [*USER, {"role": "assistant", "content": "Me."}]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return attach(chats.model_of(), chats.tokenizer_of())


def ids_of(messages: list[dict[str, str]], goes_on: bool = True) -> torch.Tensor:
    """The ids that the tokenizer of transformers makes of messages by itself."""
    options: Any = {"return_tensors": "pt", "return_dict": True, "tokenize": True}
    return chats.tokenizer_of().apply_chat_template(messages, add_generation_prompt=goes_on, **options)["input_ids"]


@pytest.mark.parametrize(("messages", "goes_on"), [(USER, True), (SEVERAL, True), (ANSWERED, False)])
def test_a_chat_is_read_as_its_template_writes_it(
    reader: Reader, messages: list[dict[str, str]], goes_on: bool
) -> None:
    result = reader.read(messages=messages)
    ids = ids_of(messages, goes_on)
    assert torch.equal(result.inputs["input_ids"], ids)
    eager = outputs_of(chats.model_of("eager"), {"input_ids": ids})
    close(result.logits, eager["logits"])
    close(result.attention("decoder_self"), eager["all"])


def spelt(result: Any, flags: np.ndarray) -> str:
    """The tokens under flags as one text."""
    tokens = [token for token, flag in zip(result.target_tokens, flags, strict=True) if flag]
    return "".join(tokens).replace("▁", " ").replace("<0x0A>", "\n")


@pytest.mark.parametrize(
    ("messages", "of_template"),
    [
        (USER, "<|im_start|>system\nBe kind<|im_end|>\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n"),
        (
            SEVERAL,
            "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
            "<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n",
        ),
    ],
)
def test_tokens_of_the_template_are_special(reader: Reader, messages: list[dict[str, str]], of_template: str) -> None:
    result = reader.read(messages=messages)
    special = result.special["target"]
    assert spelt(result, special) == of_template
    assert spelt(result, ~special) == "".join(message["content"].strip() for message in messages)
    assert (result.recording().special["target"] == special).all()


def test_special_tokens_of_a_text_are_those_of_the_tokenizer(reader: Reader) -> None:
    result = reader.read("a<|im_end|>b")
    assert result.target_tokens == ["a", "<|im_end|>", "b"]
    assert result.special["target"].tolist() == [False, True, False]
    assert not reader.read("ab").special


def test_an_answer_is_what_transformers_generates(reader: Reader) -> None:
    ids = ids_of(USER)
    plain = chats.model_of().generate(ids, max_new_tokens=6, do_sample=False)[0]
    result = reader.generate(messages=USER, tokens=6)
    assert result.inputs["input_ids"][0].tolist() == plain.tolist()
    special = result.special["target"]
    assert len(special) == len(plain) and special[ids.size(1) - 1]
    assert special[ids.size(1) :].tolist() == [index in (0, 1, 2) for index in plain[ids.size(1) :].tolist()]
    answer = reader.write(messages=USER, tokens=6, temperature=0)
    assert answer == chats.tokenizer_of().decode(plain[ids.size(1) :], skip_special_tokens=True)
    assert reader.distribution(messages=USER).argmax() == plain[ids.size(1)]


def test_a_template_that_changes_contents_marks_the_tokens_of_the_tokenizer_alone() -> None:
    template = chats.TEMPLATE.replace("| trim", "| upper")
    reader = attach(chats.model_of(), chats.tokenizer_of(template))
    result = reader.read(messages=[{"role": "user", "content": "ß"}])  # whose upper case is longer
    flags = result.special["target"]
    assert spelt(result, flags) == "".join(["<|im_start|>", "<|im_end|>"] * 2 + ["<|im_start|>"])


class TestRefusals:
    @pytest.mark.parametrize(
        ("messages", "words"),
        [
            ([], "must be a list such as"),
            ("Hi", "must be a list such as"),
            ({"role": "user", "content": "Hi"}, "must be a list such as"),
            (["Hi"], "got 'Hi' in it"),
            ([{"role": "user"}], "got {'role': 'user'} in it"),
            ([{"role": "user", "content": 3}], "must be a list such as"),
            ([{"role": "user", "content": " "}], "nothing to read"),
            ([*USER, {"role": "system", "content": "Hi"}], "refuses the messages: System message first"),
            ([{"role": "user", "content": "a" * 300}], "tokens; at most 256 are allowed"),
            ([{"role": "user", "content": "a" * 5000}], "at most 4,000 are allowed"),
        ],
    )
    def test_malformed_messages_are_one_sentence(self, reader: Reader, messages: Any, words: str) -> None:
        for read in (reader.read, reader.generate, reader.write, reader.distribution):
            with pytest.raises(ValueError, match=words) as error:
                read(messages=messages)
            assert "\n" not in str(error.value)

    def test_a_message_that_the_template_leaves_out(self) -> None:
        template = "{% for message in messages if message['role'] == 'user' %}{{ message['content'] }}{% endfor %}"
        reader = attach(chats.model_of(), chats.tokenizer_of(template))
        assert reader.read(messages=USER).text == USER[0]["content"]
        with pytest.raises(ValueError, match="leaves out a message of 'system'"):
            reader.read(messages=SEVERAL)

    @pytest.mark.parametrize("template", ["{{ messages[3]['content'] }}", "{% if %}", "{{ 1 / 0 }}"])
    def test_a_broken_template(self, template: str) -> None:
        reader = attach(chats.model_of(), chats.tokenizer_of(template))
        with pytest.raises(ValueError, match="refuses the messages"):
            reader.read(messages=USER)

    def test_a_model_without_a_template(self) -> None:
        for tokenizer in (chats.tokenizer_of(None), architectures.Numbers()):
            reader = attach(chats.model_of(), tokenizer)
            assert not reader.has_chat
            with pytest.raises(ValueError, match="no chat template"):
                reader.read(messages=USER)

    def test_a_text_and_messages(self, reader: Reader) -> None:
        with pytest.raises(ValueError, match="give a text, messages, or the tensors"):
            reader.read("Hi", messages=USER)

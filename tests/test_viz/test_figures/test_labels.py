"""Token text: what is drawn is what the token is, and what cannot be seen is written out."""

import html

import numpy as np
import pytest

from viz.figures import labels, values_heatmap


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("", "∅"),
        ("\t", "␉"),
        ("\n", "␊"),
        ("\r\n", "␍␊"),
        ("<0x0A><0x0A>", "␊␊"),  # bytes of byte-level vocabularies
        ("<0x85>", "<0x85>"),  # a part of a character
        ("\x00", "␀"),
        ("\x7f", "␡"),
        ("\x85", "[U+0085]"),
        (" ", "␣"),
        (" the", "␣the"),
        ("the ", "the␣"),
        ("a b", "a b"),
        ("a  b", "a␣␣b"),
        ("\u00a0", "[U+00A0]"),
        ("\u200b", "[U+200B]"),
        ("\ufeff", "[U+FEFF]"),
        ("x\u202ey", "x[U+202E]y"),
        ("\ud800", "[U+D800]"),
        ("a\u200db", "a[U+200D]b"),
        ("\u200d", "[U+200D]"),
        ("می‌خواهم", "می‌خواهم"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("\ufe0f", "[U+FE0F]"),
        ("\u0301e", "◌\u0301e"),
        ("▁ein", "▁ein"),
    ],
)
def test_the_invisible_is_written_out(token, text):
    assert labels.visible(token) == text


@pytest.mark.parametrize("token", ["<s>", "</s>", "<b>", "&amp;", "&quot;", '"', "'", "%{z}", "$5$", "<a href='x'>"])
def test_escaping_leaves_nothing_that_plotly_reads(token):
    escaped = labels.escape(token)
    assert not set("<>$") & set(escaped)
    assert "&quot;" not in escaped.replace("&amp;quot;", ""), "Plotly does not decode &quot;"
    assert html.unescape(escaped) == token


@pytest.mark.parametrize(
    ("token", "tick"),
    [
        ("a" * 14, "a" * 14),
        ("a" * 15, "a" * 13 + "…"),
        ("字" * 7, "字" * 7),
        ("字" * 8, "字" * 6 + "…"),
        ("<" * 20, "&lt;" * 13 + "…"),
        ("👩‍👩‍👧" * 3, "👩‍👩‍👧" * 2 + "…"),
    ],
)
def test_ticks_are_cut_by_width_before_escaping_and_never_inside_a_sign(token, tick):
    assert labels.tick_text(token) == tick


def test_a_mark_stays_with_its_letter():
    assert labels.tick_text("e\u0301" * 20) == "e\u0301" * 13 + "…"


def test_only_right_to_left_text_is_isolated():
    assert labels.hover_text("שלום", 3) == "3 “\u2068שלום\u2069”"
    assert labels.hover_text("مرحبا", 0) == "0 “\u2068مرحبا\u2069”"
    assert labels.hover_text("<s>", 0) == "0 “&lt;s&gt;”"


@pytest.mark.parametrize(("n", "most", "step"), [(1, 32, 1), (32, 32, 1), (33, 32, 2), (65, 32, 4), (256, 16, 16)])
def test_tick_steps(n, most, step):
    assert labels.tick_step(n, most) == step


def test_fewer_numbers_where_there_is_less_room():
    figure = values_heatmap(np.zeros((2, 512), np.float32), ["a", "b"], most_labels=4)
    assert list(figure.layout.xaxis.ticktext) == ["0", "128", "256", "384"]


def byte_tokens(text):
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@pytest.mark.parametrize("sign", ["é", "ß", "語", "👍", "👍🏽", "👩‍👩‍👧", "☀\ufe0f", "🇩🇪", "e\u0301"])
def test_bytes_of_a_whole_sign_are_named_by_it(sign):
    spelt = byte_tokens(sign) if sign != "e\u0301" else byte_tokens("x" + sign)[1:]
    names = [f"{sign} {number}/{len(spelt)}" for number in range(1, len(spelt) + 1)]
    assert labels.spell_bytes(["▁", *spelt, *spelt, "▁is"]) == ["▁", *names, *names, "▁is"]


@pytest.mark.parametrize(
    ("tokens", "names"),
    [
        (["<0x24>", "5"], ["$", "5"]),
        (["<0x0A>", "<0x00>"], ["<0x0A>", "<0x00>"]),
        (["<0xF0>", "<0x9F>", "<0x91>"], ["<0xF0>", "<0x9F>", "<0x91>"]),
        (["<0xC3>", "a", "<0xA9>"], ["<0xC3>", "a", "<0xA9>"]),
        (["<0x9F>", *byte_tokens("é"), "<0xC3>"], ["<0x9F>", "é 1/2", "é 2/2", "<0xC3>"]),
        (byte_tokens("🇩🇪🇫🇷")[:12], [*(f"🇩🇪 {n}/8" for n in range(1, 9)), *(f"🇫 {n}/4" for n in range(1, 5))]),
        (["<s>", "▁a", ""], ["<s>", "▁a", ""]),
        ([], []),
    ],
)
def test_what_is_no_whole_sign_stays_in_bytes(tokens, names):
    assert labels.spell_bytes(tokens) == names

"""One mask as libraries take it, and the lines that apply it."""

import streamlit as st

from viz.pages.masks.compared import Compared
from viz.text.language import say
from viz.text.words_masks import CONVENTIONS, FLEX, code, flex_code
from viz.ui import frame


def show_conventions(compared: Compared) -> None:
    """One mask as libraries take it, and the lines that apply it."""
    frame.picture_title("F.scaled_dot_product_attention", small=say(CONVENTIONS["keep"][0]), tag="code")
    st.code(code(compared.mask, "keep"), language="python", wrap_lines=True)
    frame.picture_title("FlexAttention", small=say(FLEX), tag="code")
    st.code(flex_code(compared.mask), language="python", wrap_lines=True)
    for convention in ("additive", "blocked", "integers"):
        name, users, _ = CONVENTIONS[convention]
        frame.picture_title(say(name), small=say(users))
        st.code(code(compared.mask, convention), language="python", wrap_lines=True)

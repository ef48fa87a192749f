"""All heads by what they do over thousands of texts, and one of them: a browser draws it."""

from collections.abc import Mapping
from typing import Any

from viz.pages.atlas import over_texts
from viz.ui import sheets
from viz.views.results.corpus_results import Corpus


def show(corpus: Corpus, views: Mapping[str, str], text: Any) -> None:
    """Draw an index.

    Args:
        views: the names of the parts of the page by code, in English; Streamlit draws those other than "texts".
        text: of the visitor, as an index has texts; None without one.
    """
    sheets.show(
        over_texts,
        over_texts.told(corpus, views, text),
        leaves={"part": [code for code in views if code != "texts"]},
        keeps=("kind", "layer", "head"),
        asks=over_texts.asks_of(corpus, text),
    )

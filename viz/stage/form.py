"""The options of the maps as data, which the browser shows as a form."""

from collections.abc import Mapping

from viz.text.language import message, say
from viz.views.view import OVER, SUMMARIES, View

_ROWS = {"predicted": message("word being written"), "read": message("word just read")}


def form(view: View, named: bool) -> list[dict]:
    """The options as they are chosen; `named`: it is known both what the step of a row read and what it predicted."""
    summary = say("A summary is not a real head: no single head may look like it.")
    words = say("Attention to a word is the sum over its tokens, attention from a word the mean over its tokens.")
    hide = say("Leaves out the start and end tokens; the rest is not rescaled.")
    stretch = say("Ends the colours at the largest weight of each map instead of 1.")
    share = say("At 90 %, each row shows only its largest weights that together hold 90 % of it.")
    several = view.summary != "single"
    fields = [
        field("choice", "summary", say("Show"), view.summary, summary, options=SUMMARIES),
        field("choice", "over", say("Summarised over"), view.over, options=OVER, enabled=several),
        field("choice", "rows", say("Rows are named by"), view.rows, options=_ROWS),
        field("switch", "words", say("Words instead of subwords"), view.words, words),
        field("switch", "hide", say("Hide special tokens"), view.hide, hide),
        field("switch", "stretch", say("Stretch colours"), view.stretch, stretch),
        field("range", "share", say("Largest weights of a row"), view.share, share, low=50, high=100),
    ]
    return [one for one in fields if named or one["name"] != "rows"]


def field(
    kind: str, name: str, label: str, value: object, help: str = "", options: Mapping[str, str] = {}, **more: object
) -> dict:
    """A control, as menus.js shows it: its name in the address, label and help as they are said, options in English."""
    if options:
        more["options"] = [[code, say(text)] for code, text in options.items()]
    value = str(int(value)) if isinstance(value, bool) else value
    return {"type": kind, "name": name, "label": label, "value": value, "enabled": True, "help": help} | more

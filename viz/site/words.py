"""What a page without a server says beside the stage, by name."""

from collections.abc import Mapping
from typing import Any

from model.experiments.text_pairs import PAIRS
from viz.stage import words as stage_words
from viz.text.language import message, messages, say
from viz.text.words import BEAMS, EXAMPLES, LANGUAGES

WORDS = messages(
    # The row above the stage.
    translate="Translate",
    steer="Steer",
    compare="Compare",
    lessons="Lessons",
    masks="Masks",
    positions="Positions",
    training="Warm-up",
    atlas="Head atlas",
    pages="Pages",
    documents="Documents",
    language="Language",
    theme="Light or dark",
    sentence_in="{language} sentence",
    hint="Type a sentence to translate it",
    examples="Examples",
    search="Model and search",
    model="Model",
    beam="Beam width",
    beam_of="beam {width}",
    about_search=(
        "Greedy takes the likeliest token at every step. A beam of 4 keeps the four best beginnings until the end."
    ),
    penalty="Length penalty",
    about_penalty=(
        "Divides the log-probability of a translation by ((5 + length) / 6)^α: large values prefer long ones."
    ),
    forced="Read a reference instead",
    about_forced="Teacher forcing: each step reads the reference that you type instead of what the model wrote.",
    reference="Reference",
    # While the model comes, and where it cannot.
    model_loads="Loading the model … {received:.1f} of {total:.1f} MB. Until then you see a recorded sentence.",
    other_loads="Loading the model … {received:.1f} of {total:.1f} MB.",
    not_loaded="The model could not be loaded. Please reload the page.",
    not_fetched="The lessons could not be loaded. Please reload the page.",
    sheet_not_fetched="The page could not be computed or loaded. Please reload it.",
    loading="Loading",
    computing="Computing …",
    not_computed="Something went wrong while this was computed. Please reload the page.",
    only_app="This goes on in the app: make run.",
    # What is said of an answer.
    length_limit="The translation stopped at the length limit.",
    by_reference="Teacher-forced with this reference; on its own the model may write something else.",
    showing_example="Showing the example.",
    showing_last="Showing the last one that worked.",
    showing_plain="Showing the sentence without changes.",
    wrong_link="This file or link cannot be used.",
    nothing_changed="Nothing is changed.",
    missed="This link asks for something missing ({parts}). Showing the default instead.",
    # Changes.
    kind_cross="cross",
    kind_encoder_self="encoder",
    kind_decoder_self="decoder",
    chip_o="{kind} {layer}.{head} off",
    chip_u="{kind} {layer}.{head} uniform",
    chip_f="step {step} attends to “{key}” × {strength:g}, {heads}",
    chip_fe="“{query}” attends to “{key}” × {strength:g}, {heads}",
    chip_b="{kind} “{query}” → “{key}” blocked",
    chip_a="{kind} “{query}” → “{key}” open",
    chips_b="{n} mask cells blocked",
    chips_a="{n} mask cells open",
    heads_named="head {head}",
    all_heads="all heads",
    locked="locked up to “{token}” (step {n})",
    positions_scaled="positions × {scale:g}",
    positions_off="positions off",
    positions_shifted="positions + {shift}",
    scale="Scale",
    shift="Shift",
    within="in",
    about_moved="Scale and shift the encodings that are added to the embeddings.",
    both="encoder and decoder",
    encoder="encoder",
    decoder="decoder",
    as_probable="The old translation is about as probable as before.",
    more_probable="The old translation is {factor} times more probable.",
    less_probable="The old translation is {factor} times less probable.",
    factor_small="{x:.1f}",
    factor_large="{x:.0f}",
    opens_future=(
        "This mask opens the future: with teacher forcing a model could copy what it should predict. While it writes, "
        "later tokens do not exist yet, so nothing changes."
    ),
    dropped="Changes that named words of “{sentence}” were dropped.",
    undo="Undo these changes",
    no_circuit=(
        "Circuits are computed by the app and by the command `python -m model circuit`, not by this page, which has no "
        "server."
    ),
    # Beside each other.
    differs="What differs",
    by_sentence="Sentences",
    by_model="Models",
    by_search="Searches",
    sentence_b="Sentence B",
    model_b="Model B",
    search_b="Search of B",
    pairs="{n} pairs to choose from",
    log_probability="log-probability {number:.2f}",
    same="Nothing differs yet: change sentence, model or search of B.",
    other_heads="Heads of different models do not correspond: head 3 in A is unrelated to head 3 in B.",
    other_languages="A translates {a}, B {b}: one of them reads a language it was not trained on.",
)
# A problem that only the engine in the browser has, in the words that stand there.
NO_CUTS = message("pages without a server cannot cut a path: open the link in the app")
SOURCE = message("Source")  # where the card of a model does not name its language


def catalogue() -> dict[str, Mapping[str, Any]]:
    """Every sentence of the page in the language of here: those of the stage in its two forms, and of the page."""
    names = WORDS | {f"beam_{width}": text for width, text in BEAMS.items()}
    names |= {f"example_{number}": name for number, name in enumerate(EXAMPLES)}
    names |= {f"pair_{number}": pair.title for number, pair in enumerate(PAIRS)}
    names |= {f"language_{code}": name for code, name in LANGUAGES.items()} | {"language_": SOURCE}
    return {
        "stage": stage_words.forms(),
        "page": {name: say(text) for name, text in names.items()},
    }

"""What one head has at the places of many texts, on two principal components, and the text of one point."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.interventions.edits import Head
from model.measures.corpus import points
from model.measures.corpus.points import HeadPoints, Plane
from viz.figures import scatter
from viz.pages.atlas.contents import row_payload
from viz.stage.payload import head_rows
from viz.text.language import message, messages, say
from viz.ui.plot import plot
from viz.views import codes, recipes
from viz.views.results import corpus_results
from viz.views.results.corpus_results import Corpus
from viz.views.results.indexed_heads import RULES, rule_name
from viz.views.snippets import Code, Origin, Plot, program, snippet

SIDES = messages(outputs="outputs", queries="queries", keys="keys")
COLOURS = {"class": message("token class")} | messages(position="position", rule="rule")
CLASSES = {
    "special token": message("special token"),
    "punctuation": message("punctuation"),
    "inside a word": message("inside a word"),
    "number": message("number"),
    "capital": message("with a capital"),
    "other token": message("other token"),
    "other rules": message("other rules"),
}
NAMED = 4  # rules with a colour of their own
LEAST = 240  # pixels of the picture in a low window
UNDER = 104  # pixels for what stands below the picture
AXES = message("component 1"), message("component 2")
ABOUT = message(
    "{n:,} places in {texts:,} texts. The two principal components hold {first:.0%} and {second:.0%} of the variance. "
    "Click a point to see its text."
)
CODE = """
from model.interventions.edits import Head
from model.measures.corpus import index, points
from viz.figures import scatter

every = $texts
texts = [every[place] for place in points.sample(every)[::$step]]
head = Head($kind, $layer, $head)
rows = points.read_head(translator, texts, head)[$side]
coordinates = points.plane(rows.vectors).coordinates.T
groups = points.groups(rows, $colour, $rules, $named)
clouds = {name: coordinates[:, chosen] for name, chosen in groups.items()}
figure = scatter(clouds, x_axis=$x, y_axis=$y)
figure.show()
"""
READERS: dict[str, codes.Reader] = {
    "points-of": codes.one_of(SIDES),
    "points-colour": codes.one_of(COLOURS),
    "point": codes.number(0, 10**9),
}


@dataclass(frozen=True)
class Cloud:
    """The points of one side of a head: their texts, vectors and plane, and what their colours say."""

    corpus: Corpus
    head: Head
    side: str
    colour: str
    step: int  # of which part of the texts they are: every n-th
    texts: list[Any]
    of_head: HeadPoints
    plane: Plane

    @property
    def rules(self) -> list[str]:
        """The rules that can hold of a row."""
        return self.corpus.report["kinds"][self.head.kind]["rules"]

    @property
    def named(self) -> list[str]:
        """The rules with a colour of their own."""
        return [rule for rule, *_ in self.corpus.explained("weight", self.head) if rule is not None][:NAMED]

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """The numbers of the points of each colour, by its name."""
        groups = points.groups(self.of_head, self.colour, self.rules, self.named)
        return {name_of(name): chosen for name, chosen in groups.items()}


def cloud_of(corpus: Corpus, head: Head, asked: Mapping[str, str]) -> Cloud:
    """The points that parameters of an address choose; a ValueError where a text cannot be read."""
    chosen, _ = codes.read(asked, READERS)
    side = chosen.get("points-of", next(iter(SIDES)))
    colour = chosen.get("points-colour", next(iter(COLOURS)))
    if side == "keys" and colour == "rule":  # which holds of rows
        colour = next(iter(COLOURS))
    every = corpus.report["texts"]
    step = corpus_results.step_of_points(corpus)
    texts = [every[place] for place in points.sample(every)[::step]]
    of_head = corpus_results.points_of(corpus.model, texts, head)[side]
    return Cloud(corpus, head, side, colour, step, texts, of_head, points.plane(of_head.vectors))


def payload(corpus: Corpus, head: Head, asked: Mapping[str, str]) -> dict[str, Any]:
    """The figure, what is said of it, and the text of the point of the address; errors as in `cloud_of`."""
    cloud = cloud_of(corpus, head, asked)
    drawn = plot.payload(_figure(cloud), clicks=True, fills=(LEAST, UNDER, 1.0))
    chosen, _ = codes.read(asked, READERS)
    number = chosen.get("point")
    of_head = cloud.of_head
    first, second = cloud.plane.shares
    n_texts = len(set(of_head.texts.tolist()))
    name = repr((corpus.model, head, cloud.side, cloud.colour, corpus.report["texts_read"], say(AXES[0])))
    return {
        "figure": drawn | {"stamp": hashlib.blake2b(name.encode(), digest_size=8).hexdigest()},
        "note": say(ABOUT, n=len(of_head.places), texts=n_texts, first=first, second=second),
        "row": None if number is None or number >= len(of_head.places) else row_of(cloud, number),
    }


def plots(corpus: Corpus, head: Head, asked: Mapping[str, str], origin: Origin) -> dict[str, Plot]:
    """The picture "corpus-points"; errors as in `cloud_of`."""
    cloud = cloud_of(corpus, head, asked)
    texts = Code('index.read(translator.folder)["texts"]') if corpus.texts is None else corpus.report["texts"]
    values = {"kind": head.kind, "layer": head.layer, "head": head.head, "side": cloud.side, "colour": cloud.colour}
    values |= {"step": cloud.step, "rules": cloud.rules, "named": cloud.named, "x": AXES[0], "y": AXES[1]}
    code = program(recipes.load_code(corpus.model), snippet(CODE, texts=texts, **values))
    return {"corpus-points": Plot(say(SIDES[cloud.side]), origin.note, _figure(cloud), code)}


def _figure(cloud: Cloud):
    groups = cloud.groups
    tokens = cloud.of_head.tokens
    return scatter(
        {name: cloud.plane.coordinates[chosen].T for name, chosen in groups.items()},
        x_axis=AXES[0],
        y_axis=AXES[1],
        places={name: [[int(point)] for point in chosen] for name, chosen in groups.items()},
        texts={name: list(map(head_rows.plain, tokens[chosen])) for name, chosen in groups.items()},
        say=say,
    )


def name_of(group: str) -> str:
    """What a group of points is called."""
    if group in CLASSES and group not in RULES:
        return say(CLASSES[group])
    if group == "no rule":
        return rule_name(None)
    return rule_name(group) if group in RULES else group


def row_of(cloud: Cloud, number: int) -> dict[str, Any]:
    """The text of a point, and where it opens on the stage."""
    corpus, head, of_head = cloud.corpus, cloud.head, cloud.of_head
    text, place = cloud.texts[of_head.texts[number]], int(of_head.places[number])
    key = int(of_head.keys[number])
    if cloud.side == "keys" and head.kind == "cross":
        page, query = head_rows.address(corpus, head, text, place)
        _, tokens = corpus.lines(text, head.kind)
        pieces = head_rows.shaded(tokens, {}, place, None)
        row = head_rows.TextRow(pieces, page, query | {"pin": f"s{place}"})  # of the source
    else:
        row = head_rows.text_row(corpus, head, text, place, {key: float(of_head.weights[number])} if key >= 0 else {})
    return row_payload(row) | {"label": say("{token}, on the stage", token=head_rows.plain(of_head.tokens[number]))}

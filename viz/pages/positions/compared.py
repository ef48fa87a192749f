"""Two encodings beside each other: their difference, the similarity of positions, their wavelengths."""

import numpy as np

from viz.figures import offset_lines, positional_heatmap, similarity_heatmap, wavelength_lines
from viz.pages.positions.encoding import Encodings
from viz.pages.positions.page import Choice
from viz.text.language import message, say
from viz.text.words_positions import OF_TABLES, RELATIVE
from viz.views.results import position_results
from viz.views.snippets import Code, Plot, program, snippet

DIFFERENCE = """
from viz.figures import positional_heatmap
figure = positional_heatmap(first - second, value=$value)
figure.show()
"""
SIMILARITY = """
import model.analysis.maps as analysis
from viz.figures import similarity_heatmap

products, _ = analysis.by_offset($table)
figure = similarity_heatmap(products)
figure.show()
"""
OFFSETS = """
import model.analysis.maps as analysis
import numpy as np
from viz.figures import offset_lines

means = np.stack([analysis.by_offset(table)[1].means for table in $tables])
figure = offset_lines(means, $names)
figure.show()
"""
WAVELENGTHS = """
import numpy as np
from model.positional import frequencies
from viz.figures import wavelength_lines

waves = np.stack([2 * np.pi / frequencies(name, $d_model).numpy() for name in $encodings])
figure = wavelength_lines(waves, $names)
figure.show()
"""


def difference(choice: Choice) -> dict[str, Plot]:
    """One encoding minus the other, and both; none where the first has no table."""
    if choice.first in RELATIVE:
        return {}
    encodings = Encodings(choice, "first", "second")
    value = message("difference")
    origin = encodings.origin
    figure = positional_heatmap(encodings.tables["first"] - encodings.tables["second"], value=value, say=say)
    code = program(origin.code, snippet(DIFFERENCE, value=value))
    plot = Plot(say(OF_TABLES["difference_title"]), origin.note, figure, code)
    return {"table-difference": plot} | encodings.plots("first", "second")


def similarity(choice: Choice) -> dict[str, Plot]:
    """Dot products of all pairs of positions in both, and their means by offset; as for `difference`."""
    if choice.first in RELATIVE:
        return {}
    encodings = Encodings(choice, "first", "second")
    plots = {}
    means = []
    origin = encodings.origin
    for place, name in encodings.codes.items():
        products, by_offset = position_results.similarity(name, encodings.n_positions, encodings.d_model)
        means.append(by_offset.means)
        title = say("Similarity of positions: {name}", name=encodings.names[place])
        code = program(origin.code, snippet(SIMILARITY, table=Code(place)))
        plots[f"similarity-{place}"] = Plot(title, origin.note, similarity_heatmap(products, say=say), code)
    names = list(encodings.legends.values())
    code = program(origin.code, snippet(OFFSETS, tables=[Code(place) for place in encodings.codes], names=names))
    figure = offset_lines(np.stack(means), names, say=say)
    return plots | {"offset": Plot(say(OF_TABLES["similarity_title"]), origin.note, figure, code)}


def wavelengths(choice: Choice) -> dict[str, Plot]:
    """How many positions the dimensions of both need for one wave; none where neither has waves."""
    if choice.first in RELATIVE:
        return {}
    encodings = Encodings(choice, "first", "second")
    waves = {place: position_results.wavelengths(name, encodings.d_model) for place, name in encodings.codes.items()}
    waves = {place: wave for place, wave in waves.items() if wave is not None}
    if not waves:
        return {}
    names = [encodings.legends[place] for place in waves]
    figure = wavelength_lines(np.stack(list(waves.values())), names, say=say)
    names_of_encodings = [encodings.codes[place] for place in waves]
    code = program(snippet(WAVELENGTHS, d_model=encodings.d_model, encodings=names_of_encodings, names=names))
    return {"wavelengths": Plot(say(OF_TABLES["wavelengths_title"]), encodings.origin.note, figure, code)}

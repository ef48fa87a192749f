"""Peak times warmup: what the learning rate of the first steps does to a run."""

from model.training.sweeps.grid import NORMS, PEAKS, WARMUPS, GridCell, lines_of
from viz.figures import Figure
from viz.figures import curves as draw_curves
from viz.pages.lessons.card import Figures, State, Story, card, picks
from viz.text.language import message, say
from viz.views.results.grid_results import board, curves, load, name_of, table
from viz.views.snippets import Plot

MOST = 3
POST = ("post",)
CORNERS = [GridCell("post", peak, warmup) for peak in (PEAKS[1], PEAKS[-1]) for warmup in (WARMUPS[0], WARMUPS[-1])]
GOOD = GridCell("post", 0.005, 400)
BAD = GridCell("post", 0.1, 400)
DECENT = GridCell("post", 0.005, 1)


def _end(cell: GridCell) -> float:
    return load().runs[cell].final


def _highest(norm: str = "post") -> list[float]:
    return list(map(_end, table([norm])[0]))


def _schedules(*cells: GridCell) -> Figure:
    rates, _ = lines_of({name_of(cell): load().runs[cell] for cell in cells})
    return draw_curves(rates, y_axis=message("learning rate"), log_y=True, say=say)


def _every() -> dict[tuple[int, int], GridCell]:
    return {(i, j): cell for i, row in enumerate(table(POST)) for j, cell in enumerate(row)}


def _compared(answered: bool) -> Plot:
    return board(POST, list(_every().values()))


def _clicks(answered: bool) -> State:
    cells = _every()
    lines = None
    if answered:
        lines = curves(cells.values())
        lines.figure.layout.margin.t = curves(list(cells.values())[:MOST]).figure.layout.margin.t
    runs = list(cells.values())
    return picks(list(cells), [runs.index(GOOD), runs.index(BAD)], MOST, lines)


STORY = Story(
    "Peak × warmup",
    "How high the learning rate may go, and how slowly it has to get there.",
    "Vaswani et al. 2017, 5.3 · Xiong et al. 2020",
)


@card(
    "16 small post-norm translators, trained for 1,000 steps on image captions. Only the learning rate differs: four "
    "peaks, each with four warmups.",
    "Which runs learn nothing?",
    ("All without warmup", "All with the highest peak", "Only the highest peak without warmup"),
    "With the peak 0.1 all end at {low:.2f} or above; word frequencies alone give {entropy:.2f}.",
    "Without any warmup a peak of 0.005 learns ({good:.2f}).",
    Figures(lambda answered: board(POST, table(POST)[0]) if answered else _schedules(*CORNERS), "training"),
    right=1,
)
def fails() -> dict:
    return {"low": min(_highest()), "entropy": load().entropy, "good": _end(DECENT)}


@card(
    "The loss at the end of all 16 runs; dark has learned nothing. Once you have guessed, click cells to draw their "
    "rate and loss.",
    "What does a failed run still know?",
    ("Nothing at all", "How often each word occurs", "Short sentences, but no long ones"),
    "Word frequencies alone give a loss of {entropy:.2f}, or the flat line with label smoothing.",
    "The failed run ends at {bad:.2f}, the one that learns at {good:.2f}.",
    Figures(_compared, "training", shares=(0.4, 1.0), clicks=_clicks),
    right=1,
)
def floor() -> dict:
    return {"entropy": load().entropy, "bad": _end(BAD), "good": _end(GOOD)}


@card(
    "The same peak of 0.005, without warmup and with 400 steps. One of the two translates “A man in a blue shirt is "
    "playing the guitar.” as “Ein Mann in einem Hemd in einem Hemd in einem Hemd …”",
    "Which of the two wrote that?",
    ("Without warmup", "With 400 steps of warmup"),
    "Without warmup it learns, but ends at {some:.2f} instead of {good:.2f}.",
    "With warmup it writes “{warm}” Warmup helps; it does not decide whether this run learns at all.",
    Figures(lambda answered: curves([DECENT, GOOD]) if answered else _schedules(DECENT, GOOD), "training"),
    right=0,
)
def wrote() -> dict:
    warm = list(load().runs[GOOD].texts.values())[-1][0]
    return {"some": _end(DECENT), "warm": warm, "good": _end(GOOD)}


@card(
    "All this was post-norm, as in the paper: the norm follows each sublayer. Pre-norm puts it before. The top row, "
    "the highest peak, has failed with every warmup.",
    "Does pre-norm learn with that peak?",
    ("Yes, somewhat", "No, it fails as well", "Only with warmup"),
    "{low:.2f} to {high:.2f}, below {entropy:.2f}; post-norm ended at {post:.2f} or above.",
    "In the paper's formula a shorter warmup also means a higher peak; only a grid tells the two apart. Each cell is "
    "one run.",
    Figures(lambda answered: board(NORMS if answered else POST, table(["pre"])[0]), "training"),
    right=0,
)
def norms() -> dict:
    pre, post = _highest("pre"), _highest()
    return {"low": min(pre), "high": max(pre), "post": min(post), "entropy": load().entropy}

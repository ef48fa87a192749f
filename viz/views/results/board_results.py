"""The board of single changes since 2017: what its runs are called, its figure, and what each change is worth."""

from model.storage.checkpoint import checkpoints_folder
from model.training.sweeps.board import ALL, BEFORE, CHANGES, FILE, FOLDER, SEEDS, Board, read_board
from viz.figures import changes_by_seed
from viz.text.language import message, messages, say
from viz.views.snippets import Plot, program, snippet

NAMES = messages(
    rotary="rotary positions",
    rms_norm="RMSNorm, no biases",
    swiglu="SwiGLU",
    grouped="grouped-query attention",
)
NAMES[BEFORE] = message("as in 2017")
NAMES[ALL] = message("all of them")


PICTURE = """
from model.storage.checkpoint import checkpoints_folder
from model.training.sweeps.board import read_board
from viz.figures import changes_by_seed

board = read_board(checkpoints_folder() / $folder)
figure = changes_by_seed(board.table(), $names, $seeds, value=$value)
figure.show()
"""


def exists() -> bool:
    """Whether a board ships."""
    return (checkpoints_folder() / FOLDER / FILE).is_file()


def load() -> Board:
    """The board beside the checkpoints, which may grow while it is looked at; errors as in `read_board`."""
    return read_board(checkpoints_folder() / FOLDER)


def picture(board: Board) -> Plot:
    """The perplexities of all runs by change and seed."""
    names = [say(NAMES[change]) for change in board.changes]
    seeds = [say("seed {seed}", seed=seed) for seed in board.seeds]
    title = say("Validation perplexity, one change at a time")
    value = message("validation perplexity")
    figure = changes_by_seed(board.table(), names, seeds, value=value, say=say)
    code = snippet(PICTURE, folder=FOLDER, names=names, seeds=seeds, value=value)
    return Plot(title, board.about["command"], figure, program(code))


def answer(board: Board) -> str:
    """Which change is worth most, and by how much it is above what seeds alone do."""
    gains = {change: board.gain(change) for change in board.changes if change not in (BEFORE, ALL)}
    gains = {change: gain for change, gain in gains.items() if gain is not None}
    if not gains:
        return say("There are no two runs to compare yet.")
    best = max(gains, key=gains.__getitem__)
    noise = board.noise()
    values = {"name": say(NAMES[best]), "gain": gains[best]}
    if noise is None:
        return say("Most is gained by {name}: {gain:.1f} perplexity less. One seed: noise is not known yet.", **values)
    if gains[best] <= noise:
        return say("No single change gains more than two seeds differ by ({noise:.1f} perplexity).", noise=noise)
    line = message(
        "Most is gained by {name}: {gain:.1f} perplexity less than in 2017; two seeds differ by {noise:.1f}."
    )
    return say(line, **values, noise=noise)


def worth(board: Board) -> str:
    """What each change is worth against 2017, and which are within the noise of the seeds."""
    noise = board.noise()
    parts = []
    for change in board.changes:
        gain = board.gain(change)
        if change == BEFORE or gain is None:
            continue
        line = message("{name} {gain:+.1f}")
        if noise is not None and abs(gain) <= noise:
            line = message("{name} {gain:+.1f} (within the noise)")
        parts.append(say(line, name=say(NAMES[change]), gain=-gain))
    return " · ".join(parts)


def progress(board: Board) -> str:
    """How many runs are there, where some are missing."""
    total = len(CHANGES) * len(SEEDS)
    if len(board.runs) >= total:
        return ""
    return say("The board is not finished: {n} of {total} runs are there.", n=len(board.runs), total=total)

"""Which checkpoints there are: by name, by architecture, by direction."""

import os
from pathlib import Path

from model.checkpoint import CARD, CONFIG, read_json
from model.config import Config, GruConfig

TRANSFORMER, GRU_ATTENTION, GRU = SYSTEMS = ("transformer", "gru-attention", "gru")
Direction = tuple[str, str]


def checkpoints_folder() -> Path:
    """Where checkpoints are looked for by name: $HEADLIGHT_CHECKPOINTS, or the project's checkpoints/."""
    own = Path(__file__).resolve().parent.parent / "checkpoints"
    return Path(os.environ.get("HEADLIGHT_CHECKPOINTS") or own)


def available(architecture: str | None = None) -> list[str]:
    """The names of the checkpoints in that folder, of an architecture (those that do not say theirs, too) or all."""
    folders = sorted(path.parent for path in checkpoints_folder().glob(f"*/{CONFIG}"))
    return [path.name for path in folders if architecture is None or _architecture(path) in (architecture, None)]


def _architecture(folder: Path) -> str | None:
    try:
        return read_json(folder / CONFIG).get("architecture")
    except ValueError:
        return None


def by_direction() -> tuple[dict[Direction, list[str]], list[str]]:
    """The names of what translates by source and target language, and a sentence for each card that cannot be read."""
    found: dict[Direction, list[str]] = {}
    problems = []
    for name in available():
        folder = checkpoints_folder() / name
        try:
            if read_json(folder / CONFIG).get("architecture") == "language_model":
                continue
            card = read_json(folder / CARD)
            languages = (card.get("source"), card.get("target"))
            if not all(isinstance(language, str) and language for language in languages):
                raise ValueError(f'{folder / CARD} must name two languages, "source" and "target"')
        except ValueError as error:
            problems.append(str(error))
        else:
            found.setdefault(languages, []).append(name)
    return dict(sorted(found.items())), problems


def system_of(config: Config) -> str:
    """Which of SYSTEMS a translator is."""
    if not isinstance(config, GruConfig):
        return TRANSFORMER
    return GRU_ATTENTION if config.attention else GRU

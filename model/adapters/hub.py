"""Models of others as files in a folder: one on this machine, or fetched from the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def fetch(name: str, files: Sequence[str], revision: str | None = None) -> Path:
    """The folder with a model's files.

    Args:
        name: a folder, or the name of a model on the hub ("Helsinki-NLP/opus-mt-en-de").
        files: the names of those wanted; no other is fetched, so nothing that could run.
        revision: a branch or a commit on the hub.

    Returns:
        The folder; which of the files are in it is for the caller to check.

    Raises:
        ValueError: if there is no such model, or the hub cannot be reached; the message says what to do.
    """
    instead = f"or name a folder on this machine that holds {', '.join(files)}"
    if not name.strip():
        raise ValueError(f"name a model on the hub, {instead}")
    if Path(name).is_dir():
        return Path(name)
    import httpx
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(files)))
    except errors.HFValidationError:
        raise ValueError(
            f"there is no folder {name!r}, and no model on the hub can have that name: check it, {instead}"
        ) from None
    except errors.RevisionNotFoundError:
        raise ValueError(f"the model {name!r} has no revision {revision!r} on the hub") from None
    except errors.RepositoryNotFoundError:
        raise ValueError(f"there is no folder and no model on the hub named {name!r}: check it, {instead}") from None
    except (OSError, httpx.HTTPError):  # among them the hub's own errors: offline, not cached, refused
        raise ValueError(
            f"there is no folder {name!r}, and the hub cannot be reached: try again where there is a network, {instead}"
        ) from None

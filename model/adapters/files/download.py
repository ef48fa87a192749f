"""Fetches a model from the Hugging Face hub: a program of its own, so that it can be stopped at any moment.

    python -m model.adapters.files.download NAME [REVISION]

Only what can be read without running it is fetched, after config.json and the headers of the weights were looked at. It
goes to the cache of `huggingface_hub`, which other programs share. Each line of its output is JSON: {"done": bytes,
"total": bytes}, and at the end {"folder": path}, or {"problem": sentence, "values": what fills its places}. A download
that fails or is stopped (SIGTERM, SIGINT) takes back what it has put there.
"""

import json
import os
import shutil
import signal
import sys
import time
from logging import CRITICAL
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, errors, hf_hub_download, snapshot_download
from huggingface_hub.utils import WeakFileLock, disable_progress_bars, logging, validate_repo_id
from tqdm import tqdm

from model.adapters.files.inspection import (
    INDEX,
    OTHER_WEIGHTS,
    VOCABULARIES,
    WEIGHTS,
    no_weights,
    refuse_code,
    shards,
    size_of,
)
from model.text.errors import Phrase, Problem

CONFIG = "config.json"
SMALL = (
    CONFIG,
    "generation_config.json",
    "preprocessor_config.json",
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja"),
    *VOCABULARIES,
)
TIMEOUT = 10.0  # seconds without an answer
MOST_RESTARTS = 3  # of one download: a hub that breaks off and begins again would never end
EVERY = 0.1  # seconds between two lines
# What the library raises where the list of a model's files is a page of the web, or holds something else.
_UNLIKE_A_HUB = (json.JSONDecodeError, KeyError, TypeError, AttributeError)


class Progress:
    """Counts the bytes of all files, and prints them now and then."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.restarts = 0
        self.printed = 0.0

    def add(self, n: float) -> None:
        """Count bytes that have come, and say so from time to time."""
        self.done += int(n)
        self.restarts += n < 0  # what was fetched before is fetched again
        if self.restarts > MOST_RESTARTS:
            raise OSError("it broke off again and again")
        if self.done >= self.total or time.monotonic() > self.printed + EVERY:
            self.printed = time.monotonic()
            print(json.dumps({"done": min(self.done, self.total), "total": self.total}), flush=True)

    def bar(self) -> type[tqdm]:
        """A class of progress bars that show nothing, and count here."""
        progress = self

        class Bar(tqdm):
            def __init__(self, *_: Any, **__: Any) -> None:
                super().__init__(disable=True)

            def update(self, n: float | None = 1) -> None:
                progress.add(n or 0)

            def update_transfer(self, n: float | None = 1) -> None:  # on the way: counted when they are written
                pass

            def set_transfer_postfix_str(self, *_: Any, **__: Any) -> None:
                pass

        return Bar


def download(name: str, revision: str | None) -> Path:
    """Fetch a model, or find it in the cache where the hub cannot be reached; a Problem says why not."""
    api = HfApi()
    try:
        info = api.model_info(name, revision=revision, files_metadata=True, timeout=TIMEOUT)
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.HFValidationError):
        raise
    except Exception:  # the hub is down, or there is no network
        try:
            return Path(snapshot_download(name, revision=revision, local_files_only=True))
        except errors.LocalEntryNotFoundError:
            pass
        raise
    if not isinstance(info.sha, str):  # only lists of models leave it out
        raise TypeError("the list of files names no commit")
    commit = info.sha
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    cache = Path(constants.HF_HUB_CACHE)
    repository = f"models--{name.replace('/', '--')}"
    snapshot = cache / repository / "snapshots" / commit
    (cache / ".locks").mkdir(parents=True, exist_ok=True)
    with WeakFileLock(cache / ".locks" / f"headlight--{repository}.lock"):  # until it is whole, or gone
        was_there = snapshot.exists()
        try:
            return _fetch(api, name, commit, revision, sizes)
        except BaseException:
            if not was_there:
                _take_back(snapshot)
            raise


def _fetch(api: HfApi, name: str, commit: str, revision: str | None, sizes: dict[str, int]) -> Path:
    if CONFIG not in sizes:
        raise Problem("{name} has no {file}: it is not a model of transformers", name=name, file=CONFIG)
    config = _whole(name, CONFIG, commit)
    refuse_code(name, _json(config))
    if WEIGHTS in sizes:
        weights = [WEIGHTS]
    elif INDEX in sizes:
        weights = shards(_whole(name, INDEX, commit))
    else:
        raise no_weights(name, [file for file in sizes if Path(file).suffix in OTHER_WEIGHTS])
    headers = [api.parse_safetensors_file_metadata(name, file, revision=commit, timeout=TIMEOUT) for file in weights]
    size_of(headers).check(name)
    files = [file for file in (*SMALL, INDEX, *weights) if file in sizes and (file != INDEX or WEIGHTS not in sizes)]
    progress = Progress(sum(sizes[file] for file in files))
    for file in files:
        before = progress.done
        _whole(name, file, commit, progress.bar())
        progress.add(max(0, before + sizes[file] - progress.done))  # those that were there already
    api.resolve_revision(name, revision=revision)  # notes what it stands for, so that it is found without a network
    return config.parent


def _whole(name: str, file: str, commit: str, bar: type[tqdm] | None = None) -> Path:
    """Fetch a file, with what `bar` makes counting its bytes; returns where it is."""
    try:
        return Path(hf_hub_download(name, file, revision=commit, etag_timeout=TIMEOUT, tqdm_class=bar))
    except Exception as error:
        if isinstance(error.__cause__, errors.HfHubHTTPError):
            raise error.__cause__ from None
        of_the_disk = isinstance(error, OSError) and error.errno and error.filename
        if of_the_disk or isinstance(error, errors.HfHubHTTPError):
            raise
        raise Problem(
            "the download of {name!r} broke off before its end: try again, or fetch it by another program and name its "
            "folder",
            name=name,
        ) from error


def _json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise Problem("{file} of the model must hold a JSON object", file=path.name)
    return values


def _take_back(snapshot: Path) -> None:
    """Delete a revision of a model from the cache, and the files that no other revision uses."""
    if not snapshot.exists():
        return
    old_revisions = [revision for revision in snapshot.parent.iterdir() if revision != snapshot]
    if not old_revisions:
        shutil.rmtree(snapshot.parents[1])
        return
    files_in_use = {os.path.realpath(path) for revision in old_revisions for path in revision.iterdir()}
    for link in snapshot.iterdir():  # to the files' contents, which are kept by their hash
        if link.is_symlink() and os.path.realpath(link) not in files_in_use:
            (link.parent / link.readlink()).unlink(missing_ok=True)
    shutil.rmtree(snapshot)


def problem(name: str, revision: str | None, error: Exception) -> Phrase:
    """Say in one sentence what went wrong."""
    files = {"config": CONFIG, "weights": WEIGHTS}
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, Phrase):
        return error
    if isinstance(error, _UNLIKE_A_HUB):
        return Phrase(
            "what answers at {address} is not the Hugging Face hub: this network may want you to log in first, or "
            "HF_ENDPOINT names another server",
            address=constants.ENDPOINT,
        )
    if isinstance(error, ValueError) and not isinstance(error, errors.HFValidationError | OSError):
        return Phrase("{reason}", reason=str(error))
    if isinstance(error, errors.GatedRepoError) or status in (401, 403) and not _unknown(error):
        return Phrase(
            "the hub gives {name!r} only to logged-in users: accept the conditions at {page} and run 'hf auth login'",
            name=name,
            page=f"{constants.ENDPOINT}/{name}",
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return Phrase("the model {name!r} has no revision {revision!r} on the hub", name=name, revision=revision)
    if isinstance(error, errors.HFValidationError) or _unknown(error):
        return Phrase(
            "there is no folder and no model on the hub named {name!r}: check it, or name a folder on this machine "
            "that holds {config} and {weights}",
            name=name,
            **files,
        )
    if status is not None:
        return Phrase(
            "the hub answers with an error ({status}) when asked for {name!r}: try again later, or name a folder on "
            "this machine that holds {config} and {weights}",
            name=name,
            status=status,
            **files,
        )
    if isinstance(error, errors.SafetensorsParsingError):
        return Phrase("{name} has a damaged {file}: its header cannot be read", name=name, file=WEIGHTS)
    if isinstance(error, OSError) and error.errno and error.filename:
        return Phrase("{file} cannot be written: {reason}", file=error.filename, reason=error.strerror)
    return Phrase(
        "there is no folder {name!r}, and the hub cannot be reached: try again where there is a network, or name a "
        "folder on this machine that holds {config} and {weights}",
        name=name,
        **files,
    )


def check_name(name: str) -> None:
    """Refuse, in a Problem, a name that neither a folder on this machine nor a model on the hub can have."""
    if Path(name).is_dir():
        return
    try:
        validate_repo_id(name.partition("@")[0])
    except errors.HFValidationError as error:
        phrase = problem(name, None, error)
        raise Problem.of(phrase.template, phrase.values) from None


def _unknown(error: Exception) -> bool:
    return isinstance(error, errors.RepositoryNotFoundError) and not isinstance(error, errors.GatedRepoError)


def main(name: str, revision: str | None = None) -> None:
    """Fetch a model and print what came of it."""
    disable_progress_bars()
    logging.set_verbosity(CRITICAL)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        answer = {"folder": str(download(name, revision))}
    except Exception as error:  # of the hub, the network, the disk
        phrase = problem(name, revision, error)
        answer = {"problem": phrase.template, "values": {name: _plain(value) for name, value in phrase.values.items()}}
    print(json.dumps(answer), flush=True)


def _plain(value: object) -> object:
    """A value of a sentence as JSON has it, a text on one line."""
    return value if isinstance(value, int | float | None) else " ".join(str(value).split())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)

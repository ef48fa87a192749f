"""Models of others as files in a folder: one on this machine, or fetched from the Hugging Face hub."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

CONFIG, WEIGHTS = "config.json", "model.safetensors"
_LAYER = re.compile(r"(?:encoder\.|decoder\.)?(?:layers?|h|block)\.\d+\.")  # in the names of tensors


def fetch(name: str, files: Sequence[str], revision: str | None = None) -> Path:
    """The folder of that name on this machine, or with the files of a model on the hub, fetched.

    Only `files` are fetched, so nothing that could run; some may be missing. `revision` is a branch or a commit.
    """
    instead = f"or name a folder on this machine that holds {', '.join(files)}"
    if not name.strip():
        raise ValueError(f"name a model on the hub, {instead}")
    if Path(name).is_dir():
        return Path(name)
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(files)))
    except errors.RevisionNotFoundError:
        problem = f"the model {name!r} has no revision {revision!r} on the hub"
    except (errors.HFValidationError, errors.RepositoryNotFoundError):
        problem = f"there is no folder and no model on the hub named {name!r}: check it, {instead}"
    except Exception:  # offline, not cached, refused: errors of the hub, and of whichever library it speaks through
        there = f"there is no folder {name!r}, and the hub cannot be reached"
        problem = f"{there}: try again where there is a network, {instead}"
    raise ValueError(problem)


def load_network(folder: Path, name: str, config: Callable[[Any], Any], **more: Any) -> Any:
    """Read a network, float32, with its own library: safetensors only, never anybody's code.

    `name` is of a class of transformers, given by us and not by a file; `config` makes its configuration of that class.
    """
    import transformers
    from transformers.utils import logging

    if not (folder / WEIGHTS).is_file():
        if (folder / f"{WEIGHTS}.index.json").is_file():
            raise ValueError(f"{folder} has its weights in several files; only a single {WEIGHTS} can be read")
        raise ValueError(
            f"{folder} has no {WEIGHTS}, and other files with weights are not read, because they can run code: "
            "many models have theirs in a revision of the hub, named like --revision refs/pr/1"
        )
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    network = getattr(transformers, name)
    try:
        model, found = network.from_pretrained(
            folder,
            config=config(network),
            attn_implementation="eager",  # the only kind that hands out its maps
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            dtype=torch.float32,
            output_loading_info=True,
            **more,
        )
    except Exception as error:  # whatever the libraries raise for damaged files
        raise ValueError(f"{folder / WEIGHTS} cannot be read: {reason(error)}") from None
    if found["missing_keys"]:
        raise ValueError(f"{folder / WEIGHTS}: the tensor {sorted(found['missing_keys'])[0]} is missing")
    known = {place for tensor in model.state_dict() for place in _LAYER.findall(tensor)}
    for tensor in sorted(found["unexpected_keys"]):
        if any(place not in known for place in _LAYER.findall(tensor)):
            raise ValueError(f"{folder / WEIGHTS}: the tensor {tensor} belongs to no layer of {CONFIG}")
    if not all(torch.isfinite(value).all() for value in model.state_dict().values()):
        raise ValueError(f"{folder / WEIGHTS}: the tensors must hold finite numbers only")
    return model.eval()


def reason(error: Exception) -> str:
    """What a library complains of, as one line."""
    if "ignore_mismatched_sizes" in str(error):
        return f"a tensor of {WEIGHTS} has another shape than {CONFIG} says"
    if isinstance(error, KeyError):  # whose text is the key only
        return f"{CONFIG} names {error}, which the library does not know"
    first, *more = str(error).splitlines() or [type(error).__name__]
    return f"{first} {more[0].strip()}" if first.endswith(":") and more else first

"""Any model of transformers, from a folder or the Hugging Face hub: network and tokenizer."""

from pathlib import Path
from typing import Any

import torch

from model.adapters.devices import device_of, move
from model.adapters.files.hub import CONFIG, MissingOutput, Progress, fetch, load_network, reason
from model.adapters.files.inspection import VOCABULARIES, local_size, refuse_code
from model.adapters.readers.reader import Reader
from model.adapters.readers.tasks import attach
from model.storage import checkpoint
from model.text.errors import Problem

# Networks that predict masked words, and those with all output layers of their training, of which BERT has two.
MASKED = "MODEL_FOR_MASKED_LM_MAPPING_NAMES"
TRAINING = "MODEL_FOR_PRETRAINING_MAPPING_NAMES"
# For each kind of output the table of transformers that says which class has it, in the order in which they are tried.
HEADS = (
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    MASKED,
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
)
BARE = "MODEL_MAPPING_NAMES"  # networks without an output layer
ADAPTER = "adapter_config.json"  # of PEFT
# Files that say how texts, images and sound become inputs, one of which a model has.
INPUTS = ("tokenizer.json", "tokenizer_config.json", "preprocessor_config.json", *VOCABULARIES)


def load_model(
    name: str | Path, revision: str | None = None, progress: Progress | None = None, device: str | None = None
) -> Reader:
    """A reader of any model of transformers, of a folder or of a name on the Hugging Face hub.

    Args:
        name: of a folder that `save_pretrained` made, or of a model on the hub, also as "name@revision".
        revision: a branch or a commit on the hub.
        progress: called with the bytes that have arrived and of how many while something is fetched, a few times per
            second. Whatever it raises stops the download, and is raised here.
        device: where it computes, as PyTorch names it: "cuda", "cuda:1", "mps". Left out it is $HEADLIGHT_DEVICE, or
            "cpu". What is recorded comes back as float32 on the CPU.

    Raises:
        ValueError: in one sentence, for a name that there is not, a hub that cannot be reached, files that are not
            whole, weights that could run code, code in the repository, more parameters than memory has room for, and a
            device that there is not.
    """
    return attach(*load(name, revision, progress, device))


def load(
    name: str | Path, revision: str | None = None, progress: Progress | None = None, device: str | None = None
) -> tuple[Any, Any]:
    """The network and tokenizer of a folder or of a name on the hub; arguments and errors are those of `load_model`.

    Weights without the output layer, in whose place there would be random numbers, become the bare stack. Numbers are
    float32 where memory allows, and stay as they are stored where it does not.
    """
    place = device_of(device)
    folder = fetch(str(name), revision, progress)
    if (folder / ADAPTER).is_file() and not (folder / CONFIG).is_file():
        raise Problem(
            "{folder} holds an adapter of PEFT without its model: load both with AutoPeftModel and give them to attach",
            folder=folder,
        )
    if not (folder / CONFIG).is_file():
        raise Problem(
            "{folder} has no {file}: it is not a model that was saved with save_pretrained", folder=folder, file=CONFIG
        )
    values = checkpoint.read_json(folder / CONFIG)
    refuse_code(str(name), values)
    network = network_of(folder / CONFIG, values)
    dtype = torch.float32 if local_size(folder).fits() else "auto"
    try:
        model = load_network(folder, network, values, dtype)
    except MissingOutput:
        if (bare := _bare(values)) in (None, network):
            raise
        model = load_network(folder, bare, values, dtype)
    return move(model, place), _tokenizer(folder)


def network_of(path: Path, values: dict[str, Any]) -> str:
    """The class of transformers for a configuration: the one it names, or the bare stack without outputs."""
    from transformers.models.auto import modeling_auto

    kind = values.get("model_type")
    architectures = values.get("architectures") or []
    classes = [_class(getattr(modeling_auto, name), kind) for name in (*HEADS, BARE)]
    *with_outputs, bare = classes
    if not any(classes):
        raise Problem(
            "{path}: transformers knows no model of type {kind!r} that reads a text, an image or sound",
            path=path,
            kind=kind,
        )
    if not architectures:  # old ones
        return next(filter(None, (*with_outputs, bare)))
    if class_name := next((name for name in with_outputs if name and name in architectures), None):
        return class_name
    masked = _class(getattr(modeling_auto, MASKED), kind)
    if masked and _class(getattr(modeling_auto, TRAINING), kind) in architectures:
        return masked
    return bare or next(filter(None, with_outputs))


def _bare(values: dict[str, Any]) -> str | None:
    """The class of transformers without an output layer, if there is one."""
    from transformers.models.auto import modeling_auto

    return _class(getattr(modeling_auto, BARE), values.get("model_type"))


def _class(table: dict[str, Any], kind: Any) -> str | None:
    name = table.get(kind) if isinstance(kind, str) else None
    return name if isinstance(name, str | None) else name[0]  # a few types have several


def _tokenizer(folder: Path) -> Any:
    """What turns a text, or images and sound, into inputs."""
    import transformers

    if not any((folder / name).is_file() for name in INPUTS):  # the library would make an empty one
        raise Problem(
            "{folder} has no tokenizer: one that is saved with save_pretrained makes {file}",
            folder=folder,
            file=INPUTS[0],
        )
    errors = []
    texts = (transformers.AutoTokenizer, transformers.PreTrainedTokenizerFast)  # the second: any tokenizer.json
    for reader in (*texts, transformers.AutoImageProcessor, transformers.AutoFeatureExtractor):
        try:
            return reader.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except Exception as error:  # whatever the libraries raise for missing and damaged files
            errors.append(error)
    raise ValueError(f"the tokenizer in {folder} cannot be read: {reason(errors[0])}")

"""What ties a reader to its model: attached, brought up to date before each use, and detached."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from torch import Tensor

from model.adapters.readers.attachment.attach import instrument, release
from model.adapters.readers.layout import Layout, ReaderConfig
from model.taps import Tap
from model.text.errors import Problem


class Connection:
    """A model of transformers that is attached, with its tokenizer, which may be None; a context that detaches it."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._attached = instrument(model)
        self._is_detached = False
        self.model = model
        self.tokenizer = tokenizer

    @property
    def layout(self) -> Layout:
        """Where the model has its parts."""
        return self._attached.layout

    @property
    def config(self) -> ReaderConfig:
        """What the model is made of."""
        return self._attached.config

    @property
    def taps(self) -> dict[str, Tap]:
        """The taps of the model by address."""
        return self._attached.taps

    def detach(self) -> None:
        """Put back all that `attach` changed on the model, and read no more; `with attach(...) as reader:` does so.

        Other readers of the same model go on: their next pass attaches it again.
        """
        if not self._is_detached:
            self._is_detached = True
            release(self.model)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()

    def placed(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Inputs on the model's device, and where they are not whole numbers, of the model's type."""
        device, dtype = self.model.device, self.model.dtype
        return {
            name: value.to(device, dtype) if value.is_floating_point() else value.to(device)
            for name, value in inputs.items()
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the model in this block as a reader does: attached, in evaluation mode, and not compiled."""
        self._refresh()
        with self._attached.running:
            yield

    def _refresh(self) -> None:
        """Attach the model again where its owner, or another reader, has changed what was attached."""
        if self._is_detached:
            raise ValueError("this reader was detached from its model: attach the model again")
        self._attached = instrument(self.model)

    @property
    def names_tokens(self) -> bool:
        """Whether there is a tokenizer, which reads texts and names tokens; what prepares images is none."""
        return hasattr(self.tokenizer, "convert_ids_to_tokens")

    def _check_tokenizer(self) -> None:
        if self.names_tokens:
            return
        if self.tokenizer is None and self.layout.reads_ids:
            raise Problem("this model was attached without a tokenizer: give ids instead of texts and words")
        raise Problem("this model reads no text: give the tensors that it takes, pixel_values for example")

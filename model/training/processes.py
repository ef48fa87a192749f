"""Several processes that train one model: torchrun (or `accelerate launch`) starts them, DistributedDataParallel
averages their gradients. Alone, nothing here does anything.
"""

import os
import random
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class Processes:
    """This process, number `rank` of `count`; the first logs, validates and saves. All must call `agree` and `sum`."""

    count: int
    rank: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """Whether this process logs, validates and saves."""
        return self.rank == 0

    def share(self, items: Sequence) -> Sequence:
        """The items of this process."""
        return items[self.rank :: self.count]

    def agree(self, value: Any) -> Any:
        """The first process's value."""
        values = [value]
        if self.count > 1:
            distributed.broadcast_object_list(values, src=0)
        return values[0]

    def sum(self, *values: float) -> list[float]:
        """Each value summed over the processes."""
        if self.count == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return total.tolist()

    def wrap(self, model: nn.Module) -> nn.Module:
        """The module to call in training: its backward pass averages gradients."""
        if self.count == 1:
            return model
        devices = [self.device] if self.device.type == "cuda" else None
        return DistributedDataParallel(model, device_ids=devices, broadcast_buffers=False)

    def keeps_gradients(self, model: nn.Module) -> AbstractContextManager:
        """A block whose backward passes do not average gradients: the next one outside it averages their sum."""
        return model.no_sync() if isinstance(model, DistributedDataParallel) else nullcontext()

    def describe(self) -> str:
        """The device in words, for the card."""
        name = f"CPU, {torch.get_num_threads()} threads"
        if self.device.type == "cuda":
            name = torch.cuda.get_device_name()
        return f"{self.count} processes, each {name}" if self.count > 1 else name

    def multiplies_bfloat16(self) -> bool:
        """Whether the device has instructions for it."""
        has = torch.cpu.get_capabilities()
        return self.device.type == "cuda" or any(map(has.get, ("avx512_bf16", "amx_bf16", "bf16")))

    def draw_anew(self, seed: int, step: int) -> None:
        """Give each process its own random numbers, by the step alone, so that only one has to save."""
        if self.count > 1:
            torch.manual_seed(random.Random(f"{seed}/{step}/{self.rank}").getrandbits(63))


def alone() -> Processes:
    """A single process, on the GPU if there is one."""
    return Processes(1, 0, torch.device("cuda" if torch.cuda.is_available() else "cpu"))


@contextmanager
def started() -> Iterator[Processes]:
    """Join torchrun's processes, or be `alone`; a ValueError if they are more than there are GPUs."""
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield alone()
        return
    count = torch.cuda.device_count()
    local = int(os.environ.get("LOCAL_RANK", 0))
    if 0 < count < int(os.environ.get("LOCAL_WORLD_SIZE", local + 1)):
        raise ValueError(
            f"each process needs a GPU of its own and this machine has {count}: start no more processes than that, "
            "or set CUDA_VISIBLE_DEVICES='' to train on the CPU"
        )
    device = torch.device("cuda", local) if count else torch.device("cpu")
    if count:
        torch.cuda.set_device(device)
    patience = timedelta(minutes=30)  # while the first one validates and saves
    distributed.init_process_group("nccl" if count else "gloo", timeout=patience)
    try:
        yield Processes(distributed.get_world_size(), distributed.get_rank(), device)
    finally:
        # Ctrl-C comes from the terminal and again from torchrun: what is left to do is to end.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        distributed.destroy_process_group()


@contextmanager
def undivided() -> Iterator[list[int]]:
    """Let SIGINT and SIGTERM wait until the block is done; yields the signals that wait, a list that grows.

    From half a training step, random numbers drawn and weights unchanged, no run could go on exactly.
    """
    waiting: list[int] = []
    handlers = {}
    is_main = threading.current_thread() is threading.main_thread()  # signals reach no other
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            if is_main and callable(handler := signal.getsignal(number)):
                handlers[number] = handler
                signal.signal(number, lambda received, _: waiting.append(received))
        yield waiting
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if waiting:
        signal.raise_signal(waiting[0])

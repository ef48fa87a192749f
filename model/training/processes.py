"""Several processes that train one model: torchrun starts them, DistributedDataParallel averages their gradients.

Without torchrun (or `accelerate launch`, which sets the same variables) there is one process, and nothing here does
anything.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

# The others wait while the first one validates and saves.
_PATIENCE = timedelta(minutes=30)

Item = TypeVar("Item")


@dataclass(frozen=True)
class Processes:
    """This process among those that train together.

    Attributes:
        count: how many there are.
        rank: which one this is, from 0; the first logs, validates and saves.
        device: where it computes.
    """

    count: int
    rank: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """Whether this process speaks for all."""
        return self.rank == 0

    def share(self, items: Sequence[Item]) -> Sequence[Item]:
        """This process's share, one in `count`, of a list that all processes have."""
        return items[self.rank :: self.count]

    def agree(self, value: Any) -> Any:
        """The value that the first process gave; every process must call this."""
        values = [value]
        if self.count > 1:
            distributed.broadcast_object_list(values, src=0)
        return values[0]

    def sum(self, *values: float) -> list[float]:
        """The sums over the processes; every process must call this."""
        if self.count == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return total.tolist()

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model to call in training: its backward pass averages the gradients over the processes."""
        if self.count == 1:
            return model
        devices = [self.device] if self.device.type == "cuda" else None
        return DistributedDataParallel(model, device_ids=devices, broadcast_buffers=False)

    def keeps_gradients(self, model: nn.Module) -> AbstractContextManager:
        """A block whose backward passes add up gradients here, without averaging, until one outside the block does."""
        return model.no_sync() if self.count > 1 else nullcontext()

    def describe(self) -> str:
        """What computes, in words, for the card."""
        is_gpu = self.device.type == "cuda"
        name = torch.cuda.get_device_name() if is_gpu else f"CPU, {torch.get_num_threads()} threads"
        return f"{self.count} processes, each {name}" if self.count > 1 else name

    def multiplies_bfloat16(self) -> bool:
        """Whether the device has instructions for products of bfloat16 matrices; without, they are slow."""
        if self.device.type == "cuda":
            return True
        has = torch.cpu.get_capabilities()
        return any(has.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))

    def draw_anew(self, seed: int, step: int) -> None:
        """Give each process random numbers of its own, which depend on the step alone, so that only one has to save."""
        if self.count > 1:
            torch.manual_seed(random.Random(f"{seed}/{step}/{self.rank}").getrandbits(63))


def alone() -> Processes:
    """The only process, on the first GPU if there is one."""
    return Processes(1, 0, torch.device("cuda" if torch.cuda.is_available() else "cpu"))


@contextmanager
def started() -> Iterator[Processes]:
    """Join the processes that torchrun has started with this one, for as long as the block lasts.

    Yields:
        The processes; `alone()` where torchrun has started none or one.

    Raises:
        ValueError: if this machine has GPUs, but fewer than processes.
    """
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield alone()
        return
    count, local = torch.cuda.device_count(), int(os.environ.get("LOCAL_RANK", 0))
    if 0 < count < int(os.environ.get("LOCAL_WORLD_SIZE", local + 1)):
        raise ValueError(
            f"each process needs a GPU of its own and this machine has {count}: start no more processes than that, "
            "or set CUDA_VISIBLE_DEVICES='' to train on the CPU"
        )
    device = torch.device("cuda", local) if count else torch.device("cpu")
    if count:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if count else "gloo", timeout=_PATIENCE)
    try:
        yield Processes(distributed.get_world_size(), distributed.get_rank(), device)
    finally:
        # Ctrl-C comes from the terminal and again from torchrun: what is left to do is to end.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        distributed.destroy_process_group()

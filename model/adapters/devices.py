"""Where models compute: the processor, or a graphics processor that PyTorch knows."""

import os
from typing import Any

import torch

from model.text.errors import Problem

VARIABLE = "HEADLIGHT_DEVICE"
CPU = "cpu"


def device_of(name: str | torch.device | None = None) -> torch.device:
    """The device of a name as PyTorch writes it ("cuda:1"); without one that of $HEADLIGHT_DEVICE, or the CPU.

    Raises:
        ValueError: in one sentence, if it is not a device of this machine, or holds no numbers ("meta").
    """
    name = name or os.environ.get(VARIABLE) or CPU
    devices = _available()
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise Problem("{name!r} is not a device; this machine has {devices}", name=name, devices=devices) from None
    if device.type == "meta":
        raise Problem("the device 'meta' holds no numbers; this machine has {devices}", devices=devices)
    if not _exists(device):
        raise Problem("there is no device {name!r} here; this machine has {devices}", name=str(name), devices=devices)
    return device


def move(model: Any, device: torch.device) -> Any:
    """The model on a device; a ValueError if it has no room there."""
    try:
        return model.to(device)
    except torch.OutOfMemoryError:
        raise Problem(
            "the model does not fit on the device {device}: choose another one, or a smaller model", device=device
        ) from None


def _exists(device: torch.device) -> bool:
    """Whether one can compute there; `torch.empty` fails in many ways on devices that are not there."""
    try:
        torch.empty(1, device=device).add_(1)
    except (RuntimeError, AssertionError, NotImplementedError):
        return False
    return True


def _available() -> str:
    """The names of the devices of this machine, joined by commas."""
    names = [CPU, *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    return ", ".join([*names, "mps"] if torch.backends.mps.is_available() else names)

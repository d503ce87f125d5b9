"""`torch_xla.experimental.callback`: calls when a tensor has been computed."""

from __future__ import annotations

import threading
from collections.abc import Callable

import jax
import torch

from ....trace.transfer import read


def on_ready_callback(tensor: torch.Tensor, callback: Callable[[torch.Tensor], None]) -> None:
    """Call `callback(tensor)` in a thread once the device has computed the tensor. Recorded operations are run."""
    array = read(tensor)

    def wait() -> None:
        jax.block_until_ready(array)
        callback(tensor)

    threading.Thread(target=wait, name="on_ready_callback", daemon=True).start()


def on_ready_event(tensor: torch.Tensor) -> threading.Event:
    """An event that is set once the device has computed the tensor."""
    event = threading.Event()
    on_ready_callback(tensor, lambda _: event.set())
    return event

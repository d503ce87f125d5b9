"""The public names of PyTorch/XLA, implemented with tenax: `import tenax.compat.torch_xla as torch_xla`.

Importing this package makes "xla" a name of device "jax". For scripts that import `torch_xla` itself, `install()` or
the command `tenax xla script.py` lends them that name. docs/from_pytorch_xla.md has the table of names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from . import bfloat16, device_type, process, statistics
from .alias import install as install
from .devices import xla_device, xla_devices, xla_real_devices
from .steps import end_step

process.take_environment()
device_type.enable()
process.register_backend()
statistics.listen()
bfloat16.follow_environment()

__version__ = "2.9.0"  # whose names these are


def device(index: int | None = None) -> torch.device:
    """The device with an index, or the current one of this thread."""
    return xla_device(index)


def devices() -> list[torch.device]:
    """The devices of this process."""
    return xla_devices()


def real_devices() -> list[str]:
    """The platform's names of the devices, such as 'CPU:0'."""
    return xla_real_devices()


def device_count() -> int:
    """How many devices this process has."""
    return len(xla_devices())


def sync(wait: bool = False, reset_scope: bool = True) -> None:
    """End the step: run what was recorded and the closures of `add_step_closure`; with `wait`, wait for the device."""
    end_step(wait)


@contextmanager
def step() -> Iterator[None]:
    """A block that is a step: it begins and ends with `sync()`."""
    sync()
    try:
        yield
    finally:
        sync()


def compile(  # noqa: A001 (the name of PyTorch/XLA)
    f: Callable[..., Any] | None = None,
    full_graph: bool = False,
    name: str | None = None,
    num_different_graphs_allowed: int | None = None,
    max_different_graphs: int | None = None,
) -> Any:
    """A function or a block whose operations are a program of their own, which begins and ends with `sync()`.

    Args:
        f: a function, which becomes one program of `tenax.jit` for each signature; None for a context manager, whose
            block is recorded as by `tenax.lazy`.
        full_graph: raise where the block needs more than one program. A function always is one.
        name: of the block: blocks of one name count together.
        num_different_graphs_allowed: how many programs the function or the blocks may be.
        max_different_graphs: the same.

    Raises:
        RuntimeError: the function or the block became more programs than allowed.
    """
    from .compiling import compiled, recorded_block

    limit = max_different_graphs if num_different_graphs_allowed is None else num_different_graphs_allowed
    if f is not None:
        return compiled(f, limit)
    return recorded_block(full_graph, limit, name or "")


def manual_seed(seed: int, device: Any = None) -> None:
    """Seed the random numbers of the device."""
    from .core.xla_model import set_rng_state

    set_rng_state(seed, device)


def launch(
    fn: Callable[..., Any], args: Any = (), start_method: str = "spawn", debug_single_process: bool = False
) -> None:
    """Call `fn(index, *args)` in a process for each device; in a process of `torchrun`, call it with the local rank."""
    from .distributed.xla_multiprocessing import spawn

    if process.launched():
        fn(int(os.environ["LOCAL_RANK"]), *args)
    else:
        spawn(fn, args, nprocs=1 if debug_single_process else None, start_method=start_method)

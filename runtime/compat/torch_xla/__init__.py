"""The public names of PyTorch/XLA, implemented with tenax: `import tenax.compat.torch_xla as torch_xla`.

Importing this package makes "xla" a name of device "jax". For scripts that import `torch_xla` itself, call `install()`
or run `tenax xla script.py`. `tenax xla --names` prints its names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .. import statistics
from . import device_type, process
from ._internal import tpu as tpu
from .alias import install as install
from .core import xla_model as xm  # noqa: F401
from .devices import xla_real_devices
from .missing import names_of
from .ordinals import device as device
from .ordinals import device_count as device_count
from .ordinals import devices as devices
from .reduced_precision import refuse_variables
from .steps import end_step
from .version import __version__ as __version__

process.take_environment()
device_type.enable()
process.register_backend()
statistics.listen()
refuse_variables()

__getattr__ = names_of(__name__)


def real_devices() -> list[str]:
    """The platform's names of the devices, such as 'CPU:0'."""
    return xla_real_devices()


def sync(wait: bool = False, reset_scope: bool = True) -> None:
    """End the step: run recorded operations and closures of `add_step_closure`; with `wait`, wait for the device."""
    end_step(wait)


@contextmanager
def step() -> Iterator[None]:
    """A context manager for one step, which begins and ends with `sync()`."""
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
    """Compile a function or a block to programs of its own, which begin and end with `sync()`.

    Args:
        f: a function, which is compiled by `tenax.jit` to one program per signature; None returns a context manager,
            whose block is recorded as in `tenax.lazy`.
        full_graph: raise if the block needs more than one program. A function is always one.
        name: the name of the block; blocks of the same name are counted together.
        num_different_graphs_allowed: the maximum number of programs of the function or the blocks.
        max_different_graphs: the same.

    Raises:
        RuntimeError: the function or the block needed more programs than allowed.
    """
    from .compiling import compiled, recorded_block

    limit = max_different_graphs if num_different_graphs_allowed is None else num_different_graphs_allowed
    if f is not None:
        return compiled(f, limit)
    return recorded_block(full_graph, limit, name or "")


def manual_seed(seed: int, device: Any = None) -> None:
    """Seed the device's random number generator."""
    from .core.xla_model import set_rng_state

    set_rng_state(seed, device)


def save_as_stablehlo(exported_model: Any, stablehlo_dir: Any, options: Any = None) -> Any:
    """Write a program of `torch.export` to a folder; see `torch_xla.stablehlo`."""
    from . import stablehlo

    return stablehlo.save_as_stablehlo(exported_model, stablehlo_dir, options)


def save_torch_model_as_stablehlo(torchmodel: torch.nn.Module, args: Any, path: str, options: Any = None) -> None:
    """Export a module and write it to a folder; see `torch_xla.stablehlo`."""
    from . import stablehlo

    stablehlo.save_torch_model_as_stablehlo(torchmodel, args, path, options)


def launch(
    fn: Callable[..., Any], args: Any = (), start_method: str = "spawn", debug_single_process: bool = False
) -> None:
    """Call `fn(index, *args)` in one process per device; under `torchrun`, call it here with the local rank."""
    from .distributed.xla_multiprocessing import spawn

    if process.launched():
        fn(int(os.environ["LOCAL_RANK"]), *args)
    else:
        spawn(fn, args, nprocs=1 if debug_single_process else None, start_method=start_method)

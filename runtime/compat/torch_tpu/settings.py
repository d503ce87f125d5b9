"""`torch.tpu.precision`, `torch.tpu.default_generators`, and what scripts import from `torch_tpu`."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import jax
import torch
from torch import fx

from ..._lazy.mode import sync
from ..._torch import NAME
from ...device import torch_jax
from ...dispatch.process_settings import precision as precision_by_name
from ...errors import TraceError
from ...storage import random
from ...storage.ordinals import device_count
from ...storage.recording import run_recorded
from ...trace.core import current_trace, user_line
from ...xla.options import CUSTOM


class Precision(enum.Enum):
    """The precision of float32 products, by torch's names. It is HIGHEST by default, unlike TorchTPU's."""

    DEFAULT = "medium"
    HIGH = "high"
    HIGHEST = "highest"


def precision(mode: Precision) -> AbstractContextManager[None]:
    """`tenax.precision` by a member of `Precision`."""
    return precision_by_name(Precision(mode).value)


@contextmanager
def custom_compiler_options(options: Mapping[str, Any]) -> Iterator[None]:
    """Compile what this thread compiles within the block with options of XLA, in addition to those of outer blocks.

    What is compiled already is used as it is, also within the block, and what the block compiles is used after it.

    Raises:
        ValueError: XLA does not have the option on this platform, as those of TPUs elsewhere, or not such a value.
        TraceError: a compiled function enters the block, whose program is compiled after it.
    """
    if current_trace() is not None:
        raise TraceError(f"custom_compiler_options{user_line()}: entered within a compiled function; call that in it")
    try:
        jax.jit(lambda: 0, compiler_options=dict(options)).lower().compile()
    except jax.errors.JaxRuntimeError as error:
        raise ValueError(f"custom_compiler_options: {error}") from None
    run_recorded()  # what lazy mode has recorded outside of the block
    token = CUSTOM.set({**CUSTOM.get(), **options})
    try:
        yield
    finally:
        run_recorded()
        CUSTOM.reset(token)


class DefaultGenerator:
    """The random numbers that the device draws without a generator. All devices share one."""

    def __init__(self, index: int) -> None:
        self.device = torch.device(NAME, index)

    def manual_seed(self, seed: int) -> DefaultGenerator:
        """Seed them."""
        random.manual_seed(seed)
        return self

    seed = staticmethod(random.seed)
    initial_seed = staticmethod(random.initial_seed)
    get_state = staticmethod(random.get_rng_state)
    set_state = staticmethod(random.set_rng_state)


default_generators = tuple(DefaultGenerator(i) for i in range(device_count()))


class TpuBackend:
    """`torch.compile(f, backend=TpuBackend())` is `torch.compile(f, backend="tpu")`."""

    def __init__(self, debug: bool = False, dynamism: bool = False, enable_serialization: bool = True) -> None:
        if debug:
            raise NotImplementedError("TpuBackend: debug=True; expected tenax.explain of the function")

    def __call__(self, graph_module: fx.GraphModule, example_inputs: Any, **options: Any) -> Callable[..., Any]:
        """Compile a graph."""
        from ...compile.backend import backend

        return backend(graph_module, example_inputs, **options)


def tpu_device() -> torch.device:
    """The device."""
    return torch.device(NAME)


def synchronize(tensors: Any = None, wait: bool = False) -> None:
    """Run what was recorded, and with `wait` wait for all computations."""
    torch_jax.synchronize() if wait else sync()


def mark_dynamic(tensor: torch.Tensor, dimension: int, lower_bound: int, upper_bound: int) -> None:
    """Let `torch.compile` make one program for the sizes of a dimension, where it can. Eager results are the same.

    Raises:
        ValueError: the size is not within the bounds.
    """
    if not lower_bound <= tensor.size(dimension) <= upper_bound:
        raise ValueError(
            f"mark_dynamic: dimension {dimension} has {tensor.size(dimension)} elements; expected from {lower_bound} "
            f"to {upper_bound}"
        )
    from ..._torch.dynamo import maybe_mark_dynamic

    maybe_mark_dynamic(tensor, dimension)


def get_tpu_device_name() -> str:
    """JAX's name of the device, such as 'TPU v5 lite'; 'cpu' on a CPU."""
    return str(jax.local_devices()[0].device_kind)


def get_tpu_device_count() -> int:
    """The number of TPUs of this process; 0 on other platforms."""
    return sum(device.platform == "tpu" for device in jax.local_devices())

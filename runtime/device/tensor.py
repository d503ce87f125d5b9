"""`tenax.Tensor`: the name of the device's tensors, and the methods they gain.

What torch makes in C++ stays a plain `torch.Tensor`, and a parameter a plain `nn.Parameter`; so checkpoints, `type()`
checks and tracing tools see nothing foreign.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor

from .backend import NAME


class _TensorMeta(type(torch.Tensor)):  # type: ignore[misc]
    """`isinstance(x, tenax.Tensor)` is true exactly for tensors of the device, as `nn.Parameter` does it."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Tensor) and instance.device.type == NAME


class Tensor(torch.Tensor, metaclass=_TensorMeta):
    """A tensor on device "jax". `tenax.Tensor(array)` makes one of a `jax.Array`, without a copy."""

    def __new__(cls, array: Any) -> torch.Tensor:  # type: ignore[misc]
        """A tensor that holds `array`.

        Raises:
            TypeError: it is not a `jax.Array`, or torch has no such dtype.
        """
        import jax

        if not isinstance(array, jax.Array):
            raise TypeError(
                f"tenax.Tensor: got {type(array).__name__}; expected a jax.Array (torch.tensor makes others)"
            )
        from ..dispatch.register import register_all
        from .convert import from_jax

        register_all()
        return from_jax(array)


def _jax(self: torch.Tensor) -> Any:
    """The value as a `jax.Array`: no copy of a whole tensor, a strided read of a view, one copy from the CPU."""
    return _conversion()(self)


@functools.cache
def _conversion() -> Callable[[torch.Tensor], Any]:
    from .convert import jax_value

    return jax_value


def _no_jax(self: FakeTensor) -> Any:
    # Programs ask whether a tensor has the method, and call it.
    raise AttributeError("a tensor that torch.compile traces has no 'jax'; expected tenax.call_jax(f, tensor)")


def _numpy(self: torch.Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    from ..tracing.trace import refuse
    from .convert import read

    array = np.asarray(refuse(read(self.detach()), "numpy"))
    return array.astype(dtype) if dtype is not None and array.dtype != dtype else array


def install() -> None:
    """Give torch's tensors of the device their protocols; tensors elsewhere behave as before."""
    plain_array = torch.Tensor.__array__
    plain_dlpack = torch.Tensor.__dlpack__
    plain_dlpack_device = torch.Tensor.__dlpack_device__
    plain_pin = torch.Tensor.pin_memory

    def __array__(self: torch.Tensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        if self.device.type != NAME:
            return plain_array(self, dtype, *args, **kwargs)
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return _numpy(self, dtype)

    def __dlpack__(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        if self.device.type != NAME:
            return plain_dlpack(self, *args, **kwargs)
        kwargs.pop("stream", None)
        from ..tracing.trace import refuse

        return refuse(_jax(self.detach()), "DLPack").__dlpack__(**kwargs)

    def __dlpack_device__(self: torch.Tensor) -> Any:  # noqa: N807
        if self.device.type != NAME:
            return plain_dlpack_device(self)
        return _jax(self.detach()).__dlpack_device__()

    def pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
        # Registering a device makes torch look for its pinned allocator; a host tensor is as good as it is.
        return self if self.device.type == "cpu" and device is None else plain_pin(self, device)

    def __jax_array__(self: torch.Tensor) -> Any:  # noqa: N807
        if self.device.type != NAME:
            raise TypeError(f"tensor on {self.device} is no JAX array; expected device jax: tensor.to('jax')")
        from ..interop.operand import without_gradient

        return _jax(without_gradient(self))

    plain_pointer = torch.Tensor.data_ptr

    def data_ptr(self: torch.Tensor) -> int:
        # There is no address; programs compare pointers to find tied weights, so each storage has its own number.
        if self.device.type != NAME:
            return plain_pointer(self)
        return self.untyped_storage().data_ptr() + int(self.storage_offset()) * self.element_size()

    plain_text = torch._tensor_str._tensor_str

    def _tensor_str(self: torch.Tensor, indent: int) -> str:
        # One transfer; torch would compute on the device, element by element, what to print.
        return plain_text(self.cpu() if self.device.type == NAME else self, indent)

    torch._tensor_str._tensor_str = _tensor_str
    for method in (__array__, __dlpack__, __dlpack_device__, pin_memory, __jax_array__, data_ptr):
        method.__qualname__ = f"Tensor.{method.__name__}"
        setattr(torch.Tensor, method.__name__, method)
    _jax.__name__, _jax.__qualname__ = "jax", "Tensor.jax"
    torch.Tensor.jax = _jax  # type: ignore[attr-defined]
    FakeTensor.jax = property(_no_jax)  # type: ignore[attr-defined]

"""`tenax.Tensor`, the type of device tensors for `isinstance`, and the methods added to device tensors.

Device tensors remain plain `torch.Tensor` and `nn.Parameter` objects, so checkpoints, `type()` checks and tracing tools
work unchanged.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import reduce_tensor

from .. import patches
from .._torch.tensors import FakeTensor
from ..errors import TraceError
from ..storage.ordinals import NAME


class _TensorMeta(type(torch.Tensor)):  # type: ignore[misc]
    """Makes `isinstance(x, tenax.Tensor)` true exactly for device tensors, like the metaclass of `nn.Parameter`."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Tensor) and instance.device.type == NAME


class Tensor(torch.Tensor, metaclass=_TensorMeta):
    """A tensor on device "jax". `tenax.Tensor(array)` wraps a `jax.Array` without a copy."""

    def __new__(cls, array: Any) -> torch.Tensor:  # type: ignore[misc]
        """Wrap an array.

        Raises:
            TypeError: `array` is not a `jax.Array`, or torch has no equivalent of its dtype.
        """
        import jax

        if not isinstance(array, jax.Array):
            raise TypeError(
                f"tenax.Tensor: got {type(array).__name__}; expected a jax.Array (torch.tensor makes others)"
            )
        from ..aten.registration import register_all
        from ..trace.transfer import from_jax

        register_all()
        return from_jax(array)


def _no_jax(self: FakeTensor) -> Any:
    # An AttributeError, because programs call the method if hasattr finds it.
    raise AttributeError("a tensor that torch.compile traces has no 'jax'; expected tenax.call_jax(f, tensor)")


def _reduce(tensor: torch.Tensor) -> Any:
    if tensor.device.type == NAME:
        raise NotImplementedError(
            f"a tensor on device '{NAME}' cannot be sent to another process, which has its own JAX; send tensor.cpu()"
        )
    return reduce_tensor(tensor)


def _array(self: torch.Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """A NumPy array of its own, since torch writes to read-only ones; with `copy=False` the read-only memory itself."""
    if self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    from ..trace.transfer import to_host

    return np.array(to_host(self.detach(), "numpy"), dtype, copy=copy is not False)


def _array_wrap(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    advice = "Use Tensor.cpu() to copy the tensor to host memory first."  # `tensor + array` would be on the CPU
    raise TypeError(f"can't convert {self.device} device type tensor to numpy. {advice}")


def _dlpack(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """A capsule with a copy, because torch writes to what it imports, and tensors of the device share their arrays."""
    from ..trace.core import require_known
    from ..trace.transfer import tensor_to_jax

    if kwargs.get("copy") is False:
        raise BufferError("__dlpack__: an array that other tensors share is exported as a copy; expected copy=None")
    options = {**kwargs, "stream": None, "copy": True}
    return require_known(tensor_to_jax(self.detach()), "DLPack").__dlpack__(**options)


def _dlpack_device(self: torch.Tensor) -> Any:
    from ..trace.transfer import tensor_to_jax

    return tensor_to_jax(self.detach()).__dlpack_device__()


def install() -> None:
    """Install the array protocols and methods of device tensors; tensors on other devices behave as before."""
    plain_pointer = torch.Tensor.data_ptr

    def data_ptr(self: torch.Tensor) -> int:
        # There is no address; programs compare pointers to find tied weights, so each storage has its own number.
        storage = self.untyped_storage()
        if type(self) is not torch.Tensor and not hasattr(storage, "cell"):
            return plain_pointer(self)  # a wrapper subclass (jagged): 0, by which torch recognizes it
        return storage.data_ptr() + int(self.storage_offset()) * self.element_size()

    patches.for_device("torch.Tensor.__array__", _array)
    patches.for_device("torch.Tensor.__array_wrap__", _array_wrap)
    patches.for_device("torch.Tensor.__dlpack__", _dlpack)
    patches.for_device("torch.Tensor.__dlpack_device__", _dlpack_device)
    patches.for_device("torch.Tensor.data_ptr", data_ptr)
    patches.replace("torch._subclasses.fake_tensor.FakeTensor.jax", property(_no_jax))
    patches.wrap("torch._tensor_str._tensor_str", _fetching)
    patches.wrap("torch._tensor_str._str", _clearing_frames)
    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, _reduce)


def _clearing_frames(plain: Callable[..., str]) -> Callable[..., str]:
    def text(self: torch.Tensor, **options: Any) -> str:
        try:
            return plain(self, **options)
        except BaseException as error:  # kept, it would keep the frames, and a guard in one that disables torch.func
            traceback.clear_frames(error.__traceback__)
            raise

    return text


def _fetching(plain: Callable[..., str]) -> Callable[..., str]:
    def text(self: torch.Tensor, indent: int) -> str:
        if self.device.type != NAME:
            return plain(self, indent)
        try:
            on_host = self.cpu()  # one transfer; torch's formatting would run device operations for each element
        except RuntimeError as error:
            from ..trace.core import current_trace

            lost = "has been deleted" in str(error) or "forked subprocess" in str(error)
            if not lost and not (isinstance(error, TraceError) and current_trace() is None):
                raise  # the computation of the value failed
            return f"<{str(error).splitlines()[0]}>, size={tuple(self.shape)}"
        return plain(on_host, indent)

    return text

"""Overrides: functions that take the place of an operator's lowering until they are removed.

An override is a kernel on top of the others that torch's dispatcher has, which come back when it goes. Programs that
were compiled before know nothing of it. So each set of overrides has a token: `tenax.jit` looks programs up by it,
`jax.jit` by a user context of JAX, and the graphs of torch.compile are dropped. Price: `torch.compiler.reset()`, and
JAX compiles again what it compiled for another set; the programs of the earlier set are found again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import torch

from .._torch.dispatcher import computed_kernel_on, has_kernel_on
from .._torch.frames import is_dynamo_loaded
from .._torch.operators import OpOverload, OpOverloadPacket, forget_dispatch
from .._torch.pytree import tree_leaves
from ..dispatch.formula_composite import overridden
from .registration import kernels

_active: list[Override] = []
_context: list[Any] = []  # of JAX; made with the first override
token: tuple[int, ...] = ()  # of the overrides that are active now


class OverridingKernel:
    """A kernel to put on top of those that an operator has for a key of the dispatcher."""

    def __init__(self, operator: str, key: str, function: Callable[..., Any], with_keyset: bool = False) -> None:
        self.place = operator, key
        self.function = function
        self.with_keyset = with_keyset
        self.library: Any = None

    def register(self) -> None:
        """Register it, anew if it was registered."""
        self.end()
        namespace, _, name = self.place[0].partition("::")
        self.library = torch.library.Library(namespace, "IMPL")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"[\s\S]*Overriding a previously registered kernel")
            self.library.impl(name, self.function, self.place[1], with_keyset=self.with_keyset)
        forget_dispatch(self.place[0])

    def end(self) -> None:
        """End the registration."""
        if self.library is not None:
            self.library._destroy()
            self.library = None
            forget_dispatch(self.place[0])


class CompositeKernel(OverridingKernel):
    """A function of tensors as a kernel."""


class TransformKernel(OverridingKernel):
    """A function of tensors as the rule of a transform of `torch.func`, where torch has one of what is overridden."""

    _plain: ClassVar[dict[tuple[str, str], Any]] = {}  # torch's own rules

    def __init__(self, operator: str, key: str, function: Callable[..., Any]) -> None:
        super().__init__(operator, key, self._call, with_keyset=True)
        self.transformed = function
        self._plain.setdefault(self.place, computed_kernel_on(operator, key))

    @staticmethod
    def of(operator: str, function: Callable[..., Any]) -> list[OverridingKernel]:
        """The kernels of an operator: the rule of vmap, and of keys before it, which attention and `linear` have."""
        earlier = [
            key for key in ("FuncTorchVmapMode", "FuncTorchDynamicLayerFrontMode") if has_kernel_on(operator, key)
        ]
        return [TransformKernel(operator, key, function) for key in ("FuncTorchBatched", *earlier)]

    def _call(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the function with tensors of the device. Others stay with torch's rule."""
        if any(isinstance(x, torch.Tensor) and x.device.type == "jax" for x in tree_leaves((args, kwargs))):
            return self.transformed(*args, **kwargs)
        return self._plain[self.place].call_boxed(keys, *args, **kwargs)


_top: list[OverridingKernel] = []  # the newest last
_below: dict[tuple[str, str], OverridingKernel] = {}  # what was there before all overrides, registered once more


class Override:
    """A function in the place of one or more overloads. Calling it calls the function.

    `remove()` ends it, as does leaving it as a context manager. Overrides of one overload may be removed in any order:
    the newest that is left computes it.
    """

    _count = 0

    def __init__(
        self,
        function: Callable[..., Any],
        overriding: Sequence[OverridingKernel],
        removed: Callable[[], None] = lambda: None,
    ) -> None:
        self.function = function
        self._removed = removed
        self._kernels = overriding
        for kernel in overriding:
            kernel.register()
            _top.append(kernel)
        Override._count += 1
        self._serial = Override._count
        _active.append(self)
        _renew()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.function(*args, **kwargs)

    def remove(self) -> None:
        """End the override; a second call does nothing."""
        if self not in _active:
            return
        _active.remove(self)
        for kernel in self._kernels:
            _top.remove(kernel)
            kernel.end()
            _restore(kernel.place)
        self._removed()
        _renew()

    def __enter__(self) -> Override:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


def _restore(place: tuple[str, str]) -> None:
    """Register the kernel below once more: under a mode torch calls the function that was registered last."""
    left = [kernel for kernel in _top if kernel.place == place]
    if left:
        left[-1].register()
    elif place in kernels:
        _below[place] = _below.get(place) or OverridingKernel(*place, *kernels[place])
        _below[place].register()


def _renew() -> None:
    """Have what was compiled under other overrides not be found."""
    global token
    token = tuple(o._serial for o in _active)
    overridden.clear()
    overridden.update(kernel.place[0] for kernel in _top)
    if not _context:
        _context.append(jax.make_user_context(()))
    _context[0].set_global(token)
    if is_dynamo_loaded():
        torch.compiler.reset()


def overloads(op: Any) -> list[OpOverload]:
    """The overloads that are meant: one; or those with tensors, without `out=`, of a packet or of a function that torch
    implements in C++.

    Raises:
        TypeError: `op` names no operator.
    """
    if isinstance(op, OpOverload):
        return [op]
    if not isinstance(op, OpOverloadPacket):
        # `torch.sin`, `torch.Tensor.sin` and `torch.nn.functional.gelu` are of C++, and have the operator's name.
        name = getattr(op, "__name__", "")
        of_torch = not hasattr(op, "__code__") and hasattr(torch.ops.aten, name)
        if not (name and callable(op) and of_torch):
            raise TypeError(
                f"override: {op!r} is no operator; expected 'library::name', torch.ops.aten.name, or a function of "
                f"torch that is implemented in C++, such as torch.nn.functional.scaled_dot_product_attention"
            )
        op = getattr(torch.ops.aten, name)
    found = [getattr(op, name) for name in op.overloads()]
    return [o for o in found if _is_meant(o._schema.arguments)]


def _is_meant(arguments: Any) -> bool:
    outs = [a for a in arguments if a.kwarg_only and a.alias_info is not None and a.alias_info.is_write]
    return not outs and any("Tensor" in str(a.type) for a in arguments)


def refuse_memory(op: OpOverload) -> None:
    """Raise for an operator that the runtime itself carries out.

    Raises:
        NotImplementedError: it makes tensors or views.
    """
    from .kernels import KERNELS

    if op.name().removeprefix("aten::") in KERNELS:
        raise NotImplementedError(f"{op.name()}: makes or views memory, which the runtime does; it has no override")


def override_composite(op: Any, function: Callable[..., Any]) -> Override:
    """Have a function of tensors carry out an operator on device "jax", with its gradients.

    Args:
        op: an overload, a packet, or a function of torch that is implemented in C++.
        function: called with the arguments of the call, without those at the end that have the schema's default.

    Raises:
        TypeError: `op` is no operator.
        NotImplementedError: an operator that makes or views memory.
    """
    found = overloads(op)
    for overload in found:
        refuse_memory(overload)
    names = [overload.name() for overload in found]
    keys = "PrivateUse1", "AutogradPrivateUse1"
    made: list[OverridingKernel] = [CompositeKernel(name, key, function) for name in names for key in keys]
    return Override(function, [*made, *(kernel for name in names for kernel in TransformKernel.of(name, function))])


def composite_of(operator: str) -> Callable[..., Any] | None:
    """The function of tensors that carries out an operator, if its newest override is one."""
    kernels = [kernel for kernel in _top if kernel.place == (operator, "PrivateUse1")]
    return kernels[-1].function if kernels and isinstance(kernels[-1], CompositeKernel) else None

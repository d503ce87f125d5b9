"""Overrides: functions that replace an operator's lowering until they are removed.

An override registers a kernel above the existing ones in torch's dispatcher, which are active again when it is removed.
Programs compiled for other overrides must not be reused, so each set of overrides has a token: it is part of the cache
keys of `tenax.jit` and, through a JAX user context, of `jax.jit`; graphs of torch.compile are dropped. The cost is a
`torch.compiler.reset()`, and that JAX recompiles for each new set. Programs of an earlier set are found again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import torch

from .._torch import NAME
from .._torch.dispatcher import computed_kernel_on, has_kernel_on
from .._torch.frames import is_dynamo_loaded
from .._torch.operators import OpOverload, OpOverloadPacket, forget_dispatch
from .._torch.pytree import tree_leaves
from ..dispatch.formula_composite import overridden
from .registration import kernels

_active: list[Override] = []
_context: list[Any] = []  # the JAX user context, created with the first override
token: tuple[int, ...] = ()  # identifies the set of active overrides


class OverridingKernel:
    """A kernel to register above the existing ones of an operator for a dispatch key."""

    def __init__(self, operator: str, key: str, function: Callable[..., Any], with_keyset: bool = False) -> None:
        self.place = operator, key
        self.function = function
        self.with_keyset = with_keyset
        self.library: Any = None

    def register(self) -> None:
        """Register the kernel, again if it is registered already."""
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
    """A function of tensors as the rule for a `torch.func` transform, in place of torch's rule for the operator."""

    _plain: ClassVar[dict[tuple[str, str], Any]] = {}  # torch's own rules

    def __init__(self, operator: str, key: str, function: Callable[..., Any]) -> None:
        super().__init__(operator, key, self._call, with_keyset=True)
        self.transformed = function
        self._plain.setdefault(self.place, computed_kernel_on(operator, key))

    @staticmethod
    def of(operator: str, function: Callable[..., Any]) -> list[OverridingKernel]:
        """The kernels of an operator: the vmap rule, and those of earlier keys, which attention and `linear` have."""
        earlier = [
            key for key in ("FuncTorchVmapMode", "FuncTorchDynamicLayerFrontMode") if has_kernel_on(operator, key)
        ]
        return [TransformKernel(operator, key, function) for key in ("FuncTorchBatched", *earlier)]

    def _call(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the function if a tensor is on the device, and otherwise torch's rule."""
        if any(isinstance(x, torch.Tensor) and x.device.type == NAME for x in tree_leaves((args, kwargs))):
            return self.transformed(*args, **kwargs)
        return self._plain[self.place].call_boxed(keys, *args, **kwargs)


_top: list[OverridingKernel] = []  # the newest last
_below: dict[tuple[str, str], OverridingKernel] = {}  # the kernels from before all overrides, registered again


class Override:
    """A function that replaces one or more overloads. Calling the override calls the function.

    `remove()` ends it, as does the end of its `with` block. Overrides of one overload may be removed in any order; the
    newest remaining one is active.
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
        """End the override; a second call is a no-op."""
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
    """Register the next lower kernel again: under a mode torch calls the function that was registered last."""
    left = [kernel for kernel in _top if kernel.place == place]
    if left:
        left[-1].register()
    elif place in kernels:
        _below[place] = _below.get(place) or OverridingKernel(*place, *kernels[place])
        _below[place].register()


def _renew() -> None:
    """Change the token, so that programs compiled for other overrides are not reused."""
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
    """Resolve `op` to overloads: itself, or those of a packet or a C++ torch function with tensors and without `out=`.

    Raises:
        TypeError: `op` is not an operator.
    """
    if isinstance(op, OpOverload):
        return [op]
    if not isinstance(op, OpOverloadPacket):
        # `torch.sin`, `torch.Tensor.sin` and `torch.nn.functional.gelu` are C++ functions with the operator's name.
        name = getattr(op, "__name__", "")
        of_torch = not hasattr(op, "__code__") and hasattr(torch.ops.aten, name)
        if not (name and callable(op) and of_torch):
            raise TypeError(
                f"override: {op!r} is not an operator; expected 'library::name', torch.ops.aten.name, or a function of "
                f"torch that is implemented in C++, such as torch.nn.functional.scaled_dot_product_attention"
            )
        op = getattr(torch.ops.aten, name)
    found = [getattr(op, name) for name in op.overloads()]
    return [o for o in found if _is_meant(o._schema.arguments)]


def _is_meant(arguments: Any) -> bool:
    outs = [a for a in arguments if a.kwarg_only and a.alias_info is not None and a.alias_info.is_write]
    return not outs and any("Tensor" in str(a.type) for a in arguments)


def refuse_memory(op: OpOverload) -> None:
    """Raise for an operator that the runtime implements itself.

    Raises:
        NotImplementedError: it creates tensors or views.
    """
    from .kernels import KERNELS

    if op.name().removeprefix("aten::") in KERNELS:
        raise NotImplementedError(f"{op.name()}: makes or views memory, which the runtime does; it has no override")


def override_composite(op: Any, function: Callable[..., Any]) -> Override:
    """Make a function of tensors compute an operator on device "jax", including its gradients.

    Args:
        op: an overload, a packet, or a torch function that is implemented in C++.
        function: called with the arguments of the call, without trailing ones that have the schema's default.

    Raises:
        TypeError: `op` is not an operator.
        NotImplementedError: the operator creates or views memory.
    """
    found = overloads(op)
    for overload in found:
        refuse_memory(overload)
    names = [overload.name() for overload in found]
    keys = "PrivateUse1", "AutogradPrivateUse1"
    made: list[OverridingKernel] = [CompositeKernel(name, key, function) for name in names for key in keys]
    return Override(function, [*made, *(kernel for name in names for kernel in TransformKernel.of(name, function))])


def composite_of(operator: str) -> Callable[..., Any] | None:
    """The function of tensors that overrides an operator, if its newest override is one."""
    kernels = [kernel for kernel in _top if kernel.place == (operator, "PrivateUse1")]
    return kernels[-1].function if kernels and isinstance(kernels[-1], CompositeKernel) else None

"""Operators of other libraries on the device, computed by a registered JAX function.

What torch knows about the operator is used: its schema, fake kernel, autograd formula and vmap rule. The rest is
derived from the function: shapes by `jax.eval_shape`, derivatives by `jax.vjp`, batching by `jax.vmap`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
import torch
from jax.extend.core.primitives import convert_element_type_p

from tenax.generated.table import Row

from .._torch import NAME
from .._torch.autograd import in_forward_mode
from .._torch.dispatcher import BelowAutograd, computed_kernel_on, has_kernel_on
from .._torch.operators import OPDEFS, CustomOpDef, OpOverload, overload_named
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.fast_path import specialize
from ..dispatch.jax_call import empty_results, function_number, vmap_call
from ..dispatch.opaque_composite import (
    OpaqueComposite,
    filled,
    form_of,
    function_of,
    is_traced,
    tensors,
    wants_gradient,
)
from ..dispatch.shape_inference import describe_results
from ..dispatch.signature import Signature, argument_kind
from ..storage.spec import TensorSpec
from ..words import Number
from .overrides import Override, OverridingKernel, TransformKernel, overloads, refuse_memory
from .registration import kernels

_KEY = "PrivateUse1"
_DESCRIBING = ("Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
_WIDE = {np.dtype(np.float64), np.dtype(np.complex128)}
_TORCH = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
_WEAK: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
_registered: dict[str, list[CustomOperator]] = {}  # the newest last; those before it are overridden


def register_lowering(
    op: Any,
    fn: Callable[..., Any] | None = None,
    *,
    static: Sequence[str] = (),
    dynamic: bool = False,
    random: bool = False,
    gradient: bool = True,
    override: bool = False,
) -> Any:
    """Compute an operator on device "jax" by a JAX function. Without `fn`, return a decorator.

    Args:
        op: `"mylib::op"`, `"mylib::op.overload"`, or an object returned by `torch.library.custom_op` or `torch.ops`.
        fn: has the parameters of the operator's schema, with the same names and order, and returns an array or a tuple
            of them: the results, then the new value of each argument that the operator mutates. It is passed a
            `jax.Array` for a Tensor, a list for a list, a weakly typed 0-d array for a `float` or `Scalar`, a NumPy
            dtype for a `torch.dtype`, and Python values for the rest. Devices, layouts and generators are not passed.
        static: names of numbers to pass as Python numbers; each new value is compiled separately.
        dynamic: the shape of a result depends on data: `fn` is called with concrete arrays, outside `jit`.
        random: `fn` has a PRNG key as its first parameter.
        gradient: differentiate `fn` if the operator has no autograd formula. A formula, registered before or after, is
            used instead. Operators that mutate and `dynamic` ones have no derivative.
        override: replace the existing lowering, even that of a torch operator, until `remove()` is called on the result
            or a `with` block ends. `op` may also be a packet such as `torch.ops.aten.add`, or a torch function
            implemented in C++ such as `torch.nn.functional.gelu`: all their overloads with tensors and without `out=`.
            The derivative is that of `fn`, or the operator's formula with `gradient=False`.

    Returns:
        `fn`; with `override` an `Override`, which calls `fn`.

    Raises:
        TypeError: `op` is not an operator, or `fn` does not have its parameters.
        ValueError: there is no such operator, or `static` contains a name that is not one of its numbers.
        NotImplementedError: the operator returns anything but tensors, or is `dynamic` and mutates or returns a list;
            or an override of an operator that creates or views memory.
        RuntimeError: the operator already has a lowering, and `override` is not set.
    """
    if fn is None:
        return partial(
            register_lowering, op, static=static, dynamic=dynamic, random=random, gradient=gradient, override=override
        )
    row = Row("", "", static=tuple(static), dynamic="as registered" if dynamic else "", random=random)
    if override:
        return _overriding(op, row, fn, gradient)
    found = _found(op)
    name = found.name()
    before = registered(name)
    if before is not None and before.op is not found:  # the operator was redefined
        for old in _registered.pop(name):
            old.library._destroy()
    elif has_kernel_on(name, _KEY):
        raise RuntimeError(
            f"{name}: has a lowering for device {NAME!r} already; expected one registration, or override=True"
        )
    made = CustomOperator(name, row, fn)
    made.refuse()
    made.install(gradient)
    _registered[name] = [made]
    return fn


def _overriding(op: Any, row: Row, fn: Callable[..., Any], gradient: bool) -> Override:
    """Register a function on top of the existing lowerings."""
    found = [_found(op)] if isinstance(op, (str, CustomOpDef)) else overloads(op)
    made = [OverridingOperator(o.name(), row, fn) for o in found]
    for operator in made:
        operator.refuse()
    for operator in made:
        _registered.setdefault(operator.name, []).append(operator)

    def removed() -> None:
        for operator in made:
            _registered[operator.name].remove(operator)

    return Override(fn, [kernel for operator in made for kernel in operator.kernels(gradient)], removed)


def registered(name: str) -> CustomOperator | None:
    """The newest registration for an operator, by name."""
    found = _registered.get(name)
    return found[-1] if found else None


def _found(op: Any) -> OpOverload:
    """Resolve the argument of `register_lowering` to an overload."""
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, OpOverload):
        return op
    if not isinstance(op, str) or op.count("::") != 1:
        raise TypeError(
            f"register_lowering: {op!r} is not an operator; expected 'library::name', an OpOverload or a custom_op"
        )
    try:
        return overload_named(op)
    except AttributeError:
        raise ValueError(
            f"register_lowering: torch has no operator {op}; expected one defined by torch.library.custom_op, or by a "
            f"library that was imported before"
        ) from None


class CustomOperator(Signature):
    """The signature of an operator whose lowering a user registered."""

    def __init__(self, name: str, row: Row, fn: Callable[..., Any]) -> None:
        super().__init__(name, row)
        self.fn = fn
        self.wide = (
            jax.dtypes.canonicalize_dtype(float).itemsize == 8
        )  # the user's x64 setting: lowerings are traced with x64 on
        self.passed = [s for s in self.arguments if s.kind not in ("dropped", "device", "generator")]
        self.lowering = self.lower
        self.has_meta = any(has_kernel_on(name, key) for key in _DESCRIBING) and not self.undescribed
        self.library: Any = torch.library.Library(name.partition("::")[0], "IMPL")

    @property
    def undescribed(self) -> bool:
        """Whether it is a custom_op without a fake kernel, whose Meta kernel only raises."""
        definition = OPDEFS.get(self.name)
        return definition is not None and definition._abstract_fn is None

    @property
    def has_formula(self) -> bool:
        """Whether the library defines the derivative. (The autograd kernel of a custom_op always exists.)"""
        definition = OPDEFS.get(self.name)
        if definition is not None:
            return definition._backward_fn is not None
        return has_kernel_on(self.name, "Autograd")

    @property
    def writes(self) -> bool:
        return any(s.written for s in self.arguments)

    # -- registration ------------------------------------------------------------------------------------------------

    def refuse(self) -> None:
        """Raise if the function or an option does not fit the schema."""
        schema = self.op._schema
        numbers = [a.name for a in schema.arguments if argument_kind(a, a.name, ()) in ("number", "numbers")]
        for name in self.row.static:
            if name not in numbers:
                raise ValueError(f"{self.name}: static: {name!r} is not a number; expected some of {numbers}")
        if any(r not in ("Tensor", "List[Tensor]") for r in self.returns) or (
            len(self.returns) > 1 and "List[Tensor]" in self.returns
        ):
            raise NotImplementedError(f"{self.name}: returns {self.returns}; expected Tensors, or one list of them")
        if self.row.dynamic and (self.writes or self.returns == ["List[Tensor]"]):
            raise NotImplementedError(f"{self.name}: dynamic; expected an operator that mutates nothing and no list")
        wanted = [s.parameter for s in self.passed if not s.keyword]
        named = [s.parameter for s in self.passed if s.keyword]
        held = list(inspect.signature(self.fn).parameters.values())[self.row.random :]
        plain = [p.name for p in held if p.kind is p.POSITIONAL_OR_KEYWORD]
        given = ["rng"] if self.row.random else []
        try:
            inspect.signature(self.fn).bind(*given, *wanted, **dict.fromkeys(named))
            right = plain[: len(wanted)] == wanted[: len(plain)] or any(p.kind is p.POSITIONAL_ONLY for p in held)
        except TypeError:
            right = False
        if not right:
            expected = ", ".join([*given, *wanted, *(["*"] if named else []), *named])
            raise TypeError(
                f"{self.name}: the lowering takes {inspect.signature(self.fn)}; expected ({expected}) of {schema}"
            )

    def install(self, gradient: bool) -> None:
        """Register the kernels with torch."""
        self.register(specialize(Dispatcher(self)), _KEY)
        if self.row.dynamic:
            return
        self.describe()
        if self.writes or not self.returns:
            return
        if gradient:
            self.register(CustomOperatorAutograd(self), f"Autograd{_KEY}", with_keyset=True)
        batched = has_kernel_on(self.name, "FuncTorchBatched")
        if not batched and self.op._overloadname == "default":
            torch.library.register_vmap(self.name, CustomOperatorAutograd(self).batch, lib=self.library)

    def register(self, kernel: Callable[..., Any], key: str, with_keyset: bool = False) -> None:
        """Register one kernel with torch."""
        self.library.impl(self.name.partition("::")[2], kernel, key, with_keyset=with_keyset)
        kernels[self.name, key] = kernel, with_keyset

    def describe(self) -> None:
        """Register a fake kernel if the library has none."""
        if self.has_meta or not self.returns or self.row.dynamic:
            return
        if self.name in OPDEFS:
            OPDEFS[self.name].register_fake(self.fake)
        else:
            self.library._register_fake(self.name.partition("::")[2], self.fake)

    # -- the function ------------------------------------------------------------------------------------------------

    def lower(self, /, **values: Any) -> Any:
        """Call the function according to the schema. x64 is on only if a tensor has 64-bit floats or the user enabled
        it, so that `jnp.zeros(3)` has the same dtype as in the user's own JAX code."""
        positional = [values["rng"]] if self.row.random else []
        named = {}
        arrays: list[Any] = []
        for slot in self.passed:
            name = slot.parameter
            value = values[name]
            if slot.kind in ("tensor", "tensors"):
                arrays += jax.tree.leaves(value)
            if slot.kind in ("number", "numbers"):
                value = [_weak(v) for v in value] if isinstance(value, list) else _weak(value)
            if slot.keyword:
                named[name] = value
            else:
                positional.append(value)
        with jax.enable_x64(self.wide or any(np.dtype(a.dtype) in _WIDE for a in arrays)):
            result = self.fn(*positional, **named)
        return self.checked(result)

    def checked(self, result: Any) -> Any:
        """The results, then the new values, after checking that their number matches the schema."""
        if self.returns == ["List[Tensor]"] and not self.writes:
            return list(result)
        values = tuple(result) if isinstance(result, (list, tuple)) else (result,)
        count = len(self.returns) * self.fresh + sum(s.written for s in self.arguments)
        if len(values) != count:
            raise RuntimeError(
                f"{self.name}: the lowering gave {len(values)} values; expected {count}: the results, then the new "
                f"value of each argument that it mutates"
            )
        return values[0] if count == 1 else values

    def fake(self, *args: Any, **kwargs: Any) -> Any:
        """The fake kernel of an operator that has none."""
        values = self.bind(args, kwargs)
        form, count = form_of(values), len(self.returns)

        def function(*arrays: jax.Array) -> list[Any]:
            keywords = self.parameters(filled(form, iter(arrays)))
            if self.row.random:
                keywords["rng"] = jax.random.key(0)
            results = jax.tree.leaves(self.lower(**keywords))
            return results if self.returns == ["List[Tensor]"] else results[:count]

        return self.packed(empty_results(function, list(tensors(values))))


class OverridingOperator(CustomOperator):
    """The signature of an operator whose lowering is overridden by a function."""

    def __init__(self, name: str, row: Row, fn: Callable[..., Any]) -> None:
        super().__init__(name, row, fn)
        self.formula = super().has_formula

    # torch's formula belongs to the overridden implementation.
    has_formula = False

    def refuse(self) -> None:
        """Also raise for an operator that creates or views memory."""
        refuse_memory(self.op)
        if not self.fresh and not self.writes:
            raise NotImplementedError(f"{self.name}: makes a view, which the runtime does; it has no override")
        super().refuse()

    def kernels(self, gradient: bool) -> list[OverridingKernel]:
        """The kernels to register with torch."""
        self.describe()
        if self.writes or self.row.dynamic or not self.returns or not (gradient or self.formula):
            above: Callable[..., Any] | None = self.without_derivative
        else:
            above = OverriddenAutograd(self) if gradient else None
        made = [
            OverridingKernel(self.name, _KEY, specialize(Dispatcher(self))),
            *TransformKernel.of(self.name, self.batched),
        ]
        return [*made, OverridingKernel(self.name, f"Autograd{_KEY}", above)] if above else made

    def batched(self, *args: Any, **kwargs: Any) -> Any:
        """The batching rule for `torch.func.vmap`: a call of the function, which JAX can batch."""
        if self.writes or self.row.dynamic or self.row.random or not self.returns:
            raise NotImplementedError(
                f"{self.name}: is overridden by a function that writes, draws or has results of unknown shapes; "
                "expected no torch.func.vmap"
            )
        return CustomOperatorAutograd(self).apply(self.bind(args, kwargs))

    def without_derivative(self, *args: Any, **kwargs: Any) -> Any:
        """The kernel above autograd of a function that is not differentiated."""
        if wants_gradient(self.bind(args, kwargs)):
            raise NotImplementedError(f"{self.name}: is overridden by a function that has no derivative")
        with BelowAutograd():
            return self.op(*args, **kwargs)


class CustomOperatorAutograd(OpaqueComposite):
    """The kernel above autograd of an operator without a formula, and its batching rule for `torch.func.vmap`."""

    signature: CustomOperator

    def __call__(self, keys: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the operator; if autograd records the call, the function is differentiated. `keys`: dispatch key set."""
        op = self.signature.op
        if self.signature.has_formula:
            formula = computed_kernel_on(self.signature.name, "AutogradCPU")
            return formula.call_boxed(keys, *args, **kwargs)
        values = self.signature.bind(args, kwargs)
        if in_forward_mode() and any(map(_has_tangent, tensors(values))):
            raise NotImplementedError(f"{self.signature.name}: no forward-mode derivative; expected reverse mode")
        if not wants_gradient(values) and not self.is_recorded(values):
            with BelowAutograd():
                return op(*args, **kwargs)
        return self.apply(values)

    def is_recorded(self, values: list[Any]) -> bool:
        """Whether a graph that torch is recording should contain the function instead of the operator."""
        return False

    def operands(self, values: list[Any]) -> list[Any]:
        """The arguments, with non-static numbers as tensors, because they may change from call to call."""
        like = next(tensors(values))
        kinds = [s.kind for s in self.signature.arguments]
        return [_as_tensors(v, like) if k in ("number", "numbers") else v for v, k in zip(values, kinds, strict=True)]

    def outputs(self, values: list[Any]) -> list[TensorSpec]:
        """The specs of the results, from the library's description or else from the function."""
        if self.signature.has_meta:
            return super().outputs(values)
        described = describe_results(self.signature.fake(*values))
        return [described] if isinstance(described, TensorSpec) else list(described)

    def batch(self, info: Any, in_dims: Any, *args: Any, **kwargs: Any) -> Any:
        """The batching rule for `torch.func.vmap`: `jax.vmap` of the function; on other devices, or with an autograd
        formula, one call per element."""
        lowered = self.signature
        values = lowered.bind(args, kwargs)
        if lowered.has_formula or any(x.device.type != NAME for x in tensors(values)):
            results = [lowered.op(*_element(args, in_dims, i), **kwargs) for i in range(info.batch_size)]
            if len(lowered.returns) == 1 and isinstance(results[0], torch.Tensor):
                return torch.stack(results), 0
            stacked = [torch.stack(parts) for parts in zip(*results, strict=True)]
        elif lowered.row.random:
            raise NotImplementedError(f"{lowered.name}: random under vmap; expected a rule by register_vmap")
        else:
            dims = [*in_dims, *[None] * (len(values) - len(in_dims))]
            operands = self.operands(values)
            form = form_of(operands)
            f = function_number((lowered, form), lambda: function_of(lowered, form))
            at = [d for v, o, dim in zip(values, operands, dims, strict=True) for d in _dims(v, o, dim)]
            stacked = vmap_call(f, tuple(at), list(tensors(operands)))
        return lowered.packed(stacked), lowered.packed([0] * len(stacked))


class OverriddenAutograd(CustomOperatorAutograd):
    """The kernel above autograd of an overridden operator."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function; no formula is called, so the key set is not needed."""
        return super().__call__(None, *args, **kwargs)

    def is_recorded(self, values: list[Any]) -> bool:
        """True under torch.compile, whose graph would decompose the operator; graphs of torch.export keep it."""
        return is_traced(tensors(values)) and not torch.compiler.is_exporting()


def _has_tangent(x: torch.Tensor) -> bool:
    return torch.autograd.forward_ad.unpack_dual(x).tangent is not None


def _as_tensors(value: Any, like: torch.Tensor) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_tensors(v, like) for v in value]
    dtype = _TORCH.get(type(value))
    return value if dtype is None else torch.full((), value, dtype=dtype, device=like.device)


def _element(args: Any, dims: Any, i: int) -> Any:
    """The arguments of one element of a batch."""
    if isinstance(args, (list, tuple)):
        return [a if d is None else _element(a, d, i) for a, d in zip(args, dims, strict=True)]
    return args.select(dims, i)


def _dims(value: Any, operand: Any, dim: Any) -> list[int | None]:
    """The batch axis of each tensor in an operand; None for a number."""
    if isinstance(operand, torch.Tensor):
        return [dim if isinstance(value, torch.Tensor) else None]
    if not isinstance(operand, (list, tuple)):
        return []
    axes = dim if isinstance(dim, (list, tuple)) else [None] * len(operand)
    return [d for v, o, a in zip(value, operand, axes, strict=True) for d in _dims(v, o, a)]


def _weak(value: Any) -> Any:
    """Make a number weakly typed, like a Python number under `jit`: it does not affect the dtype of an array."""
    if isinstance(value, Number):
        value = value.value
    if value is None or isinstance(value, (bool, int, float, complex)):
        return value
    kind = jax.dtypes.canonicalize_dtype(_WEAK[np.dtype(value.dtype).kind])
    return convert_element_type_p.bind(value, new_dtype=np.dtype(kind), weak_type=True, sharding=None)

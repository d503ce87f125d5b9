"""`torch.tpu.pallas.jax_op`: an operator of torch that a JAX function computes, with its gradient."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from functools import partial, wraps
from types import UnionType
from typing import Any

import jax
import torch

from ...aten.custom_ops import register_lowering
from ..kernels import interpreted

_NUMBERS = (int, float, bool)


def jax_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    donate_argnums: Sequence[int] | None = None,
    mesh: Any = None,
    input_partition_specs: Any = None,
    output_partition_specs: Any = None,
) -> Any:
    """Register a JAX function as an operator of torch. Without `fn`, return a decorator.

    Kernels of Pallas run in interpret mode where there is no TPU. The shapes of the results, the gradient and the vmap
    rule are those of the function, unless `register_fake`, `register_autograd` or `register_vmap` is called.

    Args:
        name: 'namespace::name'.
        fn: its parameters and results are annotated: `jax.Array` for a tensor, and numbers, texts, lists, tuples and
            optional values of them. Each value of a number is compiled separately.
        donate_argnums: has no effect; XLA reuses memory where nothing else holds it.

    Returns:
        The operator, as of `torch.library.custom_op`.

    Raises:
        TypeError: a parameter or result has no annotation, or another one.
        NotImplementedError: a mesh or partition specs are given.
    """
    if fn is None:
        return partial(jax_op, name, donate_argnums=donate_argnums)
    if not (mesh is input_partition_specs is output_partition_specs is None):
        raise NotImplementedError(f"jax_op: {name}: mesh; expected tenax.call_jax of jax.shard_map(f, mesh=...)")
    signature, numbers = _of_torch(name, fn)

    def on_cpu(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name}: an operator of device tpu; expected tensors of the device")

    on_cpu.__signature__ = signature  # type: ignore[attr-defined]
    schema = torch.library.infer_schema(on_cpu, mutates_args=())
    operator = torch.library.custom_op(name, on_cpu, mutates_args=(), schema=schema)
    register_lowering(operator, _by_position(interpreted(fn), signature), static=numbers)
    return operator


def _of_torch(name: str, fn: Callable[..., Any]) -> tuple[inspect.Signature, list[str]]:
    """The signature of a JAX function with torch's types, and which of its parameters are numbers."""
    own = inspect.signature(fn)
    hints = typing.get_type_hints(fn.func if isinstance(fn, partial) else fn)
    missing = [p for p in [*own.parameters, "return"] if p not in hints]
    if missing:
        raise TypeError(f"jax_op: {name}: {missing} have no annotation; expected jax.Array, int, float, bool or str")
    parameters = [p.replace(annotation=_torch_type(hints[p.name])) for p in own.parameters.values()]
    numbers = [p.name for p in parameters if any(t in _NUMBERS for t in _leaves(p.annotation))]
    return own.replace(parameters=parameters, return_annotation=_torch_type(hints["return"])), numbers


def _torch_type(hint: Any) -> Any:
    parts = tuple(_torch_type(part) for part in typing.get_args(hint) if part is not ...)
    origin = typing.get_origin(hint)
    if origin in (typing.Union, UnionType):
        return typing.Union[parts]  # noqa: UP007 (made at run time)
    if origin in (list, Sequence):
        return list[parts[0]]  # type: ignore[valid-type]
    if origin is tuple:
        return list[parts[0]] if ... in typing.get_args(hint) else tuple[parts]  # type: ignore[valid-type]
    return torch.Tensor if hint is jax.Array else hint


def _leaves(hint: Any) -> list[Any]:
    return [leaf for part in typing.get_args(hint) for leaf in _leaves(part)] or [hint]


def _by_position(fn: Callable[..., Any], signature: inspect.Signature) -> Callable[..., Any]:
    """The function with the names of its parameters, also if a partial has bound some."""

    @wraps(fn)
    def lowering(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    lowering.__signature__ = signature  # type: ignore[attr-defined]
    return lowering

"""Describes calls of a compiled function, so that `tenax.explain` can say what differed from the call before."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Sequence
from typing import Any

import torch

from .._torch import NAME, pytree
from ..float32_products import float32_products
from .host_script import is_passable
from .sources import is_plain

_MOST = 3  # differences in one reason


def describe_call(
    function: Callable[..., Any], args: Any, kwargs: Any, leaves: Sequence[Any], passed: Container[int]
) -> dict[str, str]:
    """The arguments of a call by name, and torch's modes; a number that is an input of the program has no value.

    Args:
        function: the function.
        args: the positional arguments.
        kwargs: the keyword arguments.
        leaves: the leaves of both.
        passed: the positions of the leaves that are inputs if they are numbers.
    """
    paths: list[tuple[Any, Any]] = pytree.tree_flatten_with_path((args, kwargs))[0]
    found = {}
    for i, ((place, *path), _) in enumerate(paths):
        positional = place.idx == 0
        name = _parameter(function, path[0].idx) if positional else pytree.keystr((path[0],)).strip("[]'")
        number = i in passed and is_passable(leaves[i])
        found[name + pytree.keystr((*path[1:],))] = f"a {type(leaves[i]).__name__}" if number else _described(leaves[i])
    for kind in (NAME, "cpu"):
        on = torch.is_autocast_enabled(kind)
        found[f"autocast of {kind}"] = _short(torch.get_autocast_dtype(kind)) if on else "off"
    return found | {
        "grad mode": "on" if torch.is_grad_enabled() else "off",
        "inference mode": "on" if torch.is_inference_mode_enabled() else "off",
        "the default dtype": _short(torch.get_default_dtype()),
        "the default device": str(torch.get_default_device()),
        "the precision of float32 products": float32_products.in_effect,
        "deterministic algorithms": "on" if torch.are_deterministic_algorithms_enabled() else "off",
    }


def difference(before: dict[str, str], now: dict[str, str]) -> str:
    """What differs between two calls, as text; empty if their descriptions are equal."""
    found = []
    for name in before | now:
        old, new = before.get(name), now.get(name)
        if old is None:
            found.append(f"{name} is new: {new}")
        elif new is None:
            found.append(f"{name} is gone")
        elif old != new:
            found.append(f"{name} was {old} and is {new}")
    rest = f"; {len(found) - _MOST} more" if len(found) > _MOST else ""
    return "; ".join(found[:_MOST]) + rest


def _parameter(function: Callable[..., Any], position: int) -> str:
    if isinstance(function, functools.partial) and isinstance(function.args[0], torch.nn.Module):
        function = function.args[0].forward  # a compiled module
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    named = position < len(parameters) and parameters[position].kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD
    return parameters[position].name if named else f"argument {position}"


def _described(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return repr(value)[:40] if is_plain(value) else f"a {type(value).__name__}"
    kind = "" if type(value) in (torch.Tensor, torch.nn.Parameter) else f"{type(value).__name__} "
    text = f"{kind}{_short(value.dtype)}{[*value.shape]}"
    if value.layout is not torch.strided:
        text += f" of layout {_short(value.layout)}"
    elif not value.is_contiguous():
        text += f" of strides {value.stride()}"
    elif value.storage_offset():
        text += f" at offset {value.storage_offset()}"
    if value.requires_grad:
        text += " that requires grad" if value.is_leaf else " with a history"
    return text if value.device == torch.device(NAME, 0) else f"{text} on {value.device}"


def _short(name: Any) -> str:
    return str(name).removeprefix("torch.")

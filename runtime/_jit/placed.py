"""Moves arguments and results of compiled functions to the shardings that a user specifies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch
from jax.sharding import Sharding

from .._torch import pytree
from ..storage.layout import lay_out
from ..storage.tensors import cell_of
from ..trace.core import current_trace
from .outputs import is_device_tensor


def place(tree: Any, shardings: Any, what: str) -> None:
    """Move the tensors of a tree, in place, to the shardings of a tree prefix.

    Args:
        tree: the tree; leaves that are not dense device tensors are left alone.
        shardings: the tree prefix; None leaves everything below it alone.
        what: the tree's name, for errors.

    Raises:
        ValueError: the structures differ, a sharding does not fit a tensor, or a tensor is only a part of its storage.
    """
    if isinstance(shardings, Sharding):
        for leaf in pytree.tree_leaves(tree):
            if is_device_tensor(leaf) and not lay_out(leaf, shardings):
                raise ValueError(f"{what}: a tensor of shape {[*leaf.shape]} is a part of its storage; clone it")
    elif isinstance(shardings, Mapping):
        for key, below in shardings.items():
            place(tree[key], below, f"{what}[{key!r}]")
    elif isinstance(shardings, (tuple, list)):
        if not isinstance(tree, (tuple, list)) or len(tree) != len(shardings):
            raise ValueError(f"{what}: got {len(shardings)} shardings for {type(tree).__name__}; expected one for each")
        for i, (branch, below) in enumerate(zip(tree, shardings, strict=True)):
            place(branch, below, f"{what}[{i}]")
    elif shardings is not None:
        raise ValueError(f"{what}: got {shardings!r}; expected a jax.sharding.Sharding, None, or a tree of them")


def placing_results(function: Callable[..., Any], shardings: Any) -> Callable[..., Any]:
    """Wrap a function to move its results to shardings; results that it did not create itself are copied."""

    @functools.wraps(function)
    def placed(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()

        def own(leaf: Any) -> Any:
            if not is_device_tensor(leaf) or (
                trace is not None and cell_of(leaf) in trace.born and not leaf._is_view()
            ):
                return leaf
            return leaf.clone()

        results = pytree.tree_map_only(torch.Tensor, own, function(*args, **kwargs))
        place(results, shardings, "tenax.jit: out_shardings")
        return results

    return placed

"""`torch_xla.experimental.pytreeify`: functions with a gradient whose arguments and results are trees."""

from __future__ import annotations

from typing import Any

import torch

from ...._torch import pytree


def pytreeify(cls: type[torch.autograd.Function]) -> type[torch.autograd.Function]:
    """Let the arguments and results of an `autograd.Function` be trees of tensors.

    Args:
        cls: a class whose `backward` returns gradients in the tree of its arguments; it is changed in place.

    Raises:
        TypeError: `cls` is no subclass of `torch.autograd.Function`.
        RuntimeError: in the backward pass, if the gradients have another structure than the arguments.
    """
    if not (isinstance(cls, type) and issubclass(cls, torch.autograd.Function)):
        raise TypeError(f"pytreeify: {cls!r}; expected a subclass of torch.autograd.Function")
    forward, backward, apply = cls.forward, cls.backward, cls.apply

    def flat_forward(ctx: Any, structure: Any, results: list[Any], *leaves: Any) -> tuple[Any, ...]:
        flat, ctx.result_structure = pytree.tree_flatten(forward(ctx, *pytree.tree_unflatten(leaves, structure)))
        ctx.argument_structure = structure
        results.append(ctx.result_structure)
        return tuple(flat)

    def flat_backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        tree = pytree.tree_unflatten(grads, ctx.result_structure)
        found, structure = pytree.tree_flatten(backward(ctx, *(tree if isinstance(tree, tuple) else (tree,))))
        if structure != ctx.argument_structure:
            raise RuntimeError(
                f"{cls.__name__}.backward: gradients of structure {structure}; expected {ctx.argument_structure}, that "
                "of the arguments"
            )
        return None, None, *found

    def tree_apply(*args: Any) -> Any:
        leaves, structure = pytree.tree_flatten(args)
        results: list[Any] = []
        return pytree.tree_unflatten(apply(structure, results, *leaves), results[0])

    cls.forward, cls.backward, cls.apply = map(staticmethod, (flat_forward, flat_backward, tree_apply))  # type: ignore[assignment,method-assign]
    return cls

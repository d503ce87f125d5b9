"""Writes in a captured graph that torch 2.13 changes when it makes them functional (`torch.compile`, `torch.export`).

- An operator on lists (`torch._foreach_add_`, `torch._fused_adamw_`) works tensor by tensor, so each sees what was
  written before. Its functional form reads all tensors first. The views of what it writes keep their old gradients.
- A write through an expanded view (`x.expand(3, 4).zero_()`) becomes the sum of the changes at all its places, and one
  through windows (`x.unfold(0, 2, 2).zero_()`) also writes zeros to the places outside of them.
- A view by position (`as_strided`) may reach memory outside of its base; a write there is lost. After a write to a
  tensor that is not contiguous, it finds other elements, because the functional form of the write is contiguous.
- A tensor that gets other data (`x.data = y`, captured as `set_`) takes its old views along, or leaves new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx

from .._torch.operators import BY_POSITION, DETACHES, MOVES, SETS_DATA, WINDOWS, on_tensors
from .._torch.pytree import tree_leaves
from ..dispatch.overlap import memory_span
from .aliased_inputs import storage_of

_AUGMENTED = {f"i{name}" for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()}


def split_lists(module: fx.GraphModule) -> None:
    """Call operators on lists tensor by tensor where an element shares its storage with another tensor: with another
    element, or with any tensor of the graph if the write is differentiable."""
    found = {*lists_that_share(module), *_differentiable_writes_of_views(module)}
    for node in found:
        node.target = _one_by_one(node)
    if found:
        for part in _graphs(module):
            part.recompile()


def lists_that_share(module: fx.GraphModule) -> list[fx.Node]:
    """The calls of operators that write to a list, of which an element shares its storage with another element."""
    return [n for n in _nodes(module) if n.op == "call_function" and _is_on_lists(n) and _shares_storage(n)]


def _differentiable_writes_of_views(module: fx.GraphModule) -> Iterator[fx.Node]:
    """The calls that write to a list of which an element has a gradient's history and shares its storage with a tensor.

    A leaf that requires a gradient is written without one, as optimizers do.
    """
    storages = Counter(storage_of(_value(node)) for node in _nodes(module))
    for node in _nodes(module):
        if node.op == "call_function" and _is_on_lists(node):
            values = [x for x in map(_value, tree_leaves(node.args[0])) if isinstance(x, torch.Tensor)]
            if any(not x.is_leaf and storages[storage_of(x)] > 1 for x in values):
                yield node


def misread_write(module: fx.GraphModule) -> fx.Node | None:
    """The first call that sets the data of a tensor, or writes through an expanded view or windows, or to memory of
    which a view by position may find another part than in its base (`x[1:].as_strided((2,), (1,), 0)`)."""
    misread = set[fx.Node]()  # expanded tensors, windows, and views of these
    by_position = [node for node in _nodes(module) if _name_of(node) in BY_POSITION]
    viewed = set(map(storage_of, map(_value, by_position))) - {None}
    moved = {storage_of(_value(node)) for node in by_position if _leaves_its_base(node)} - {None}
    for node in _nodes(module):
        written = _written(node) if _writes(node) else []
        if _name_of(node) == SETS_DATA or not misread.isdisjoint(written):
            return node
        for value in map(_value, written):
            storage = storage_of(value)
            if storage in moved or (storage in viewed and not value.is_contiguous()):
                return node
        values = [x for x in tree_leaves(_value(node)) if storage_of(x) is not None]
        storages = set(map(storage_of, values))
        bases = [n for n in node.all_input_nodes if any(storage_of(x) in storages for x in tree_leaves(_value(n)))]
        if any(map(_is_expanded, values)) or not misread.isdisjoint(bases) or (bases and _name_of(node) == WINDOWS):
            misread.add(node)
    return None


def loses_gradient(module: fx.GraphModule) -> bool:
    """Whether a gradient would be lost that `split_lists` does not save: that of a result that is a detached view, and
    was written (`d = x.detach(); d.add_(y)`), or of a write to a list that has no derivative.

    torch 2.13 makes such a result from what was detached again. Eagerly, backward through such a write raises.
    """
    if any(_of_one(node) is None for node in _differentiable_writes_of_views(module)):
        return True
    detached: dict[fx.Node, int] = {}  # with the storages
    for node in module.graph.nodes:
        if node.op == "output":
            return any(n in detached and _value(n).requires_grad for n in node.all_input_nodes)
        storage = storage_of(_value(node))
        if storage is not None and (
            _name_of(node) == DETACHES or any(detached.get(n) == storage for n in node.all_input_nodes)
        ):
            detached[node] = storage
    return False


def equal_results(module: fx.GraphModule) -> dict[int, int]:
    """The positions of results that are the tensor of an earlier result (`y = x.relu_(); return x, y`), with its
    position. torch 2.13 returns two tensors, so that a later change of the geometry of one does not reach the other."""
    first: dict[int, int] = {}
    found = {}
    (output,) = (node for node in module.graph.nodes if node.op == "output")
    for i, node in enumerate(output.args[0] if isinstance(output.args[0], (list, tuple)) else ()):
        value = _value(node)
        if isinstance(value, torch.Tensor) and (earlier := first.setdefault(id(value), i)) != i:
            found[i] = earlier
    return found


def calls_as_strided(module: fx.GraphModule) -> bool:
    """Whether a graph reaches memory by its position in a storage."""
    return any(_name_of(node) in BY_POSITION for node in _nodes(module))


def _graphs(module: fx.GraphModule) -> Iterator[fx.GraphModule]:
    """A graph and the graphs within it."""
    return (part for part in module.modules() if isinstance(part, fx.GraphModule))


def _nodes(module: fx.GraphModule) -> Iterator[fx.Node]:
    return (node for part in _graphs(module) for node in part.graph.nodes)


def _value(node: Any) -> Any:
    """The fake value of a node, as TorchDynamo or `torch.export` stores it; other arguments are their own."""
    return node.meta.get("example_value", node.meta.get("val")) if isinstance(node, fx.Node) else node


def _name_of(node: fx.Node) -> str:
    """The name of the method, function or operator that a node calls, without its overload."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return name.partition(".")[0]


def _is_on_lists(node: fx.Node) -> bool:
    """Whether a node calls an operator that writes to a list of tensors."""
    return _name_of(node).endswith("_") and bool(node.args) and isinstance(node.args[0], (list, tuple))


def _shares_storage(node: fx.Node) -> bool:
    """Whether two elements at different positions of a node's lists share a storage."""
    first: dict[int, int] = {}
    for values in (*node.args, *node.kwargs.values()):
        for i, x in enumerate(map(_value, values) if isinstance(values, (list, tuple)) else ()):
            storage = storage_of(x)
            if storage is not None and first.setdefault(storage, i) != i:
                return True
    return False


def _one_by_one(node: fx.Node) -> Callable[..., None]:
    """An operator on lists as calls for one position each, of the operator on tensors if there is one."""
    operator: Any = node.target
    of_one = _of_one(node)

    def one_by_one(*args: Any, **kwargs: Any) -> None:
        count = len(args[0])
        if any(isinstance(a, (list, tuple)) and len(a) not in (0, count) for a in (*args, *kwargs.values())):
            operator(*args, **kwargs)  # which raises
        for i in range(count):
            function, part = (operator, _element) if of_one is None else (of_one, _at)
            function(*(part(a, i) for a in args), **{name: part(a, i) for name, a in kwargs.items()})

    return one_by_one


def _of_one(node: fx.Node) -> Callable[..., Any] | None:
    """The function that applies an operator on lists to the elements at one position; None if there is none."""
    if any(isinstance(x, torch.Tensor) and x.dim() for x in map(_value, node.args)):  # a number for each position
        return None
    return on_tensors(_name_of(node), [_value(x) for x in tree_leaves(node.args[1:])])


def _element(value: Any, i: int) -> Any:
    """A list of one element of a list; any other argument as it is."""
    return value[i : i + 1] if isinstance(value, (list, tuple)) else value


def _at(value: Any, i: int) -> Any:
    """An element of a list; any other argument as it is."""
    return value[i] if isinstance(value, (list, tuple)) else value


def _writes(node: fx.Node) -> bool:
    name = _name_of(node)
    return (
        (name.endswith("_") and not name.endswith("__"))
        or name.strip("_") in _AUGMENTED
        or name.strip("_") == "setitem"
        or "out" in node.kwargs
        or bool(node.kwargs.get("inplace"))
    )


def _written(node: fx.Node) -> list[fx.Node]:
    """The tensors that a node which writes may write: its first argument and `out`, or the elements of these."""
    found = tree_leaves((node.args[:1], node.kwargs.get("out"), node.kwargs.get("input")))
    return [n for n in found if isinstance(n, fx.Node)]


def _leaves_its_base(node: fx.Node) -> bool:
    """Whether the view by position that a node makes or changes may reach memory which its base does not."""
    if _name_of(node) == MOVES or not node.args:  # what the tensor reached before is not known here
        return True
    view, base = _value(node), _value(node.args[0])
    if storage_of(view) is None or storage_of(view) != storage_of(base):
        return False
    if not all(isinstance(n, int) for x in (view, base) for n in (*x.size(), *x.stride(), x.storage_offset())):
        return True
    (start, end), (first, last) = memory_span(view), memory_span(base)
    has_gaps = base.numel() * base.itemsize < last - first
    return start < end and (has_gaps or not (first <= start and end <= last))


def _is_expanded(x: torch.Tensor) -> bool:
    return any(isinstance(s, int) and s == 0 and n > 1 for n, s in zip(x.size(), x.stride(), strict=True))

"""The arguments of an encoded call that contain sizes: its tensors, and the shapes that some operators are passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import jax

from ..dispatch.encode import EncodedCall, parameter_sizes
from ..dispatch.operands import whole_operand
from ..dispatch.signature import Signature
from ..storage.avals import aval_of
from ..storage.spec import Operand
from .symbols import Dims

Place = int | str  # the position of an operand, or the name of an argument that has none
Shapes = dict[Place, Dims]

_SHAPES = {"input_sizes", "size", "sizes"}  # the names of arguments that state a shape


def map_parts(signature: Signature, parts: Sequence[Any], function: Callable[[Place, Any], Any]) -> list[Any]:
    """The parts of an encoded call, with a function applied to the place and the part of each argument."""
    mapped: list[Any] = []
    position = 0
    for slot, part in zip(signature.arguments, parts, strict=True):
        if slot.kind in ("tensor", "number"):
            mapped.append(function(position, part))
            position += 1
        elif slot.kind in ("tensors", "numbers") and part is not None:
            mapped.append(tuple([function(position + i, one) for i, one in enumerate(part)]))
            position += len(part)
        else:
            mapped.append(function(slot.name, part))
    return mapped


def shapes_of(signature: Signature, parts: Sequence[Any]) -> tuple[Shapes, tuple[Any, ...], dict[int, Operand]]:
    """The shapes in a call, what else is in its key, and its tensors by their positions among the operands."""
    shapes: Shapes = {}
    rest: list[Any] = []
    operands: dict[int, Operand] = {}

    def visit(place: Any, part: Any) -> None:
        if part.__class__ is Operand:
            shapes[place], operands[place] = part.spec.size, part
            rest.append((part.base.dtype, *map(_if_fixed, part.spec.size)))
        elif place in _SHAPES and part.__class__ is tuple:
            shapes[place] = part
            rest.append(tuple(map(_if_fixed, part)))
        else:
            rest.append(part)

    map_parts(signature, parts, visit)
    return shapes, tuple(rest), operands


def _if_fixed(size: int) -> int | None:
    """A size that another one is not handled like; None for other sizes.

    A size of 0 or 1 broadcasts, or leaves nothing to reduce. Sizes of a parameter are those of layers: a model has
    several, but they are the same in each of its steps.
    """
    return size if size < 2 or size in parameter_sizes else None


def with_shapes(signature: Signature, call: EncodedCall, shapes: Mapping[Place, tuple[Any, ...]]) -> EncodedCall:
    """A copy of a call in which the tensors at these places are whole arrays of these shapes.

    Shapes may contain symbols; then the copy is for traces, in which arrays have the shapes that they are passed with.
    """
    dynamic: list[Any] = []
    operands = [*call.operands]

    def replaced(place: Place, part: Any) -> Any:
        if part.__class__ is Operand and part.dynamic:
            dynamic.append(place)
        if place not in shapes:
            return part
        shape = shapes[place]
        if part.__class__ is not Operand:
            return shape
        known = all(isinstance(n, int) for n in shape)
        if part.overwritten:  # a trace is passed its array nevertheless
            operands[place] = jax.ShapeDtypeStruct(shape, part.base.dtype)  # type: ignore[index]
        return whole_operand(aval_of(shape if known else part.spec.size, part.base.dtype))

    changed = copy(call)
    changed.parts = map_parts(signature, call.parts, replaced)
    changed.starts = [start for place, start in zip(dynamic, call.starts, strict=True) if place not in shapes]
    changed.operands = operands
    changed.key = (tuple(changed.parts), *call.key[1:])
    return changed


def written_operands(signature: Signature, parts: Sequence[Any]) -> list[Operand]:
    """The tensors that a call writes, in the order of the schema."""
    return [part for slot, part in zip(signature.arguments, parts, strict=True) if slot.written and part is not None]


def structs(call: EncodedCall, shapes: Mapping[Place, tuple[Any, ...]]) -> list[Any]:
    """The abstract operands of a call, with the shapes of some replaced."""
    return [
        None if x is None else jax.ShapeDtypeStruct(shapes.get(i, x.shape), x.dtype)
        for i, x in enumerate((*call.operands, *call.starts))
    ]

"""Forms of a lowered program that XLA's CPU backend executes faster.

- A product of two matrices whose first axes are contracted, such as the gradient of a weight, `g.T @ x`, copies columns
  of its left operand over and over. If that is the wider one, the product takes up to four times as long as `x.T @ g`,
  of which the transpose is taken instead.
- The step of a loop reads its slice of an array within the computation that uses it, which is then not vectorized: a
  step of an LSTM took four times as long. So the slice is copied first.

Barriers keep XLA from undoing either (`KEPT_BARRIERS`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax

from .._jax import ir, stablehlo

_WIDER = 2  # how many times as wide as the right operand the left one must be
_LONG = 512  # length of the contraction from which the transposition of any result pays off
_LEAST_READ = 1 << 12  # elements of a slice from which a copy pays off


def rewrite(lowered: jax.stages.Lowered) -> bool:
    """Rewrite a lowered program in place; return whether it has changed, so that it needs its barriers."""
    module: Any = lowered.compiler_ir("stablehlo")
    with module.context:
        partitions = module.operation.attributes.get("mhlo.num_partitions")
        if partitions is not None and ir.IntegerAttr(partitions).value > 1:
            return False
        changes = [rule(op) for op, in_loop in list(_walk(module.operation)) for rule in _rules(op, in_loop)]
    return any(changes)


def _walk(op: Any, in_loop: bool = False) -> Iterator[tuple[Any, bool]]:
    """All operations within one, and whether a loop executes each as part of its step."""
    for region in op.regions:
        for block in region:
            for inner in block:
                yield inner, in_loop
                yield from _walk(inner.operation, inner.operation.name == "stablehlo.while")


def _rules(op: Any, in_loop: bool) -> Iterator[Callable[[Any], bool]]:
    name = op.operation.name
    if name == "stablehlo.dot_general":
        yield _swapped
    elif in_loop and (name == "stablehlo.dynamic_slice" or _calls(op, "dynamic_index_in_dim")):
        yield _copied


def _calls(op: Any, name: str) -> bool:
    """Whether an operation calls a function that JAX has named so, perhaps with a number."""
    return op.operation.name == "func.call" and ir.FlatSymbolRefAttr(op.attributes["callee"]).value.startswith(name)


def _swapped(product: Any) -> bool:
    """Swap the operands of a product where it pays off."""
    numbers = stablehlo.DotDimensionNumbers(product.attributes["dot_dimension_numbers"])
    batch, contracted = len(numbers.lhs_batching_dimensions), len(numbers.lhs_contracting_dimensions)
    leading = [*range(batch)], [*range(batch, batch + contracted)]
    if leading != ([*numbers.lhs_batching_dimensions], [*numbers.lhs_contracting_dimensions]):
        return False
    if leading != ([*numbers.rhs_batching_dimensions], [*numbers.rhs_contracting_dimensions]):
        return False
    left, right = product.operands
    axes, others = ir.RankedTensorType(left.type).shape, ir.RankedTensorType(right.type).shape
    result = ir.RankedTensorType(product.result.type)
    if not result.has_static_shape or not isinstance(result.element_type, ir.FloatType):
        return False
    free, count = len(axes) - batch - contracted, len(result.shape)
    rows, columns = math.prod(axes[-free:] if free else ()), math.prod(others[batch + contracted :])
    length = math.prod(axes[batch : batch + contracted])
    if rows < _WIDER * columns or (length < _LONG and rows * columns > length << 10):
        return False
    order = [*range(batch), *range(batch + free, count), *range(batch, batch + free)]  # of the swapped product
    back = sorted(range(count), key=order.__getitem__)
    precision = product.attributes.get("precision_config", None)
    with ir.InsertionPoint(product), product.location:
        numbers = product.attributes["dot_dimension_numbers"]
        kind = ir.RankedTensorType.get([result.shape[i] for i in order], result.element_type)
        swapped = stablehlo.DotGeneralOp(kind, right, left, numbers, precision_config=precision)
        kept = stablehlo.OptimizationBarrierOp([swapped.result])
        transposed = stablehlo.TransposeOp(kept.results[0], ir.DenseI64ArrayAttr.get(back))
    product.result.replace_all_uses_with(transposed.result)
    product.operation.erase()
    return True


def _copied(read: Any) -> bool:
    """Copy a slice that the step of a loop reads, if it is large."""
    (value,) = read.results
    if math.prod(ir.RankedTensorType(value.type).shape) < _LEAST_READ:
        return False
    uses = list(value.uses)
    with ir.InsertionPoint.after(read), read.location:
        kept = stablehlo.OptimizationBarrierOp([value])
    for use in uses:
        use.owner.operands[use.operand_number] = kept.results[0]
    return True

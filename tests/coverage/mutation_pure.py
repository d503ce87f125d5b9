"""Programs of `mutation.py` as pure functions of JAX: values, dtypes and gradients of `t2j(program)`, compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import torch

import tenax
from tenax.errors import TraceError
from tenax.interop import t2j

from . import mutation
from .mutation_modes import FILE, OVERLAP, REFUSALS, Program, Run, said

CALLS = 2
# Values that decide an error are not known to a pure function, which does without the check.
UNCHECKED = (IndexError,)


def run_pure(program: Program) -> tuple[str, str]:
    """How the calls of a program as a pure function differ from CPU torch, and whether it was refused.

    Its tensors are arguments, because what a pure function captures is constant. Autograd follows them only where the
    function itself takes gradients. The arrays are checked not to change, and to count anew in each call.
    """
    program = replace(program, captured=False)
    if program.inside:
        program = replace(program, lines=("leaves = [t.requires_grad_() for t in p]", *program.lines))
    forward = replace(program, leaves=False)
    function = t2j(Run(forward, "jax").scope["program"])
    compiled = None
    for number in range(CALLS):
        theirs = Run(forward, "cpu")
        if number:
            theirs.change(["for t in q: t.copy_(t == 1)"])
        arrays = [_array(t) for t in theirs.tensors]
        before = [a.copy() for a in arrays]
        try:
            expected: Any = theirs.call()[len(arrays) :]
        except Exception as error:
            expected = error
        try:
            compiled = compiled or jax.jit(function)
            found: Any = compiled(*arrays)
        except Exception as error:
            found = error
        if isinstance(found, REFUSALS) and not isinstance(expected, Exception):
            if isinstance(found, TraceError) and FILE not in str(found):
                return f"a TraceError without a line: {found}", ""
            return "", str(found)
        # A detached tensor has a storage of its own there, so a write that overlaps it is not refused, and what it
        # holds for the derivative is not modified.
        refused = OVERLAP in str(expected) or "modified by an inplace operation" in str(expected)
        apart = refused and any("detach()" in line for line in program.lines)
        if (isinstance(expected, UNCHECKED) or apart) and not isinstance(found, Exception):
            return "", ""
        if isinstance(found, Exception) or isinstance(expected, Exception):
            both = isinstance(found, Exception) and isinstance(expected, Exception)
            return ("" if both else f"call {number + 1} raises {said(found)}; CPU torch: {said(expected)}"), ""
        if any(mutation.is_large(t) for t in expected):
            return "", ""
        if any(not bool(jnp.array_equal(a, b)) for a, b in zip(arrays, before, strict=True)):
            return f"call {number + 1}: an argument was written", ""
        message = _compare(found, expected)
        if not message and program.leaves and not program.inside:
            message = _compare_gradients(program, function, arrays)
        if message:
            return f"call {number + 1}: {message}", ""
    return "", ""


def _array(tensor: torch.Tensor) -> jax.Array:
    return tenax.to_jax(tensor.detach().to("jax"))  # jnp.array would narrow int64


def _compare(found: list[jax.Array], expected: list[torch.Tensor]) -> str:
    if len(found) != len(expected):
        return f"{len(found)} results; CPU torch: {len(expected)}"
    for i, (array, tensor) in enumerate(zip(found, expected, strict=True)):
        values = _array(tensor)
        if array.dtype != values.dtype or array.shape != values.shape:
            return f"p[{i}]: {array.dtype}{array.shape}; CPU torch: {values.dtype}{values.shape}"
        if not bool(jnp.allclose(array, values, rtol=1e-5, atol=1e-5, equal_nan=True)):
            return f"p[{i}]: {array.tolist()}; CPU torch: {values.tolist()}"
    return ""


def _compare_gradients(program: Program, function: Any, arrays: list[jax.Array]) -> str:
    """Compare JAX's derivative of the results that torch differentiates with torch's, where torch has one."""
    theirs = Run(program, "cpu")
    leaves = theirs.tensors
    for leaf, array in zip(leaves, arrays, strict=True):
        leaf.data.copy_(torch.tensor(array.tolist()))
    own = {id(t) for t in leaves}
    try:
        made = theirs.call()[len(leaves) :]
        places = [i for i, t in enumerate(made) if t.requires_grad and id(t) not in own]
        loss = sum(((made[i].abs() ** 2).sum() for i in places), torch.zeros(()))
        expected = torch.autograd.grad(loss, leaves, allow_unused=True) if places else ()
    except RuntimeError:
        return ""  # what torch cannot differentiate any more, a pure function may
    if not places:
        return ""

    def total(values: list[jax.Array]) -> jax.Array:
        results = function(*values)
        return sum((jnp.sum(results[i] * results[i]) for i in places), jnp.zeros(()))

    found = jax.jit(jax.grad(total))(arrays)
    wanted = [torch.zeros_like(t) if g is None else g for g, t in zip(expected, leaves, strict=True)]
    message = _compare(found, wanted)
    return f"gradient: {message}" if message else ""

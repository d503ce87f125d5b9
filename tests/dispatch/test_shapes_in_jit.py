"""Lowerings are JAX functions: eager calls run them under `jax.jit`, and those that cannot be say what to call."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch

import tenax
from tenax.dispatch import process_settings
from tenax.errors import TraceError
from tenax.generated import lowering
from tenax.generated.table import ROWS

process_settings.configure()  # JAX honours 64-bit dtypes

# Operators whose result's shape depends on data: arguments after the array, and what the error offers instead.
DYNAMIC: dict[str, tuple[tuple[Any, ...], str]] = {
    "nonzero": ((), "torch.nonzero_static(x, size=...)"),
    "masked_select": ((jnp.ones(4, bool),), "torch.nonzero_static(x, size=...)"),
    "bincount": ((), "jnp.bincount(x, length=...)"),
    "repeat_interleave.Tensor": ((), "pass output_size"),
    "_unique": ((), "jnp.unique(x, size=...)"),
    "_unique2": ((), "jnp.unique(x, size=...)"),
    "unique_dim": ((0,), "jnp.unique(x, size=...)"),
    "unique_consecutive": ((), "jnp.unique(x, size=...)"),
    "unique_dim_consecutive": ((0,), "jnp.unique(x, size=...)"),
}
# These answer with a Python value in torch; their lowerings give a 0-d array, under jit too.
ANSWERS = {"equal", "_fused_sdp_choice", "_nested_tensor_from_mask_left_aligned"}
# Dynamic without its keyword `total_L` alone: tests/sparse/test_nested.py.
JAGGED = {"_padded_dense_to_jagged_forward"}
BOXES = {"torchvision::nms"}  # tests/kernels/test_vision.py


@pytest.mark.parametrize("name", DYNAMIC)
def test_a_result_whose_shape_depends_on_data_is_an_error_in_jit_that_names_the_alternative(name: str) -> None:
    arguments, instead = DYNAMIC[name]
    x, call = jnp.asarray([3, 0, 1, 3]), lowering(name)
    call(x, *arguments)
    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        jax.jit(lambda x: call(x, *arguments))(x)
    assert "The result's shape depends on data" in str(caught.value)
    assert instead in str(caught.value)


def test_all_other_lowerings_run_under_jit() -> None:
    """Eager calls jit every lowering whose row is not `dynamic`; those that are stand in the table above."""
    dynamic = {name for name, row in ROWS.items() if row.dynamic and row.form == "functional"}
    assert dynamic == DYNAMIC.keys() | ANSWERS | BOXES | JAGGED


def test_an_answer_is_a_scalar_in_jit() -> None:
    x = jnp.asarray([3, 0, 1, 3])
    assert bool(jax.jit(lowering("equal"))(x, x))


def test_an_answer_that_depends_on_data_is_not_known_in_a_compiled_function() -> None:
    x = torch.ones(2, 3, device="jax")
    with pytest.raises(TraceError, match=r"equal: the value of a tensor is not known .*test_shapes_in_jit"):
        tenax.jit(lambda x: torch.equal(x, x))(x)
    aligned = torch.ops.aten._nested_tensor_from_mask_left_aligned
    assert tenax.jit(lambda x: aligned(x[..., None], x > 0))(x) is False

"""The words that decide dtypes agree with torch: for all dtypes, of tensors, 0-dim tensors and numbers."""

from __future__ import annotations

from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tenax import words
from tenax.dispatch import settings  # noqa: F401 (the setting under which JAX honours 64-bit dtypes)

DTYPES = {
    torch.bool: np.dtype(bool),
    torch.uint8: np.dtype("uint8"),
    torch.uint16: np.dtype("uint16"),
    torch.uint32: np.dtype("uint32"),
    torch.uint64: np.dtype("uint64"),
    torch.int8: np.dtype("int8"),
    torch.int16: np.dtype("int16"),
    torch.int32: np.dtype("int32"),
    torch.int64: np.dtype("int64"),
    torch.float16: np.dtype("float16"),
    torch.bfloat16: np.dtype(jnp.bfloat16),
    torch.float32: np.dtype("float32"),
    torch.float64: np.dtype("float64"),
    torch.complex64: np.dtype("complex64"),
    torch.complex128: np.dtype("complex128"),
}
UNPROMOTED = "Promotion for uint16, uint32, uint64 types is not supported"


class Shaped:
    """What `result_type` looks at in an array."""

    def __init__(self, dtype: torch.dtype, ndim: int) -> None:
        self.dtype = DTYPES[dtype]
        self.ndim = ndim


def answer(function, *args):
    """The dtype, as numpy's; complex32, which JAX lacks, and a refusal are words."""
    try:
        dtype = function(*args)
    except NotImplementedError:
        return "complex32"
    except RuntimeError as error:
        return str(error).partition(",")[0]
    return "complex32" if dtype is torch.complex32 else DTYPES.get(dtype, dtype)


@pytest.mark.parametrize("first", DTYPES, ids=str)
def test_promote_types_is_torchs(first):
    for second in DTYPES:
        ours = answer(words.promote_types, DTYPES[first], DTYPES[second])
        assert ours == answer(torch.promote_types, first, second), f"{first} with {second}"


@pytest.mark.parametrize("dims", [(1, 1), (1, 0), (0, 1), (0, 0)], ids=str)
def test_result_type_of_two_tensors_is_torchs(dims):
    for dtypes in product(DTYPES, repeat=2):
        theirs = answer(torch.result_type, *(torch.zeros((1,) * n, dtype=d) for d, n in zip(dtypes, dims, strict=True)))
        ours = answer(words.result_type, *(Shaped(d, n) for d, n in zip(dtypes, dims, strict=True)))
        assert ours == theirs, f"{dtypes[0]} with {dtypes[1]}"


@pytest.mark.parametrize("number", [True, 2, 0.5, 1j], ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_result_type_of_a_tensor_and_a_number_is_torchs(number, dim):
    for dtype in DTYPES:
        ours = answer(words.result_type, Shaped(dtype, dim), number)
        assert ours == answer(torch.result_type, torch.zeros((1,) * dim, dtype=dtype), number), f"{dtype}"


def test_a_tensor_with_dimensions_outranks_a_wider_one_without_of_its_kind():
    assert words.result_type(Shaped(torch.float32, 1), Shaped(torch.float64, 0)) == np.dtype("float32")
    assert words.result_type(Shaped(torch.int8, 1), Shaped(torch.int64, 0), 5) == np.dtype("int8")


def test_absent_arguments_do_not_take_part_and_one_must():
    assert words.result_type(None, Shaped(torch.int8, 1), None) == np.dtype("int8")
    with pytest.raises(TypeError, match="no argument has a dtype"):
        words.result_type(None)


def test_unsigned_types_that_torch_does_not_promote_are_refused():
    with pytest.raises(RuntimeError, match=UNPROMOTED):
        words.promote_types(np.dtype("uint16"), np.dtype("int8"))


@pytest.mark.parametrize("number", [0.1, 1e300, 2**53 + 1, 1 / 3 + 0.1j])
def test_a_number_keeps_its_full_precision_when_cast(number):
    dtype = {float: np.float64, int: np.int64, complex: np.complex128}[type(number)]
    assert np.asarray(words.cast(number, dtype)).item() == number

"""Lowerings of the family `search`.

Generated from ops_spec/search.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.generated import checks
from tenax.kernels import search as search_kernels
from tenax.words import ALWAYS_BOOL, Array, cast


def searchsorted__Tensor__checks(
    sorted_sequence: Array,
    self: Array,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
) -> tuple[Array, ...]:
    """The conditions of searchsorted.Tensor; its row of the table has their errors."""
    return (checks.sorter_in_bounds(sorted_sequence, sorter),)


def searchsorted__Scalar(
    sorted_sequence: Array,
    self: ArrayLike,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
) -> Array:
    """searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str?
        side=None, Tensor? sorter=None) -> Tensor

    Spec: ops_spec/search.yaml
    """
    return search_kernels.searchsorted(
        sorted_sequence, jnp.asarray(self), out_int32=out_int32, right=right, side=side, sorter=sorter
    )


def searchsorted__Scalar__checks(
    sorted_sequence: Array,
    self: ArrayLike,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
) -> tuple[Array, ...]:
    """The conditions of searchsorted.Scalar; its row of the table has their errors."""
    return (checks.sorter_in_bounds(sorted_sequence, sorter),)


def bucketize__Scalar(self: ArrayLike, boundaries: Array, *, out_int32: bool = False, right: bool = False) -> Array:
    """bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor

    Spec: ops_spec/search.yaml
    """
    return search_kernels.bucketize(jnp.asarray(self), boundaries, out_int32=out_int32, right=right)


def isin__Tensor_Tensor(
    elements: Array, test_elements: Array, *, assume_unique: bool = False, invert: bool = False
) -> Array:
    """isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) ->
        Tensor

    Spec: ops_spec/search.yaml
    """
    dtype, elements, test_elements = ALWAYS_BOOL(elements, test_elements)
    result = search_kernels.isin(
        elements=elements, test_elements=test_elements, assume_unique=assume_unique, invert=invert
    )
    return cast(result, dtype)


def isin__Tensor_Scalar(
    elements: Array, test_element: ArrayLike, *, assume_unique: bool = False, invert: bool = False
) -> Array:
    """isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) ->
        Tensor

    Spec: ops_spec/search.yaml
    """
    dtype, elements, test_element = ALWAYS_BOOL(elements, test_element)
    return cast((elements != test_element) if invert else (elements == test_element), dtype)


def isin__Scalar_Tensor(
    element: ArrayLike, test_elements: Array, *, assume_unique: bool = False, invert: bool = False
) -> Array:
    """isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) ->
        Tensor

    Spec: ops_spec/search.yaml
    """
    dtype, element, test_elements = ALWAYS_BOOL(element, test_elements)
    return cast(jnp.all(element != test_elements) if invert else jnp.any(element == test_elements), dtype)

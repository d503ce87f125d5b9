"""Conditions on values, each with its error.

Generated from ops_spec/checks.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tenax.words import FLOAT64, Array, all_within, as_long, cast, within


def index_in_bounds(self: Any, dim: Any, index: Any) -> Array:
    """IndexError: index out of range in self"""
    return within(index, 0, (self.shape or (1,))[dim])


def scatter_index_in_bounds(self: Any, dim: Any, index: Any) -> Array:
    """RuntimeError: index is out of bounds for dimension `dim` of self with its size"""
    return within(index, 0, (self.shape or (1,))[dim])


def wrapped_index_in_bounds(self: Any, dim: Any, index: Any) -> Array:
    """IndexError: index is out of bounds for dimension `dim` of self with its size"""
    return 0 in self.shape[:dim] + self.shape[dim:][1:] or all_within([index], (self.shape or (1,))[dim:][:1])


def flat_index_in_bounds(self: Any, index: Any) -> Array:
    """IndexError: out of range: tried to access an index beyond the elements of the tensor"""
    return within(index, -self.size, self.size)


def indices_in_bounds(self: Any, indices: Any) -> Array:
    """IndexError: index is out of bounds for dimension with size: an index exceeds its dimension of self"""
    return all_within(indices, self.shape)


def rows_in_bounds(weight: Any, indices: Any) -> Array:
    """IndexError: index out of range in self"""
    return within(indices, 0, weight.shape[0])


def bag_indices_in_bounds(weight: Any, indices: Any) -> Array:
    """RuntimeError: embedding_bag: an index of input takes a value which is not in the valid range of rows"""
    return within(indices, 0, weight.shape[0])


def first_bag_at_zero(offsets: Any) -> Array:
    """RuntimeError: offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0."""
    return jnp.all(offsets[:1] == 0)


def last_bag_in_bounds(indices: Any, offsets: Any) -> Array:
    """RuntimeError: offsets[-1] can not be greater than input's length"""
    return jnp.all(offsets[-1:] <= indices.shape[0])


def pooled_indices_in_bounds(indices: Any, size: Any) -> Array:
    """RuntimeError: Found an invalid max index"""
    return within(indices, 0, size)


def sorter_in_bounds(sorted_sequence: Any, sorter: Any) -> Array:
    """RuntimeError: torch.searchsorted(): sorter index out of range"""
    return sorter is None or within(sorter, 0, sorted_sequence.shape[-1])


def target_in_bounds(target: Any, classes: Any, ignore_index: Any) -> Array:
    """IndexError: Target is out of bounds."""
    return jnp.all((as_long(target) == as_long(ignore_index)) | ((target >= 0) & (target < classes)))


def std_not_negative(std: Any) -> Array:
    """RuntimeError: normal expects std >= 0.0"""
    return jnp.all(cast(std, FLOAT64) >= 0)


def all_std_not_negative(std: Any) -> Array:
    """RuntimeError: normal expects all elements of std >= 0.0"""
    return jnp.all(cast(std, FLOAT64) >= 0)


def is_probability(p: Any) -> Array:
    """RuntimeError: bernoulli_ expects p to be in [0, 1]"""
    return (cast(p, FLOAT64) >= 0) & (cast(p, FLOAT64) <= 1)


def all_probabilities(p: Any) -> Array:
    """RuntimeError: Expected p_in >= 0 && p_in <= 1 to be true, but got false"""
    return jnp.all((p >= 0) & (p <= 1))


def high_above_zero(high: Any) -> Array:
    """RuntimeError: random_ expects 'from' to be less than 'to', but got from=0 >= to"""
    return jnp.all(high > 0)


def range_is_finite(self: Any, range: Any) -> Array:
    """RuntimeError: torch.histogramdd: the range of a dimension is not finite"""
    return (range is not None) | jnp.all(jnp.isfinite(self))

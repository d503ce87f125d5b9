"""The three functions of a convolution as JAX primitives whose lowering depends on the platform.

They are bilinear and closed under differentiation: each has the other two as transposes, so derivatives of any order
and mode are also computed by the methods of this package. On other platforms than the CPU, and where JAX's own
convolution is as fast, they are `lax.conv_general_dilated`; but only the CPU's library convolves integers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from tenax._jax import is_over_mesh
from tenax.kernels.convolution import eigen, library, methods, shifts
from tenax.kernels.convolution.geometry import Function, Geometry
from tenax.kernels.unsplit import unsplit
from tenax.words import BFLOAT16, Array, cast, is_complex, is_float, opmath


def _chosen(choose: Callable[[Geometry, int, int], Function], of: str) -> Function:
    """A function that computes one of the three by the method chosen for its geometry. `of` names the computed array:
    see `_channels`.

    Half precision is computed in float32 as a whole and rounded once.
    """

    def compute(geometry: Geometry, first: Array, second: Array) -> Array:
        wide = opmath(first.dtype)
        method = choose(geometry, *_channels(of, geometry, first, second))
        result = method(geometry, cast(first, wide), cast(second, wide))
        return _rounded(result) if first.dtype == BFLOAT16 else cast(result, first.dtype)

    return compute


def _rounded(x: Array) -> Array:
    """float32 to bfloat16 by operations on integers.

    A loop of many terms that ends with XLA's own conversion is not vectorized on the CPU, and takes five times as long.
    """
    bits = lax.bitcast_convert_type(x, np.uint32)
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    upper = cast(jnp.where(jnp.isnan(x), 0x7FC0, upper), np.uint16)
    return lax.bitcast_convert_type(upper, BFLOAT16)


def _by_type(of_numbers: Function, of_integers: Function) -> Function:
    def compute(geometry: Geometry, first: Array, second: Array) -> Array:
        return (of_numbers if _is_inexact(first) else of_integers)(geometry, first, second)

    return compute


def _is_inexact(x: Array) -> bool:
    return is_float(x) or is_complex(x)


def _channels(of: str, geometry: Geometry, first: Array, second: Array) -> tuple[int, int]:
    """The number of channels per group of the output and of the image."""
    if of == "weight":
        return first.shape[1] // geometry.groups, second.shape[1] // geometry.groups
    return second.shape[0] // geometry.groups, second.shape[1]


def _has_methods(of: str, geometry: Geometry, *arrays: Array) -> bool:
    """Whether the method depends on the platform: only for known sizes, without a mesh."""
    sizes = (*geometry.image, *geometry.out, *(n for x in arrays for n in x.shape))
    if not all(isinstance(n, int) and n > 0 for n in sizes) or not jax.sharding.get_abstract_mesh().empty:
        return False
    g = geometry
    if not _is_inexact(arrays[0]) or g.groups > 1 or g.rank == 3 or prod(g.kernel) == 1 or g.small:
        return True
    return of == "output" and eigen.has_odd_channels(g, arrays[1])


class Convolution:
    """One of the three functions: a primitive where platforms have different methods, otherwise the library."""

    def __init__(
        self,
        name: str,
        by_library: Function,
        choose: Callable[[Geometry, int, int], Function],
        of_integers: Function,
    ) -> None:
        self.name, self.by_library, self.of_integers = name, by_library, of_integers
        self.primitive = Primitive(f"convolution_{name}")
        self.primitive.def_abstract_eval(self._abstract)
        self.primitive.def_impl(self._run)
        batching.primitive_batchers[self.primitive] = self._batched
        self.elsewhere = _by_type(by_library, of_integers)  # than on the CPU
        on_cpu = _by_type(_chosen(choose, name), by_library)
        mlir.register_lowering(self.primitive, _rule(self.elsewhere, self._over_mesh))
        mlir.register_lowering(self.primitive, _rule(on_cpu, on_cpu), platform="cpu")

    def __call__(self, geometry: Geometry, first: Array, second: Array) -> Array:
        first, second = self._whole(geometry, first), self._whole(geometry, second, self.name != "weight")
        if _has_methods(self.name, geometry, first, second):
            result = self.primitive.bind(first, second, geometry=geometry)
        else:
            compute = self.by_library if jax.sharding.get_abstract_mesh().empty else self._over_mesh
            result = compute(geometry, first, second)
        return self._whole(geometry, result, self.name == "weight")

    def _whole(self, geometry: Geometry, x: Array, is_weight: bool = False) -> Array:
        """`x`, split over a mesh only where XLA's partitioner is right: by batch, and by channels without groups."""
        first = 2 if geometry.groups == 1 else 0 if is_weight else 1
        return unsplit(x, range(first, x.ndim))

    def _over_mesh(self, geometry: Geometry, first: Array, second: Array) -> Array:
        """As elsewhere, but XLA's partitioner sums the weights of groups wrongly over a split batch."""
        of_products = self.name == "weight" and geometry.groups > 1
        return (self.of_integers if of_products else self.elsewhere)(geometry, first, second)

    def _abstract(self, first: Any, second: Any, *, geometry: Geometry) -> Any:
        outputs, inputs = _channels(self.name, geometry, first, second)
        shape = {
            "output": (first.shape[0], outputs * geometry.groups, *geometry.out),
            "image": (first.shape[0], inputs * geometry.groups, *geometry.image),
            "weight": (outputs * geometry.groups, inputs, *geometry.kernel),
        }[self.name]
        return first.update(shape=shape)

    def _run(self, first: Array, second: Array, *, geometry: Geometry) -> Array:
        with jax.disable_jit(False):
            return _jitted(self.primitive, geometry)(first, second)

    def _batched(self, arrays: Any, axes: Any, *, geometry: Geometry) -> tuple[Array, int]:
        """Merge the mapped axis into the batch if the weight has none, otherwise into the groups."""
        count = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
        if self.name != "weight" and axes[1] is None:
            x = jnp.moveaxis(arrays[0], axes[0], 0)
            out = self(geometry, x.reshape(-1, *x.shape[2:]), arrays[1])
            return out.reshape(count, -1, *out.shape[1:]), 0
        joined = geometry._replace(groups=geometry.groups * count)
        first, second = (
            lax.broadcast(x, (count,)) if axis is None else jnp.moveaxis(x, axis, 0)
            for x, axis in zip(arrays, axes, strict=True)
        )
        second = _into(1, second) if self.name == "weight" else _into(0, second)
        out = self(joined, _into(1, first), second)
        axis = 0 if self.name == "weight" else 1
        return out.reshape(*out.shape[:axis], count, -1, *out.shape[axis + 1 :]), axis


def _rule(on_one_device: Function, over_mesh: Function) -> Callable[..., Any]:
    """The rule that lowers a convolution to one of two functions."""
    on_one, on_many = (mlir.lower_fun(_lowered(f), False) for f in (on_one_device, over_mesh))

    def lower(context: Any, *arrays: Any, geometry: Geometry) -> Any:
        return (on_many if is_over_mesh(context) else on_one)(context, *arrays, geometry=geometry)

    return lower


def _lowered(function: Function) -> Callable[..., Array]:
    """Enable 64-bit dtypes and the precision in `function`, which JAX traces while lowering a program, outside the
    caller's context."""

    def lowered(first: Array, second: Array, *, geometry: Geometry) -> Array:
        with jax.enable_x64(True), jax.default_matmul_precision(geometry.precision):
            return function(geometry, first, second)

    return lowered


def _into(axis: int, x: Array) -> Array:
    """`x` with its first axis merged into another, as the major part."""
    x = jnp.moveaxis(x, 0, axis)
    return x.reshape(*x.shape[:axis], -1, *x.shape[axis + 2 :])


@functools.lru_cache
def _jitted(primitive: Primitive, geometry: Geometry) -> Any:
    return jax.jit(partial(primitive.bind, geometry=geometry))


output = Convolution("output", library.output, methods.output, partial(shifts.output, contract=shifts.product))
image = Convolution("image", library.image, methods.image, partial(shifts.image, contract=shifts.product))
weight = Convolution("weight", library.weight, methods.weight, shifts.weight_by_products)


# The transposes with respect to the first and the second array; `t` is the cotangent of the result.
ad.defbilinear(
    output.primitive,
    lambda t, _, w, *, geometry: image(geometry, t, w),
    lambda t, x, _, *, geometry: weight(geometry, t, x),
)
ad.defbilinear(
    image.primitive,
    lambda t, _, w, *, geometry: output(geometry, t, w),
    lambda t, y, _, *, geometry: weight(geometry, y, t),
)
ad.defbilinear(
    weight.primitive,
    lambda t, _, x, *, geometry: output(geometry, x, t),
    lambda t, y, _, *, geometry: image(geometry, y, t),
)

"""The geometry of a convolution, with names for its three arrays.

A convolution maps an image (N, Ci, *image) and a weight (Co, Ci/groups, *kernel) to an output (N, Co, *out). For each
of the three there is a bilinear function of the other two, and every derivative is one of these functions again. A
transposed convolution maps the output to the image.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isqrt, prod
from typing import NamedTuple

from tenax.words import Array

Sizes = tuple[int, ...]


class Geometry(NamedTuple):
    """Sizes of all three arrays along each spatial axis. The image size does not follow from the others: a transposed
    convolution may choose it, and an output may leave the end of the image unread."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int
    image: Sizes
    kernel: Sizes
    out: Sizes
    precision: str | None = None  # of products, for lowerings, which JAX traces when the setting may have changed

    @property
    def rank(self) -> int:
        return len(self.out)

    @property
    def pads(self) -> list[tuple[int, int]]:
        """Padding below and above with which the windows fill the image exactly; negative where it is larger."""
        axes = zip(self.image, self.padding, self.out, self.stride, self.kernel, self.dilation, strict=True)
        return [(p, (o - 1) * s + (k - 1) * d + 1 - p - i) for i, p, o, s, k, d in axes]

    @property
    def apart(self) -> bool:
        """Whether no two windows overlap."""
        axes = zip(self.stride, self.kernel, self.dilation, strict=True)
        return all(s > (k - 1) * d for s, k, d in axes)

    @property
    def small(self) -> bool:
        """Whether one of the three functions has a kernel of more pixels than what it is moved over."""
        image, kernel, out = prod(self.image), prod(self.kernel), prod(self.out)
        return kernel > min(image, out) or out > image

    @property
    def planes(self) -> Geometry:
        """This geometry without the first spatial axis."""
        stride, padding, dilation = self.stride[1:], self.padding[1:], self.dilation[1:]
        sizes = self.image[1:], self.kernel[1:], self.out[1:]
        return Geometry(stride, padding, dilation, self.groups, *sizes, self.precision)

    @property
    def taps(self) -> Iterator[Sizes]:
        """The positions of the kernel."""
        return itertools.product(*(range(k) for k in self.kernel))

    def offset(self, tap: Sizes) -> Sizes:
        """The position of the padded image that a tap of the first window reads."""
        return tuple(t * d for t, d in zip(tap, self.dilation, strict=True))

    def multiplications(self, arrays: Iterable[Sequence[int]]) -> int:
        """Number of multiplications of each of the three functions, from the shapes of the three arrays."""
        # The product of the shapes has batch and channels twice, and each spatial size once.
        product = prod(n for shape in arrays for n in shape) * prod(self.out) * prod(self.kernel)
        return isqrt(product // (prod(self.image) * self.groups))


# A function of the geometry and two of the three arrays that computes the third.
Function = Callable[[Geometry, Array, Array], Array]

"""What depends on the platform: forms of a computation that CPUs run faster, and what a compiler lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
from jax import lax

from tenax.platforms import platform
from tenax.words import COMPLEX128, Array, DType

T = TypeVar("T")


class Lacks(NamedTuple):
    """What a platform cannot compile."""

    dtypes: frozenset[DType]
    operators: frozenset[str]


# The TPU compiler ends the process at a complex128 value, and JAX has no rule for eigenvalues of a general matrix.
LACKS = {
    "tpu": Lacks(frozenset({COMPLEX128}), frozenset({"linalg_eig", "linalg_eigvals", "_linalg_eigvals"})),
}


def require_supported(name: str, values: Any) -> None:
    """Check the arguments and results of an operator.

    Raises:
        NotImplementedError: the platform's compiler lacks the operator or one of the dtypes.
    """
    lacks = LACKS.get(platform())
    if lacks is None:
        return
    dtypes = {x.dtype for x in jax.tree.leaves(values) if isinstance(x, jax.Array)}
    if name.partition(".")[0] not in lacks.operators:
        dtypes &= lacks.dtypes
    if dtypes:
        listed, where = ", ".join(sorted(map(str, dtypes))), platform()
        raise NotImplementedError(f"{name}: JAX's platform {where!r} does not support it for {listed}; use the CPU")


def choose(cpu: Callable[..., T], elsewhere: Callable[..., T], *arrays: Array, symbolic: bool = False) -> T:
    """`cpu(*arrays)` on the CPU if there is no mesh, otherwise `elsewhere(*arrays)`, which has the same results.

    Without `symbolic`, `cpu` needs to know all sizes, and `elsewhere` computes on arrays of symbolic ones.
    """
    known = symbolic or all(isinstance(n, int) for x in arrays for n in x.shape)
    if not known or not jax.sharding.get_abstract_mesh().empty:
        return elsewhere(*arrays)
    return lax.platform_dependent(*arrays, cpu=cpu, default=elsewhere)

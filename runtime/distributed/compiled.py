"""Traces of `tenax.jit` and `torch.compile` that contain collectives, compiled for all ranks that run them.

The whole program is one `shard_map` over the devices of the ranks, in which each rank computes on its own arrays, as it
would alone, and XLA sees the collectives together with the computation.

All ranks must run the same program, so they compare their traces before they compile.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from torch.distributed import DistBackendError

from .._jax import local_call
from ..errors import TraceError
from ..storage.placement import put
from .group_base import GroupBase, groups
from .jaxprs import Description, axes_among, evaluate, inlined, renamed

_COLLECTIVES = {
    "psum": "all_reduce",
    "pmin": "all_reduce",
    "pmax": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "all_to_all": "all_to_all",
    "ppermute": "permute",
}
Call = Callable[[list[jax.Array]], Sequence[jax.Array]]
_compiled: Counter[str] = Counter()  # programs of each group, which its ranks compile in one order


class DifferentTracesError(DistBackendError, TraceError):
    """The ranks have traced different programs. All of them raise it, so their group remains usable."""


def compile_for_ranks(
    closed: ClosedJaxpr, arrays: Sequence[jax.Array], donated: tuple[int, ...], options: dict[str, Any] | None
) -> tuple[jax.stages.Lowered, Call]:
    """Compile a program for the ranks of its collectives; return the lowered program and a function that calls it.

    Args:
        closed: the program.
        arrays: this rank's arguments of the first call.
        donated: positions of the arguments that may be donated.
        options: XLA's compiler options.

    Raises:
        DistBackendError: the ranks have traced different programs.
        NotImplementedError: its groups are not axes of one mesh.
    """
    home, mesh, axes = place([groups[axis] for axis in axes_among(closed)])
    closed = inlined(ClosedJaxpr(renamed(closed.jaxpr, axes), closed.consts))
    constants = [c if isinstance(c, jax.Array) else put(np.asarray(c), 0) for c in closed.consts]
    description = Description(closed.jaxpr)
    kinds = Counter(_COLLECTIVES.get(e.primitive.name) for e in description.equations)
    shown = ", ".join(f"{n} {kind}" for kind, n in kinds.items() if kind)
    _compiled[home.axis] += 1
    name = f"compiled program {_compiled[home.axis]} of {shown}"
    differing = _agree(home, name, description, donated)
    numbers = [description.numbers[i].array() for i in differing]
    operands = Operands([*arrays, *constants, *numbers], mesh)
    count, known = len(arrays), len(arrays) + len(constants)

    def run(*given: jax.Array) -> list[jax.Array]:
        found = operands.restored(given)
        program = ClosedJaxpr(closed.jaxpr, found[count:known])
        return evaluate(program, found[:count], dict(zip(differing, found[known:], strict=True)))

    # The results are not replicated either, but XLA does not infer anything from the sharding of results.
    mapped = jax.shard_map(run, mesh=mesh, in_specs=operands.spec, out_specs=PartitionSpec(), check_vma=False)
    with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
        jitted = jax.jit(mapped, donate_argnums=operands.donated(donated), keep_unused=True, compiler_options=options)
        lowered = jitted.lower(*operands.avals)
    execute = local_call(lowered.compile())
    rest = [*constants, *numbers]

    def call(arrays: list[jax.Array]) -> Sequence[jax.Array]:
        given = operands.passed([*arrays, *rest])
        return home.in_order(name, lambda: home.carry_out(name, lambda: execute(given)))

    return lowered, call


class Operands:
    """The arrays of a rank as its shards of global ones, which concatenate those of all ranks.

    They must not be declared as replicated, though `shard_map` would allow it: XLA may replace the sum of replicated
    arrays by a multiplication. A scalar cannot be a shard, so all scalars of one dtype are passed as one array.
    """

    def __init__(self, arrays: Sequence[jax.Array], mesh: Mesh) -> None:
        """`arrays` are those of the first call."""
        self.spec = PartitionSpec(mesh.axis_names)
        self.whole = [i for i, x in enumerate(arrays) if x.ndim]
        self.scalars: dict[Any, list[int]] = {}
        for i, x in enumerate(arrays):
            if not x.ndim:
                self.scalars.setdefault(x.dtype, []).append(i)
        shapes = [arrays[i].shape for i in self.whole] + [(len(places),) for places in self.scalars.values()]
        dtypes = [*(arrays[i].dtype for i in self.whole), *self.scalars]
        sharding = NamedSharding(mesh, self.spec)
        self.avals = [
            jax.ShapeDtypeStruct((mesh.size * shape[0], *shape[1:]), dtype, sharding=sharding)
            for shape, dtype in zip(shapes, dtypes, strict=True)
        ]
        self._stack = jax.jit(lambda groups: [*map(jnp.stack, groups)])

    def donated(self, places: tuple[int, ...]) -> tuple[int, ...]:
        """The operands that may be donated, given the positions of the arrays that may."""
        return tuple(n for n, i in enumerate(self.whole) if i in places)

    def passed(self, arrays: Sequence[jax.Array]) -> list[jax.Array]:
        """The operands of a call."""
        whole = [arrays[i] for i in self.whole]
        if not self.scalars:
            return whole
        return whole + self._stack([[arrays[i] for i in places] for places in self.scalars.values()])

    def restored(self, given: Sequence[jax.Array]) -> list[jax.Array]:
        """The arrays from the operands, within the program."""
        found: dict[int, jax.Array] = dict(zip(self.whole, given, strict=False))
        for places, packed in zip(self.scalars.values(), given[len(self.whole) :], strict=True):
            found.update((i, packed[n]) for n, i in enumerate(places))
        return [found[i] for i in range(len(found))]


def _agree(home: GroupBase, name: str, description: Description, donated: tuple[int, ...]) -> list[int]:
    """The indices of the numbers in which the programs of the ranks differ; raise if anything else differs."""
    agreement = home.agreement
    own = [description.digests, [repr(n.value) for n in description.numbers], donated]
    said = [json.loads(text) for text in home.exchange(f"the compilation of {name}", json.dumps(own))]
    for rank, (digests, _, given) in enumerate(said):
        if digests != description.digests or tuple(given) != donated:
            pairs = enumerate(zip(digests, description.digests, strict=False))
            i = next((i for i, (a, b) in pairs if a != b), 0)
            raise DifferentTracesError(
                f"{name}: rank {agreement.name(rank)} has traced another program than rank "
                f"{agreement.name(agreement.rank)}, from {description.place(i)} on; expected the same operations "
                "on the same shapes on every rank, where only numbers and starts of slices differ"
            )
    texts = [numbers for _, numbers, _ in said]
    return [i for i, values in enumerate(zip(*texts, strict=True)) if len(set(values)) > 1]


def place(used: Sequence[GroupBase]) -> tuple[GroupBase, Mesh, dict[str, tuple[str, ...]]]:
    """The group whose ranks run a program, their mesh, and the axes of this mesh that replace the axis of each group.

    Raises:
        NotImplementedError: the program has collectives of groups that are not axes of one mesh of all ranks.
    """
    if len(used) == 1:
        home = used[0]
        return home, Mesh(np.array(home.devices), (home.axis,)), {home.axis: (home.axis,)}
    home = max(groups.values(), key=lambda g: len(g.devices))
    ranks = {g.axis: [home.devices.index(d) for d in g.devices] for g in used}
    cuts = {1, len(home.devices)}
    for own in ranks.values():
        stride, size = own[1] - own[0] if len(own) > 1 else 1, len(own)
        regular = stride > 0 and own == [*range(own[0], own[0] + stride * size, stride)]
        if not regular or own[0] // stride % size or len(home.devices) % (stride * size):
            raise _not_one_mesh(used)
        cuts |= {stride, stride * size}
    strides = sorted(cuts)
    sizes = [b // a for a, b in itertools.pairwise(strides)]
    if math.prod(sizes) != len(home.devices) or any(b % a for a, b in itertools.pairwise(strides)):
        raise _not_one_mesh(used)
    names = [f"stride {stride}" for stride in strides[:-1]]
    mesh = Mesh(np.array(home.devices).reshape(*sizes[::-1], 1), (*names[::-1], "alone"))
    axes = {}
    for axis, own in ranks.items():
        stride = own[1] - own[0] if len(own) > 1 else 1
        within = [n for n, s in zip(names, strides, strict=False) if stride <= s < stride * len(own)]
        axes[axis] = tuple(within[::-1]) or ("alone",)
    return home, mesh, axes


def _not_one_mesh(used: Sequence[GroupBase]) -> NotImplementedError:
    shown = ", ".join(str([*g.agreement.ranks]) for g in used)
    return NotImplementedError(
        f"a compiled function has collectives of the ranks {shown}; expected groups that are dimensions of one mesh of "
        "all ranks, as those of init_device_mesh are. Compile the collectives of each group in a function of its own"
    )

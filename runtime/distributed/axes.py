"""Axes of `jax.shard_map` as process groups: torch's collectives in a `t2j` function become those of `jax.lax`.

Every device along the axes runs the same function, and a single trace covers all of them, so there is no rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax
from torch.distributed import ProcessGroup

from .._torch.distributed import register_group, register_ranks
from ..functional.detach import PureTrace
from ..trace.core import current_trace, user_line
from .collectives import BODIES, Ranks
from .group import JaxProcessGroup
from .tensors import refuse_in_trace
from .work import CollectiveWork

_groups: dict[tuple[str, ...], AxisGroup] = {}


def axis_group(*axes: str) -> AxisGroup:
    """The devices along axes of `jax.shard_map`, `jax.vmap` or `jax.pmap` as a process group of torch.

    In a `t2j` function that JAX maps over the axes, collectives of this group become those of `jax.lax`, which
    `jax.grad` differentiates. torch's functional collectives also accept the group's name, which is that of the axis;
    the names of several axes are joined by commas.

    Raises:
        ValueError: no axis is given.
    """
    if not axes:
        raise ValueError("tenax.distributed.axis_group: expected the name of an axis")
    group = _groups.setdefault(axes, AxisGroup(axes))
    register_group(group.group_name, group)
    register_ranks(group, NoRanks(group))
    return group


class NoRanks(dict[int, int]):
    """The ranks of an axis group, which has none: raises when torch looks them up, as in `permute_tensor`."""

    def __init__(self, group: AxisGroup) -> None:
        super().__init__()
        self.group = group

    def keys(self) -> Any:
        raise self.group.without_rank()


class AxisGroup(JaxProcessGroup):
    """The devices along axes; see `axis_group`."""

    def __init__(self, axes: tuple[str, ...]) -> None:
        ProcessGroup.__init__(self, 0, 1)  # type: ignore[call-arg, unused-ignore]
        self.axes: Any = axes[0] if len(axes) == 1 else axes
        self._name, self._description = ",".join(axes), "undefined"
        self._rank = 0  # for any device: all have the same shapes
        self._coalesced: list[CollectiveWork] | None = None

    def rank(self) -> int:
        raise self.without_rank()

    def without_rank(self) -> NotImplementedError:
        """The error for operations that need a rank."""
        return NotImplementedError(
            f"the rank in the group of axis {self._name!r}{user_line()}: one trace is of all devices; expected "
            "tenax.call_jax with jax.lax.axis_index, or with jax.lax.ppermute in the place of permute_tensor"
        )

    def size(self) -> int:
        """The number of devices.

        Raises:
            RuntimeError: the running function is not a `t2j` function that JAX maps over the axes.
        """
        if isinstance(current_trace(), PureTrace):
            try:
                return int(lax.axis_size(self.axes))
            except NameError:
                pass
        raise self.without_axis()

    def without_axis(self) -> RuntimeError:
        """The error of a collective that no JAX function maps over the axes."""
        return RuntimeError(
            f"a collective of the group of axis {self._name!r}{user_line()}: there is no such axis; expected a "
            f"function of t2j in jax.shard_map over a mesh with the axis {self._name!r}"
        )

    def _trace(self, name: str, arrays: Sequence[jax.Array], **details: Any) -> list[jax.Array]:
        ranks = Ranks(self.axes, self.size(), lambda: lax.axis_index(self.axes))
        with jax.enable_x64(True):
            return BODIES[name]([*arrays], ranks=ranks, **details)

    def _submitted(self, *call: Any) -> CollectiveWork:
        raise self.without_axis()  # outside of a trace

    def _exchange(
        self, flat: jax.Array, sent: list[int], received: list[int], result: Any, finish: Callable[[jax.Array], None]
    ) -> CollectiveWork:
        if len({*sent, *received}) > 1:
            refuse_in_trace("all_to_all of parts of different sizes", "expected parts of one size: pad them")
        return self._start("all_to_all", [flat], result, lambda rows: finish(rows[0].reshape(-1)))

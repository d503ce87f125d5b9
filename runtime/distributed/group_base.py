"""The base of process groups: names and sizes, as torch queries them, and the execution of collectives."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import jax
import numpy as np
import torch
from torch.distributed import ProcessGroup

from .._jax import named_axes
from .._torch import NAME, pytree
from .._torch.distributed import host_group
from ..functional.detach import PureTrace
from ..storage.avals import meshes
from ..storage.placement import put
from ..trace.core import as_tracer, current_trace, user_line
from ..trace.ranks import axis_name
from .agreement import Agreement, MonitoredBarriers
from .collectives import BODIES, Programs, Ranks, describe
from .point_to_point import Messages
from .tensors import write_all
from .threads import Channel, Job, monitor
from .work import CollectiveWork, finished
from .world import World

Finish = Callable[[list[jax.Array]], None]


programs_of = functools.cache(Programs)  # the collectives over the devices of a group


@functools.cache
def channel_of(devices: tuple[jax.Device, ...]) -> Channel:
    """The thread shared by all groups of the same devices, whose messages share connections."""
    return Channel()


groups: weakref.WeakValueDictionary[str, GroupBase] = weakref.WeakValueDictionary()  # by axis name in programs


class GroupBase(ProcessGroup):
    """The ranks of a group, each with one device."""

    def __init__(
        self, store: Any, rank: int, ranks: Sequence[int], world: World, timeout: timedelta, name: str
    ) -> None:
        super().__init__(rank, len(ranks))  # type: ignore[call-arg, unused-ignore]
        devices = tuple(world.devices[r] for r in ranks)
        self._rank, self._size, self._name, self._description = rank, len(ranks), name, "undefined"
        self._timeout = timeout
        self._store = store
        self.devices, self.axis = devices, axis_name(name)
        groups[self.axis] = self
        meshes.ranks = meshes.ranks or len(ranks) > 1
        self._programs = programs_of(devices)
        self._channel = channel_of(devices)
        self.agreement = Agreement(store, tuple(ranks), rank, timeout, world.peers)
        self._messages = Messages(store, rank, devices, self.agreement)
        if world.peers is not None:
            world.peers.on_change = monitor().wake.set
        monitor().ticks.append(self.agreement.note)
        self._coalesced: list[CollectiveWork] | None = None

    # Properties that torch queries

    supports_splitting = supports_coalescing = supports_time_estimate = False
    bound_device_id = None

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._size

    def name(self) -> str:
        return "tenax"

    getBackendName = _get_backend_name = name  # noqa: N815

    def getGroupName(self) -> str:  # noqa: N802
        return self._name

    def setGroupName(self, name: str) -> None:  # noqa: N802
        self._name = name

    def getGroupDesc(self) -> str:  # noqa: N802
        return self._description

    def setGroupDesc(self, desc: str) -> None:  # noqa: N802
        self._description = desc

    group_name = pg_name = property(getGroupName)
    group_desc = property(getGroupDesc)
    _set_group_name, _set_group_desc = setGroupName, setGroupDesc

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device(NAME), torch.device("cpu")]

    def _get_backend(self, device: Any) -> Any:
        return self.host if torch.device(device).type == "cpu" else self

    def get_group_store(self) -> Any:
        return self._store

    def set_timeout(self, timeout: timedelta) -> None:
        self._timeout = self.agreement.timeout = timeout

    _set_default_timeout = set_timeout

    def shutdown(self) -> None:
        """Stop watching the group."""
        if self.agreement.note in monitor().ticks:
            monitor().ticks.remove(self.agreement.note)

    abort = shutdown

    @functools.cached_property
    def _monitored(self) -> MonitoredBarriers:
        return MonitoredBarriers(self._store.clone(), self._rank, self._size)

    @functools.cached_property
    def host(self) -> Any:
        """The group of the same ranks for CPU tensors."""
        return host_group(self._store, self._rank, self._size, self._timeout)

    # How collectives run

    def _start(
        self, name: str, arrays: Sequence[jax.Array], result: Any, finish: Finish | None = None, **details: Any
    ) -> CollectiveWork:
        """Run one collective, or add it to the trace, and have `finish` write what it returns, by default into the
        tensors of `result`."""
        finish = finish or functools.partial(write_all, pytree.tree_leaves(result))
        if current_trace() is not None:
            finish(self._trace(name, arrays, **details))
            return self._collected(finished(result))

        def job() -> Callable[[], None]:
            return functools.partial(finish, self._run(name, arrays, **details))

        return self._submit(job, result, functools.partial(describe, name, arrays, **details))

    def _trace(self, name: str, arrays: Sequence[jax.Array], **details: Any) -> list[jax.Array]:
        """Add a collective to the trace. The arrays are made tracers, because JAX would reduce constants by itself."""
        if isinstance(current_trace(), PureTrace):
            raise NotImplementedError(
                f"{name} inside a function of t2j{user_line()}: not supported, because JAX would have to know the axis "
                "of the group; expected tenax.jit or torch.compile, or the group of an axis of jax.shard_map, "
                "tenax.distributed.axis_group"
            )
        ranks = Ranks(self.axis, self._size, lambda: put(np.array(self._rank, np.int32), 0))
        with named_axes([(self.axis, self._size)]), jax.enable_x64(True):
            return BODIES[name]([*map(as_tracer, arrays)], ranks=ranks, **details)

    def _submit(self, job: Job, result: Any, description: Callable[[], str]) -> CollectiveWork:
        if current_trace() is not None:  # the end of a coalescing block, whose collectives are in the trace
            return finished(result)
        return self._collected(self._submitted(job, result, description))

    def _submitted(self, job: Job, result: Any, description: Callable[[], str]) -> CollectiveWork:
        if self.agreement.fault:
            raise self.agreement.failed(f"the group is broken since an earlier call: {self.agreement.fault}")
        work = CollectiveWork(result, description)
        self._channel.submit(work, job)
        monitor().watch(work, self.agreement.check)
        return work

    def _collected(self, work: CollectiveWork) -> CollectiveWork:
        """The work, which is added to the open coalescing block, if any."""
        if self._coalesced is not None:
            self._coalesced.append(work)
        return work

    def in_order(self, name: str, job: Callable[[], Any]) -> Any:
        """Run a job on the thread of the group, after all earlier calls, and return its result."""
        given: list[Any] = []
        self._submitted(lambda: given.append(job()), None, lambda: name).join()
        return given[0]

    def exchange(self, description: str, text: str) -> list[str]:
        """The text of each rank. All ranks call this at the same place among their calls, with the same description."""

        def job() -> list[str]:
            self.agreement.begin(description)
            return self.agreement.compare(text)

        texts: list[str] = self.in_order(description, job)
        return texts

    def carry_out(self, description: str, run: Callable[[], Any], new: bool = False) -> Any:
        """Run a program on this thread, after the ranks have agreed on it if it is new; wait for its results."""
        agreement = self.agreement
        agreement.begin(description)
        if self._size > 1 and (new or agreement.every_call):
            agreement.compare()
        try:
            return jax.block_until_ready(run())
        except (RuntimeError, ValueError) as error:  # XLA's errors are of either class
            if agreement.peers is not None:
                agreement.peers.changed.wait(1)  # for the notice that a rank has ended
            reason = agreement.reason(agreement.stores[0])
            raise agreement.failed(reason or str(error)) from error

    def _run(self, name: str, arrays: Sequence[jax.Array], **details: Any) -> list[jax.Array]:
        """Run a collective on this thread."""
        program, new = self._programs.find(name, arrays, **details)
        return self.carry_out(program.description, lambda: program.run(list(arrays)), new)

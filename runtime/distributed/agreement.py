"""Agreement of the ranks of a group, through its store, that they are about to run the same collective.

Before a rank runs a new program, it compares it with those of the others, because mismatched collectives hang or end
the process. With `TORCH_DISTRIBUTED_DEBUG=DETAIL` every call is compared; otherwise those of known programs afterwards,
see `CallHistory`. In addition, each rank publishes its current call within a second, for the error messages of the
others.
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
from torch.distributed import DistBackendError

from .threads import end_thread_if_ending
from .work import CollectiveWork
from .world import Peers

dist: Any = torch.distributed

_PATIENCE = 0.5  # seconds
_EVERY = 32  # calls
_ENDED = {"died": "has died", "left": "has ended"}


def appears(store: Any, key: str, seconds: float) -> bool:
    """Whether a key is in a store within `seconds`. `Store.wait` would print a warning if it is not."""
    deadline, pause = time.monotonic() + seconds, 1e-4
    while not store.check([key]):
        if time.monotonic() > deadline:
            return False
        end_thread_if_ending()
        time.sleep(pause)
        pause = min(2 * pause, 0.01)
    return True


class CallHistory:
    """The calls of this rank, and their comparison with those of the next one.

    After every 32 calls a rank writes their checksums to the store of the group, and reads those that the next rank
    wrote before. Ranks that called different programs of the same size, with wrong results, thus detect it within 64
    calls. The cost is a few round trips to the store per 32 calls, whatever the number of ranks.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.next = rank, (rank + 1) % size
        self._calls: list[int] = []  # since the last comparison
        self._pending: dict[int, list[int]] = {}  # not compared yet, by the count of their last call
        self._names: dict[int, str] = {}  # the descriptions of checksums

    def add(self, store: Any, count: int, description: str) -> str:
        """Record a call; return a description of an earlier mismatch with the next rank, or an empty string."""
        number = zlib.crc32(description.encode())
        self._names[number] = description
        self._calls.append(number)
        if count % _EVERY or self.next == self.rank:
            return ""
        store.set(f"history/{count}/{self.rank}", " ".join(map(str, self._calls)))
        found = next(filter(None, (self._compared(store, n) for n in sorted(self._pending))), "")
        self._pending[count], self._calls = self._calls, []
        return found

    def _compared(self, store: Any, last: int) -> str:
        key = f"history/{last}/{self.next}"
        if not store.check([key]):
            return ""  # the next rank is that far behind; its calls are compared later
        theirs, ours = [*map(int, store.get(key).split())], self._pending.pop(last)
        store.delete_key(key)
        for i, (a, b) in enumerate(zip(theirs, ours, strict=False)):
            if a != b:
                count = last - len(ours) + i + 1
                return (
                    f"called #{count} {self._names.get(a, 'something else')}, and this rank #{count} {self._names[b]}"
                )
        return ""


class Agreement:
    """This rank's side of the agreement within a group."""

    def __init__(self, store: Any, ranks: tuple[int, ...], rank: int, timeout: timedelta, peers: Peers | None) -> None:
        self.stores = store.clone(), store.clone()  # for calls and for the monitor; a store serves one thread at a time
        self.ranks = ranks  # the global ranks of the group
        self.rank = rank  # in the group
        self.timeout = timeout
        self.peers = peers
        self.every_call = dist.get_debug_level() == dist.DebugLevel.DETAIL
        self.call = 0, "nothing yet"  # count and description of the last call; one value, as the monitor reads both
        self.fault = ""
        self._history = CallHistory(rank, len(ranks))
        self._noted = ""
        self._compared = ""

    @property
    def others(self) -> list[int]:
        """The other ranks of the group."""
        return [r for r in range(len(self.ranks)) if r != self.rank]

    def begin(self, description: str) -> None:
        """Count a call that is about to run.

        Raises:
            DistBackendError: in an earlier call, the next rank called a different collective than this one.
        """
        count = self.call[0] + 1
        self.call = count, f"#{count} {description}"
        if found := self._history.add(self.stores[0], count, description):
            raise self.failed(
                f"rank {self.name(self._history.next)} has {found}; results since then are wrong. Expected the same "
                "collective, with the same shapes, on every rank"
            )

    def compare(self, text: str = "") -> list[str]:
        """Wait until the other ranks are about to run the same call; return the text that each rank has passed.

        Raises:
            DistBackendError: one of them runs another call, has ended, or does not arrive in time.
        """
        store = self.stores[0]
        count, current = self.call
        own = f"call/{count}/{self.rank}"
        store.set(own, f"{current}\n{text}")
        texts = []
        deadline = time.monotonic() + self.timeout.total_seconds()
        for rank in range(len(self.ranks)):
            key = f"call/{count}/{rank}"
            while not appears(store, key, _PATIENCE):
                if (reason := self.reason(store)) or time.monotonic() > deadline:
                    raise self.failed(reason or self._late(store))
            theirs, said = store.get(key).decode().split("\n", 1)
            if theirs != current:
                raise self.failed(self._disagreement(rank, theirs, current))
            texts.append(said)
        if self._compared:
            store.delete_key(self._compared)  # all ranks have read it
        self._compared = own
        return texts

    def failed(self, reason: str) -> DistBackendError:
        """The error of the current call; its reason is published to the other ranks."""
        if not self.fault:
            self.fault = reason
            self.note()
        return DistBackendError(f"{self.call[1]}, on rank {self.name(self.rank)}: {reason}")

    def _disagreement(self, other: int, theirs: str, ours: str) -> str:
        return (
            f"rank {self.name(other)} called {theirs}, and rank {self.name(self.rank)} called {ours}; expected the "
            "same collective, with the same shapes, on every rank"
        )

    def name(self, rank: int) -> int:
        """The global rank of a rank of the group."""
        return self.ranks[rank]

    def note(self) -> None:
        """Publish the current call of this rank, if it has changed."""
        text = "{}\n{}\n".format(*self.call) + self.fault
        if text != self._noted:
            self._noted = text
            try:
                self.stores[1].set(f"state/{self.rank}", text)
            except RuntimeError:
                return  # the store has ended with the process that hosted it

    def states(self, store: Any) -> tuple[dict[int, tuple[int, str, str]], str]:
        """The state of the other ranks: the number of calls, the last call, and why it failed; why this is unknown."""
        found = {}
        try:
            for other in self.others:
                if store.check([f"state/{other}"]):
                    count, current, fault = store.get(f"state/{other}").decode().split("\n", 2)
                    found[other] = int(count), current, fault
        except RuntimeError as error:
            return {}, f"the store of the group cannot be reached, so the process that has it has ended: {error}"
        return found, ""

    def reason(self, store: Any) -> str:
        """Why the current call cannot finish; empty if it still may."""
        own_count, own = self.call
        states, lost = self.states(store)
        for other, (count, current, _) in states.items():
            if count == own_count and current != own:
                return self._disagreement(other, current, own)  # also of a process that has ended since
        ended = {} if self.peers is None else self.peers.ended
        for other in self.others:
            if how := ended.get(self.name(other)):
                last = f"; its last call was {states[other][1]}" if other in states else ""
                return f"the process of rank {self.name(other)} {_ENDED[how]}{last}"
        failed = (f"rank {self.name(r)} failed at {call}: {fault}" for r, (_, call, fault) in states.items() if fault)
        return lost or next(failed, "")

    def _late(self, store: Any) -> str:
        states, _ = self.states(store)
        missing = [
            f"rank {self.name(o)} (its last call was {states[o][1] if o in states else 'none'})"
            for o in self.others
            if o not in states or states[o][0] < self.call[0]
        ]
        who = ", ".join(missing) or "another rank"
        return f"{who} did not take part within the timeout of {self.timeout.total_seconds():g} s"

    def check(self, work: CollectiveWork) -> None:
        """Called by the monitor during a call: end it with an error if it cannot finish."""
        lasted, peers = time.monotonic() - work.started, self.peers
        if lasted < 1:
            return
        if peers is not None and any(r in peers.ended and not peers.long_gone(r) for r in map(self.name, self.others)):
            return
        self.note()
        reason = self.reason(self.stores[1])
        if not reason and lasted > self.timeout.total_seconds():
            reason = self._late(self.stores[1])
        if reason:
            work.finish(self.failed(reason))


class MonitoredBarriers:
    """`monitored_barrier` of one rank: a barrier whose error names the ranks that do not arrive in time.

    The messages are those of gloo, which programs match. gloo itself would have to connect all ranks first, and would
    not name those that are missing then.
    """

    def __init__(self, store: Any, rank: int, size: int) -> None:
        self.store, self.rank, self.size = store, rank, size
        self.count = 0

    def meet(self, timeout: timedelta, wait_all_ranks: bool) -> None:
        """Wait for all ranks, on this thread.

        Raises:
            DistBackendError: on the first rank, another one did not arrive in time; with `wait_all_ranks`, the error
                names all of these. On other ranks, the first one did not answer, or reported an error.
        """
        self.count += 1
        prefix, seconds = f"monitored/{self.count}", timeout.total_seconds()
        if self.rank:
            self.store.set(f"{prefix}/{self.rank}", "")
            if not appears(self.store, f"{prefix}/met", seconds) or self.store.get(f"{prefix}/met") != b"all":
                raise DistBackendError(
                    f"Rank {self.rank} successfully reached monitoredBarrier, but received errors while waiting for "
                    "send/recv from rank 0. Please check rank 0 logs for faulty rank."
                )
            return
        error = self._missing(prefix, seconds, wait_all_ranks)
        self.store.set(f"{prefix}/met", error or "all")
        if error:
            raise DistBackendError(f"[Rank 0]: {error}")

    def _missing(self, prefix: str, seconds: float, wait_all_ranks: bool) -> str:
        """What the first rank reports; empty if all ranks arrive."""
        deadline = time.monotonic() + seconds
        arrived: list[int] = []
        missing: list[int] = []
        text = f"{seconds * 1000:.0f} ms"
        for other in range(1, self.size):
            left = deadline - time.monotonic()
            if left <= 0 and not wait_all_ranks:
                return (
                    f"Rank 0 timed out in monitoredBarrier after {text}. Ranks that have arrived: "
                    f"{', '.join(map(str, arrived)) or 'none'}."
                )
            if appears(self.store, f"{prefix}/{other}", left):
                arrived.append(other)
            elif not wait_all_ranks:
                return f"Rank {other} failed to pass monitoredBarrier in {text}"
            else:
                missing.append(other)
        if not missing:
            return ""
        return f"Ranks {', '.join(map(str, missing))} failed to pass monitoredBarrier in {text}"


def monitored_barrier(
    plain: Callable[..., Any], group: Any = None, timeout: Any = None, wait_all_ranks: bool = False
) -> Any:
    """`dist.monitored_barrier`, as `plain`, which also accepts groups of "tenax"."""
    chosen = dist.group.WORLD if group is None else group
    if getattr(chosen, "getBackendName", str)() != "tenax":
        return plain(group, timeout, wait_all_ranks)
    if isinstance(timeout, float):
        warnings.warn(
            f"Please specify timeout arg as a timedelta. Converting current value of {timeout} assuming it represents "
            "seconds",
            stacklevel=3,
        )
        timeout = timedelta(seconds=timeout)
    if not isinstance(timeout, timedelta | None):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return chosen.monitored_barrier(timeout, wait_all_ranks)

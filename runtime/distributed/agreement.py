"""Agreement of the ranks of a group, through its store, that they are about to run the same collective.

Before a rank runs a new program, it compares it with those of the others, because mismatched collectives hang or end
the process. With `TORCH_DISTRIBUTED_DEBUG=DETAIL` every call is compared. In addition, each rank publishes its current
call within a second, for the error messages of the others.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import torch

from .errors import DistributedError
from .history import CallHistory
from .peers import Peers
from .threads import end_thread_if_ending
from .work import CollectiveWork

dist: Any = torch.distributed

_PATIENCE = 0.5  # seconds


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
        self._said = ""

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

    def compare(self) -> None:
        """Wait until the other ranks are about to run the same call.

        Raises:
            DistBackendError: one of them runs another call, has ended, or does not arrive in time.
        """
        store = self.stores[0]
        count, current = self.call
        own = f"call/{count}/{self.rank}"
        store.set(own, current)
        deadline = time.monotonic() + self.timeout.total_seconds()
        for other in self.others:
            key = f"call/{count}/{other}"
            while not appears(store, key, _PATIENCE):
                if (reason := self.reason(store)) or time.monotonic() > deadline:
                    raise self.failed(reason or self._late(store))
            theirs = store.get(key).decode()
            if theirs != current:
                raise self.failed(self._disagreement(other, theirs, current))
        if self._compared:
            store.delete_key(self._compared)  # all ranks have read it
        self._compared = own

    def exchange(self, text: str) -> list[str]:
        """Compare the call that is about to run, and return the text that each rank has passed.

        Raises:
            DistBackendError: as in `compare`.
        """
        store, count = self.stores[0], self.call[0]
        store.set(f"said/{count}/{self.rank}", text)
        self.compare()
        texts = [store.get(f"said/{count}/{rank}").decode() for rank in range(len(self.ranks))]
        if self._said:
            store.delete_key(self._said)  # all ranks have read it
        self._said = f"said/{count}/{self.rank}"
        return texts

    def failed(self, reason: str) -> DistributedError:
        """The error of the current call; its reason is published to the other ranks."""
        if not self.fault:
            self.fault = reason
            self.note()
        return DistributedError(f"{self.call[1]}, on rank {self.name(self.rank)}: {reason}")

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

    def states(self, store: Any) -> dict[int, tuple[int, str, str]]:
        """The state of the other ranks: the number of calls, the last call, and why it failed."""
        found = {}
        for other in self.others:
            if store.check([f"state/{other}"]):
                count, current, fault = store.get(f"state/{other}").decode().split("\n", 2)
                found[other] = int(count), current, fault
        return found

    def reason(self, store: Any) -> str:
        """Why the current call cannot finish; empty if it still may."""
        own_count, own = self.call
        states, lost = {}, ""
        try:
            states = self.states(store)
        except RuntimeError as error:
            lost = f"the store of the group cannot be reached, so the process that has it has ended: {error}"
        for other, (count, current, fault) in states.items():
            if count == own_count and current != own and not fault:
                return self._disagreement(other, current, own)  # also of a process that has ended since
        ended = {} if self.peers is None else self.peers.ended
        for other in self.others:
            if how := ended.get(self.name(other)):
                last = f"; its last call was {states[other][1]}" if other in states else ""
                return f"the process of rank {self.name(other)} {_ENDED[how]}{last}"
        failed = (f"rank {self.name(r)} failed at {call}: {fault}" for r, (_, call, fault) in states.items() if fault)
        return lost or next(failed, "")

    def _late(self, store: Any) -> str:
        try:
            states = self.states(store)
        except RuntimeError:
            states = {}
        missing = [
            f"rank {self.name(o)} (its last call was {states[o][1] if o in states else 'none'})"
            for o in self.others
            if o not in states or states[o][0] < self.call[0]
        ]
        who = ", ".join(missing) or "another rank"
        return f"{who} did not take part within the timeout of {self.timeout.total_seconds():g} s"

    def check(self, work: CollectiveWork) -> None:
        """Called by the monitor during a call: end it with an error if it cannot finish."""
        lasted = time.monotonic() - work.started
        if lasted < 1 or (self.peers is not None and any(self._just_ended(self.peers, o) for o in self.others)):
            return
        self.note()
        reason = self.reason(self.stores[1])
        if not reason and lasted > self.timeout.total_seconds():
            reason = self._late(self.stores[1])
        if reason:
            work.finish(self.failed(reason))

    def _just_ended(self, peers: Peers, other: int) -> bool:
        return self.name(other) in peers.ended and not peers.long_gone(self.name(other))


_ENDED = {"died": "has died", "left": "has ended"}

"""`send` and `recv`: programs of two processes, whose order the two ranks agree on through the store.

Both must run their common programs in the same order, but torch allows sends and receives in any order. So a sender
announces each message, and the receiver matches it with a posted receive by tag and assigns it the next place in the
order of the pair.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import torch
from torch.distributed import DistBackendError

from ..dtypes import numpy_dtype
from .agreement import Agreement, appears
from .collectives import Programs
from .tensors import write, zeros
from .threads import GroupThread, Job, end_thread_if_ending, is_ending, monitor
from .work import CollectiveWork

_PATIENCE = 0.5  # seconds


@dataclass(eq=False)
class _Receive:
    work: CollectiveWork
    tensors: list[torch.Tensor]
    tag: int
    taken: bool = False  # matched with a message


@dataclass(eq=False)
class _Send:
    work: CollectiveWork
    array: jax.Array


class Messages:
    """The messages of this rank of a group."""

    def __init__(self, store: Any, rank: int, devices: Sequence[jax.Device], agreement: Agreement) -> None:
        self.store, self.rank, self.devices, self.agreement = store, rank, devices, agreement
        self.lock = threading.Lock()
        self.pairs: dict[int, _Pair] = {}

    def pair(self, other: int) -> _Pair:
        """The connection to another rank, created when it is first used."""
        with self.lock:
            if other not in self.pairs:
                self.pairs[other] = _Pair(self, other)
            return self.pairs[other]

    def send(self, array: jax.Array, destination: int, tag: int, tensors: list[torch.Tensor]) -> CollectiveWork:
        """Send an array to a rank."""
        name = self.agreement.name
        kind = f"{array.dtype.name}{list(array.shape)}"
        work = CollectiveWork(
            tensors, lambda: f"send of {kind} from rank {name(self.rank)} to rank {name(destination)}"
        )
        self.pair(destination).post_send(_Send(work, array), tag, kind)
        monitor().watch(work, functools.partial(self._check, [destination]))
        return work

    def receive(self, tensors: list[torch.Tensor], sources: list[int], tag: int) -> CollectiveWork:
        """Receive into a tensor from the first of the given ranks that sends with this tag."""
        name = self.agreement.name
        text = " or ".join(str(name(r)) for r in sources)
        kind = f"{tensors[0].dtype}{list(tensors[0].shape)}"
        work = CollectiveWork(tensors, lambda: f"recv of {kind} by rank {name(self.rank)} from rank {text}")
        receive = _Receive(work, tensors, tag)
        for source in sources:
            self.pair(source).post_receive(receive)
        monitor().watch(work, functools.partial(self._check, sources))
        return work

    def take(self, receives: list[_Receive], tag: int) -> _Receive | None:
        """Take the oldest receive with this tag that no message, from any rank, has taken."""
        with self.lock:
            found = next((r for r in receives if r.tag == tag and not r.taken), None)
            if found is not None:
                found.taken = True
            return found

    def _check(self, others: list[int], work: CollectiveWork) -> None:
        agreement, peers = self.agreement, self.agreement.peers
        seconds, reason = agreement.timeout.total_seconds(), ""
        gone = [agreement.name(o) for o in others if peers is not None and peers.long_gone(agreement.name(o))]
        if len(gone) == len(others):
            reason = f"the process of rank {gone[0]} has ended"
        elif time.monotonic() - work.started > seconds:
            reason = f"no matching call within {seconds:g} s"
        if reason:
            work.finish(DistBackendError(f"{work.description()}: {reason}"))


class _Pair:
    """This rank and another, with two threads: one matches announced messages, and one runs programs in order."""

    def __init__(self, messages: Messages, other: int) -> None:
        self.messages, self.other = messages, other
        low, high = sorted((messages.rank, other))
        self.position = int(messages.rank == low)  # among the devices, in which the higher rank comes first
        # The reverse of the order in any group, so that XLA gives the pair its own connections.
        self.programs = Programs([messages.devices[high], messages.devices[low]])
        self.prefix = f"messages/{low}-{high}"
        self.matching, self.running = messages.store.clone(), messages.store.clone()
        self.posting = messages.store.clone()  # used while holding `posted`
        self.sends: dict[int, _Send] = {}
        self.receives: list[_Receive] = []
        self.arrived: list[tuple[int, int, int, str]] = []  # number, tag, size, kind of messages without a receive yet
        self.matched: dict[int, _Receive] = {}
        self.sent = 0
        self.posted = threading.Condition()
        GroupThread("tenax messages", self._match, self._wake).start()
        self._runner = GroupThread("tenax messages", self._run, self._wake)
        self._runner.start()

    def _wake(self) -> None:
        with self.posted:
            self.posted.notify_all()

    def post_send(self, send: _Send, tag: int, kind: str) -> None:
        with self.posted:
            self.sent += 1
            self.sends[self.sent] = send
            self.posting.set(f"{self.prefix}/{self.messages.rank}/{self.sent}", f"{tag} {send.array.size} {kind}")
            self.posted.notify_all()

    def post_receive(self, receive: _Receive) -> None:
        with self.posted:
            self.receives.append(receive)
            self._assign()
            self.posted.notify_all()

    def _assign(self) -> None:
        """Match messages that have arrived with posted receives."""
        for message in list(self.arrived):
            receive = self.messages.take(self.receives, message[1])
            if receive is not None:
                self.arrived.remove(message)
                self._accept(receive, *message)
        self.receives = [r for r in self.receives if not (r.taken or r.work.has_finished)]

    def _wait_for(self, condition: Callable[[], Any]) -> None:
        with self.posted:
            self.posted.wait_for(lambda: is_ending() or condition())
        end_thread_if_ending()

    def _match(self) -> None:
        number = 0
        while True:
            self._wait_for(lambda: self.receives)
            try:
                text = _read(self.matching, f"{self.prefix}/{self.other}/{number + 1}")
            except RuntimeError:  # the store has ended
                return
            with self.posted:
                if text:
                    number += 1
                    tag, size, kind = text.split(" ", 2)
                    self.arrived.append((number, int(tag), int(size), kind))
                self._assign()

    def _accept(self, receive: _Receive, number: int, tag: int, size: int, kind: str) -> None:
        tensor = receive.tensors[0]
        dtype = numpy_dtype(tensor.dtype).name
        fits = size == tensor.numel() and kind.startswith(f"{dtype}[")
        refusal = "" if fits else f"{dtype}{list(tensor.shape)}"
        if refusal:
            receive.work.finish(DistBackendError(f"{receive.work.description()}: the message is {kind}"))
        else:
            receive.work.source = self.messages.agreement.name(self.other)
            self.matched[number] = receive
        place = self.posting.add(f"{self.prefix}/places", 1)
        self.posting.set(f"{self.prefix}/place/{place}", f"{self.other} {number} {refusal}")
        self.posted.notify_all()

    def _run(self) -> None:
        place = 0
        while True:
            self._wait_for(lambda: self.sends or self.matched)
            try:
                text = _read(self.running, f"{self.prefix}/place/{place + 1}")
            except RuntimeError:
                return
            if not text:
                continue
            place += 1
            source, number, refusal = text.split(" ", 2)
            if int(source) == self.messages.rank:
                send = self.sends.pop(int(number))
                self._carry_out(send.work, functools.partial(self._send, send, refusal))
            elif not refusal:
                receive = self.matched.pop(int(number))
                self._carry_out(receive.work, functools.partial(self._receive, receive))

    def _carry_out(self, work: CollectiveWork, job: Job) -> None:
        """Finish a work with what a job returns, or with its error."""
        self._runner.work = work
        try:
            work.finish(write=job())
        except Exception as error:
            work.finish(DistBackendError(f"{work.description()}: {error}"))
        self._runner.work = None

    def _send(self, send: _Send, refusal: str) -> None:
        if refusal:
            raise ValueError(f"the receiver expected {refusal}")
        self._transfer(send.array.reshape(-1), self.position)

    def _receive(self, receive: _Receive) -> Callable[[], object]:
        tensor = receive.tensors[0]
        message = self._transfer(zeros((tensor.numel(),), numpy_dtype(tensor.dtype)), 1 - self.position)
        return functools.partial(write, tensor, message)

    def _transfer(self, flat: jax.Array, source: int) -> jax.Array:
        program, _ = self.programs.find("send", [flat], source=source)
        return jax.block_until_ready(program.run([flat]))[0]


def _read(store: Any, key: str) -> str:
    """The value of a key, or an empty string if it does not appear soon."""
    return store.get(key).decode() if appears(store, key, _PATIENCE) else ""

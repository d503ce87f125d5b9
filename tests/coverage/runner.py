"""Runner: a pool of worker processes over the units of a run; a crash or a hang costs one check and one process."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from .journal import Journal, Record
from .outcome import Outcome, shorten
from .worker import Began, Ended, Finished, Unit, environment, main

# A worker that starts imports torch's databases, tenax and JAX.
START_SECONDS = 180.0
STARTS_ALLOWED = 3


@dataclass
class Slot:
    """One worker process and its current check."""

    process: BaseProcess
    link: Connection
    log: Path
    deadline: float
    ready: bool = False
    unit: Unit | None = None
    check: str = ""
    began: float = 0.0
    outcomes: dict[str, Outcome] = field(default_factory=dict)


class Pool:
    """Runs units on `jobs` processes and writes each finished one to the journal."""

    def __init__(
        self,
        device: str,
        jobs: int,
        timeout: float,
        folder: Path,
        report: Callable[[Record], None] = lambda record: None,
        target: Callable[[Connection, str, str], None] = main,
    ) -> None:
        self.device, self.jobs, self.timeout, self.folder, self.report = device, jobs, timeout, folder, report
        self.target = target
        self.slots: list[Slot] = []
        self.failed_starts = 0
        self.failure = ""  # the cause of the last failed start
        self.context: Any = _context()
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, units: Iterable[Unit], journal: Journal, until: float = math.inf) -> None:
        """Run until every unit, or every unit that began before the monotonic time `until`, is in the journal.

        An interrupt stops the workers and leaves the journal intact.
        """
        self.queue = deque(units)
        self.until = until
        self.journal = journal
        try:
            while self.queue or any(s.unit for s in self.slots):
                while len(self.slots) < min(self.jobs, len(self.queue) + sum(s.unit is not None for s in self.slots)):
                    self.slots.append(self._start())
                self._listen()
        finally:
            for slot in self.slots:
                _stop(slot)
            self.slots = []

    def _start(self) -> Slot:
        if self.failed_starts >= STARTS_ALLOWED:
            raise RuntimeError(
                f"a worker died {STARTS_ALLOWED} times before its first check ({self.failure}); "
                f"see {self.folder}/worker-*.log"
            )
        ours, theirs = self.context.Pipe()
        log = self.folder / f"worker-{time.time_ns()}.log"
        process = self.context.Process(target=self.target, args=(theirs, self.device, str(log)), daemon=True)
        process.start()
        theirs.close()
        return Slot(process, ours, log, time.monotonic() + START_SECONDS)

    def _listen(self) -> None:
        """Wait for a message, the end of a process or a deadline, whichever comes first."""
        patience = min(slot.deadline for slot in self.slots) - time.monotonic()
        heard = set(wait([s.link for s in self.slots], timeout=max(0.0, min(patience, 1.0))))
        for slot in list(self.slots):
            if slot.link in heard:
                try:
                    self._message(slot, slot.link.recv())
                except (EOFError, ConnectionResetError):
                    slot.process.join(5)
                    self._lost(slot, "c", _cause(slot))
            elif time.monotonic() > slot.deadline:
                self._lost(slot, "t", f"no answer within {self.timeout:.0f} s")

    def _message(self, slot: Slot, message: Any) -> None:
        slot.deadline = time.monotonic() + self.timeout
        match message:
            case "ready":
                slot.ready, self.failed_starts = True, 0
                self._next(slot)
            case Began(check):
                slot.check = check
            case Ended(check, letter, why, _):
                slot.outcomes[check] = Outcome(letter, why)
            case Finished(ops, retire):
                self._finish(slot, ops)
                if retire:
                    self._drop(slot)
                else:
                    self._next(slot)

    def _next(self, slot: Slot) -> None:
        if time.monotonic() > self.until:
            self.queue.clear()
        if not self.queue:
            self._drop(slot)
            return
        slot.unit, slot.outcomes, slot.check = self.queue.popleft(), {}, ""
        slot.began = time.monotonic()
        slot.link.send(slot.unit)

    def _finish(self, slot: Slot, ops: list[str]) -> None:
        assert slot.unit is not None
        record = Record(slot.unit, slot.outcomes, ops, time.monotonic() - slot.began)
        self.journal.append(record)
        self.report(record)
        slot.unit = None

    def _lost(self, slot: Slot, letter: str, why: str) -> None:
        """Record the loss as the outcome of the current check; the checks after it go to another process."""
        self._drop(slot)
        unit = slot.unit
        if unit is None:
            self.failed_starts += not slot.ready
            self.failure = why
            return
        if slot.check in slot.outcomes or not slot.check:
            # The process died between checks, or while it recorded the overloads reached; the cause is unknown.
            slot.check = next((c for c, _ in unit.checks if c not in slot.outcomes), slot.check)
        slot.outcomes[slot.check] = Outcome(letter, shorten(why))
        rest = tuple((c, n) for c, n in unit.checks if c not in slot.outcomes)
        slot.unit = Unit(unit.key, unit.dtype, tuple((c, n) for c, n in unit.checks if c in slot.outcomes))
        self._finish(slot, [])
        if rest:
            self.queue.appendleft(Unit(unit.key, unit.dtype, rest))

    def _drop(self, slot: Slot) -> None:
        self.slots.remove(slot)
        _stop(slot)


# Modules that the server imports once, before it forks workers; the device and JAX are not among them.
PRELOAD = (
    "torch.testing._internal.common_methods_invocations",
    "torch.testing._internal.common_modules",
    "torch.testing._internal.common_optimizers",
)


def _context() -> Any:
    """Processes forked from a server that has imported torch's databases: a restart takes one second instead of ten.

    On a platform without a fork server, processes are spawned.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOAD))
    before = dict(os.environ)
    os.environ.update(environment())
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return context


def _stop(slot: Slot) -> None:
    slot.link.close()
    if slot.process.is_alive():
        slot.process.kill()
    slot.process.join(5)
    if slot.process.exitcode in (0, -signal.SIGKILL) and slot.log.exists():
        slot.log.unlink()


def _cause(slot: Slot) -> str:
    """`killed by SIGSEGV; last words: …`, from the exit code and the log."""
    code = slot.process.exitcode
    ending = f"killed by {signal.Signals(-code).name}" if code is not None and code < 0 else f"exited with code {code}"
    lines = slot.log.read_text(errors="replace").strip().splitlines() if slot.log.exists() else []
    return f"{ending}; last words: {lines[-1]}" if lines else ending


def remaining(units: Iterable[Unit], done: set[Unit]) -> Iterator[Unit]:
    """The units that a journal does not contain, each without the checks that it contains."""
    finished: dict[tuple[str, str], set[str]] = {}
    for unit in done:
        finished.setdefault((unit.key, unit.dtype), set()).update(c for c, _ in unit.checks)
    for unit in units:
        left = tuple((c, n) for c, n in unit.checks if c not in finished.get((unit.key, unit.dtype), ()))
        if left:
            yield Unit(unit.key, unit.dtype, left)

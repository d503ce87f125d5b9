"""Which processes have ended, as the coordinator tells every rank."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from .. import _jax_coordinator
from .errors import DistributedError


def start_coordinator(world_size: int) -> tuple[int, int]:
    """Start the coordinator as a child of this process, and return its two ports. It ends with the last rank."""
    child = subprocess.Popen(
        [sys.executable, "-I", _jax_coordinator.__file__, str(world_size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the ranks
        text=True,
    )
    assert child.stdout is not None
    ports = child.stdout.readline().split()
    if len(ports) != 2:
        raise DistributedError(f"tenax: the coordinator of jax.distributed did not start (exit code {child.wait()})")
    # Its standard input stays open until this process ends, because the thread has it.
    threading.Thread(target=child.wait, name="tenax coordinator", daemon=True).start()
    return int(ports[0]), int(ports[1])


_GRACE = 1.0  # seconds


class Peers:
    """The ranks of the program that have ended, by rank, with `died` or `left`."""

    def __init__(self, host: str, port: int, rank: int) -> None:
        self.ended: dict[int, str] = {}
        self._ended_at: dict[int, float] = {}
        self.changed = threading.Event()
        self.on_change: Callable[[], None] = lambda: None
        self.connection = socket.create_connection((host, port))
        self.connection.sendall(f"{rank}\n".encode())
        threading.Thread(target=self._listen, name="tenax peers", daemon=True).start()
        self.pid = os.getpid()
        atexit.register(self.leave)

    def long_gone(self, rank: int) -> bool:
        """Whether a rank ended some time ago, so that what it took part in has ended here too, or never will."""
        return rank in self.ended and time.monotonic() - self._ended_at[rank] > _GRACE

    def leave(self) -> None:
        """Say that this process ends as it should, unless an exception ends it."""
        if getattr(sys, "last_value", None) is None and os.getpid() == self.pid:
            try:
                self.connection.sendall(b"bye\n")
            except OSError:
                return  # the coordinator was killed; there is nobody to tell

    def _listen(self) -> None:
        try:
            for line in self.connection.makefile():
                rank, how = line.split()
                self._ended_at[int(rank)] = time.monotonic()
                self.ended[int(rank)] = how
                self.changed.set()
                self.on_change()
        except OSError:
            return

"""Notices from the coordinator about processes that have ended."""

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
    """Start the coordinator as a child process, which ends with the last rank, and return its two ports."""
    child = subprocess.Popen(
        [sys.executable, "-I", _jax_coordinator.__file__, str(world_size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is meant for the ranks
        text=True,
    )
    assert child.stdout is not None
    ports = child.stdout.readline().split()
    if len(ports) != 2:
        raise DistributedError(f"tenax: the coordinator of jax.distributed did not start (exit code {child.wait()})")
    # The thread keeps its standard input open until this process ends.
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
        """Whether a rank ended more than a grace period ago, so that a call still waiting for it will never finish."""
        return rank in self.ended and time.monotonic() - self._ended_at[rank] > _GRACE

    def leave(self) -> None:
        """Tell the coordinator that this process ends normally, unless an exception ends it."""
        if getattr(sys, "last_value", None) is None and os.getpid() == self.pid:
            try:
                self.connection.sendall(b"bye\n")
            except OSError:
                return  # the coordinator was killed

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

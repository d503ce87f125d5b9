"""`torch_xla.utils.utils`, which programs import as `xu`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ..missing import names_of

__getattr__ = names_of(__name__)


class SampleGenerator:
    """An iterable that yields the same data a number of times."""

    def __init__(self, data: Any, sample_count: int) -> None:
        self._data, self._sample_count = data, sample_count

    def __iter__(self) -> Iterator[Any]:
        return iter([self._data] * self._sample_count)

    def __len__(self) -> int:
        return self._sample_count


class DataWrapper:
    """The base of batches that name their tensors themselves; loaders and `xm.save` move those tensors."""

    def get_tensors(self) -> Sequence[torch.Tensor]:
        """The tensors."""
        raise NotImplementedError(f"{type(self).__name__}.get_tensors: expected a method that returns the tensors")

    def from_tensors(self, tensors: Sequence[torch.Tensor]) -> Any:
        """A batch of other tensors."""
        raise NotImplementedError(f"{type(self).__name__}.from_tensors: expected a method that makes a batch")


def getenv_as(name: str, type: Any, defval: Any = None) -> Any:
    """An environment variable converted to a type; bools are written as integers."""
    text = os.environ.get(name)
    if text is None:
        return defval
    return bool(int(text)) if type is bool else type(text)


def get_free_tcp_ports(n: int = 1) -> list[int]:
    """Unused TCP ports."""
    import socket

    sockets = [socket.socket() for _ in range(n)]
    try:
        for s in sockets:
            s.bind(("localhost", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def as_list(value: Any) -> list[Any]:
    """Convert a list or tuple to a list, and wrap any other value in one."""
    return list(value) if isinstance(value, list | tuple) else [value]


def parallel_work(num_workers: int, fn: Any, *args: Any) -> list[Any]:
    """Map a function over iterables with threads."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(num_workers) as pool:
        return list(pool.map(fn, *args))


def check_env_flag(name: str, default: str = "") -> bool:
    """Whether an environment variable is 'true' or a positive number."""
    value = os.environ.get(name, default)
    return value == "true" or (value.isdigit() and int(value) > 0)


def eprint(*args: Any, **kwargs: Any) -> None:
    """Print to the standard error."""
    print(*args, file=sys.stderr, **kwargs)

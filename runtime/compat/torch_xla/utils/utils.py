"""`torch_xla.utils.utils`, which programs import as `xu`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch


class SampleGenerator:
    """An iterable that yields the same data a number of times."""

    def __init__(self, data: Any, sample_count: int) -> None:
        self._data, self._sample_count = data, sample_count

    def __iter__(self) -> Iterator[Any]:
        return iter([self._data] * self._sample_count)

    def __len__(self) -> int:
        return self._sample_count


class FnDataGenerator:
    """An iterable of new pairs: a random batch, and a function of it."""

    def __init__(
        self,
        func: Callable[[torch.Tensor], Any],
        batch_size: int,
        gen_tensor: Callable[..., Any],
        dims: Sequence[int] | None = None,
        count: int = 1,
    ) -> None:
        """`gen_tensor(batch_size, *dims)` makes a batch, such as `torch.randn`; `count` is the number of batches."""
        self._func, self._count = func, count
        self._batch = lambda: gen_tensor(batch_size, *(dims or [1]))

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self._count):
            batch = self._batch()
            yield batch, self._func(batch)

    def __len__(self) -> int:
        return self._count


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

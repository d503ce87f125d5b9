"""`torch_xla.utils.utils`, which programs import as `xu`."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
import time
import weakref
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


class Cleaner:
    """Calls a function when it is dropped."""

    def __init__(self, func: Callable[[], Any]) -> None:
        weakref.finalize(self, func)


class LazyProperty:
    """A value that is computed at its first use."""

    def __init__(self, gen_fn: Callable[[], Any]) -> None:
        self._function = gen_fn

    @functools.cached_property
    def value(self) -> Any:
        """The value."""
        return self._function()


class TmpFolder:
    """A temporary folder, which exists as long as this object; `name` is its path."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self.name)


class TimedScope:
    """A context manager that prints how long its block took."""

    def __init__(self, msg: str = "", printfn: Callable[[str], Any] | None = None) -> None:
        self._message, self._print = msg, printfn or eprint
        self._error: Any = None

    def set_error(self, error: Any) -> None:
        """Print nothing at the end of the block."""
        self._error = error

    def __enter__(self) -> TimedScope:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        if self._error is None:
            self._print(f"{self._message}{1e3 * (time.perf_counter() - self._start):.3f}ms")


def timed(fn: Callable[[], Any], msg: str = "", printfn: Callable[[str], Any] | None = None) -> Any:
    """The result of a function; prints how long it took."""
    with TimedScope(msg, printfn):
        return fn()


def shape(inputs: Any) -> list[int]:
    """The shape of nested lists of equal lengths.

    Raises:
        ValueError: the nested lists are ragged.
    """
    if not isinstance(inputs, list | tuple):
        return []
    inner = [shape(x) for x in inputs]
    if any(found != inner[0] for found in inner):
        raise ValueError(f"shape: lists of shapes {inner}; expected equal ones")
    return [len(inputs), *(inner[0] if inner else [])]


def flatten_nested_tuple(inputs: Any) -> tuple[Any, ...]:
    """The leaves of nested lists and tuples."""
    if not isinstance(inputs, list | tuple):
        return (inputs,)
    return tuple(leaf for x in inputs for leaf in flatten_nested_tuple(x))


def list_copy_append(ilist: Sequence[Any], item: Any) -> list[Any]:
    """A copy of a list with one more item."""
    return [*ilist, item]


def null_print(*args: Any, **kwargs: Any) -> None:
    """Print nothing."""


def get_print_fn(debug: int | None = None) -> Callable[..., None]:
    """`eprint` if `debug`, by default the variable `DEBUG`, is not 0, else `null_print`."""
    return eprint if (int(os.environ.get("DEBUG", "0")) if debug is None else debug) else null_print


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

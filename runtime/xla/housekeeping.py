"""Keeps the folder of stored programs within its limit, measures it and clears it."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_STALE = 3600  # seconds after which a temporary file no longer has a writer


class Usage(NamedTuple):
    """The content of the folder: the number of programs, and its size."""

    programs: int
    bytes: int


def _files(base: Path, pattern: str = "*") -> Iterator[tuple[float, int, Path]]:
    """Time of last use, size and path of each file; other processes may delete files meanwhile."""
    for path in base.glob(pattern):
        with contextlib.suppress(OSError):
            status = path.stat()
            yield status.st_mtime, status.st_size, path


def trim(subfolder: Path, most: int) -> None:
    """Delete stale temporary files and, above `most` bytes, the least recently used files down to nine tenths of it."""
    files = sorted(_files(subfolder))
    total = sum(size for _, size, _ in files)
    target = total if total <= most else most * 9 // 10
    now = time.time()
    for used, size, path in files:
        stale = path.suffix == ".tmp" and used < now - _STALE
        if stale or (path.suffix != ".tmp" and total > target):
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size


def usage(base: Path | None) -> Usage:
    """The number of programs in a folder, and the size of its files."""
    files = [] if base is None else [(path.suffix, size) for _, size, path in _files(base, "*/*")]
    return Usage(sum(not suffix for suffix, _ in files), sum(size for suffix, size in files if suffix != ".tmp"))


def clear(base: Path | None) -> Usage:
    """Delete all programs in a folder, and return what it contained."""
    found = usage(base)
    if base is not None:
        shutil.rmtree(base, ignore_errors=True)
    return found

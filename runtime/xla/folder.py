"""The folder of compiled programs: one file per program, written atomically and verified when it is read.

A file is a SHA-256 digest followed by the content. Its name is the key of the program, whose first digit is the name of
a subfolder. Each of the 16 subfolders has an equal share of the limit, and keeps the most recently used files within
it. Several processes may share the folder. Only the user may have write access, because its content is executed.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import tempfile
from functools import cache
from pathlib import Path

from .memory import bytes_of

logger = logging.getLogger("tenax")

_LAYOUT = "programs-1"  # version of the file layout; another one would use another folder
_DEFAULT_LIMIT = 1 << 30
_SUBFOLDERS = 16
_LOOKS = 32  # expected number of times that a subfolder's size is checked while its share is written once


def location() -> Path | None:
    """The path of the folder according to the environment; None with TENAX_CACHE=0, or for a user without a home."""
    if os.environ.get("TENAX_CACHE") == "0":
        return None
    chosen, caches = os.environ.get("TENAX_CACHE_DIR"), Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen:
        return Path(chosen) / _LAYOUT
    try:
        return (caches if caches.is_absolute() else Path.home() / ".cache") / "tenax" / _LAYOUT
    except RuntimeError:
        return None


@cache
def folder() -> Path | None:
    """The folder of this process, created if necessary; None if programs are not stored."""
    path = location()
    if path is None:
        return None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as error:
        logger.info("compiled programs are not kept: %s", error)
        return None
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or status.st_uid != os.getuid():
        logger.warning("compiled programs are not kept, because others may write to %s", path)
        return None
    return path


def limit() -> int:
    """The maximum size of the folder in bytes (TENAX_CACHE_SIZE)."""
    return bytes_of("TENAX_CACHE_SIZE", _DEFAULT_LIMIT)


def read(key: str) -> bytes | None:
    """The content stored under a key, or None. A damaged file is deleted."""
    path = _path(key)
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body = content[32:]
    if hashlib.sha256(body).digest() != content[:32]:
        discard(key)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # marks it as recently used
    return body


def write(key: str, body: bytes) -> None:
    """Store content under a key. A full disk or a missing folder is not an error."""
    path = _path(key)
    if path is None:
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(body).digest())
                file.write(body)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        logger.info("a compiled program is not kept: %s", error)
        return
    # Keys are evenly distributed, so their digits decide when to trim, without a count shared between processes.
    share = limit() // _SUBFOLDERS
    if int(key[1:9], 16) / 16**8 * share < len(body) * _LOOKS:
        from .housekeeping import trim

        trim(path.parent, share)


def discard(key: str) -> None:
    """Delete what is stored under a key."""
    path = _path(key)
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink()


def _path(key: str) -> Path | None:
    base = folder()
    return None if base is None else base / key[0] / key[1:]

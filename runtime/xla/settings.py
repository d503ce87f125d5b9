"""Settings of compilation from environment variables, which docs/compilation.md lists."""

from __future__ import annotations

import os
import re

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(name: str, default: int) -> int:
    """The number of bytes in a variable, such as 500M or 2G; the default if the variable is not set.

    Raises:
        ValueError: the text is not a number of bytes.
    """
    text = os.environ.get(name)
    if not text:
        return default
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"{name}: {text!r}; expected a number of bytes such as 500M or 2G")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def compiles_ahead() -> bool:
    """Whether eager operations are compiled in the background (TENAX_SYNC_COMPILE)."""
    return os.environ.get("TENAX_SYNC_COMPILE") != "1"

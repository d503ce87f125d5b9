"""What environment variables say of compilation. docs/compilation.md lists them."""

from __future__ import annotations

import os
import re

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(name: str, default: int) -> int:
    """The number of bytes that a variable states, such as 500M or 2G; the default where the variable is not set.

    Raises:
        ValueError: the text is no number of bytes.
    """
    text = os.environ.get(name)
    if not text:
        return default
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"{name}: {text!r}; expected a number of bytes such as 500M or 2G")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def compiles_ahead() -> bool:
    """Whether the program goes on while an eager operation is compiled (TENAX_SYNC_COMPILE)."""
    return os.environ.get("TENAX_SYNC_COMPILE") != "1"

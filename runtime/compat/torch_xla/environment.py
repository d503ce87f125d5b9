"""Environment variables, and other small functions of scripts."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

_NAMES = {  # of variables that are not named like their constants
    "HOST_ORDINAL": "XRT_HOST_ORDINAL",
    "TPU_MESH_CTLER_ADDR": "TPU_MESH_CONTROLLER_ADDRESS",
    "TPU_MESH_CTLER_PORT": "TPU_MESH_CONTROLLER_PORT",
}


def __getattr__(name: str) -> str:
    """The variable of a name in `torch_xla.core.xla_env_vars`."""
    if not name.isupper():
        raise AttributeError(name)
    return _NAMES.get(name, name)


def getenv_as(name: str, type: Any, defval: Any = None) -> Any:
    """An environment variable converted to a type; bools are written as integers."""
    text = os.environ.get(name)
    if text is None:
        return defval
    return bool(int(text)) if type is bool else type(text)


def get_free_tcp_ports(n: int = 1) -> list[int]:
    """Unused TCP ports."""
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


def check_env_flag(name: str, default: str = "") -> bool:
    """Whether an environment variable is 'true' or a positive number."""
    value = os.environ.get(name, default)
    return value == "true" or (value.isdigit() and int(value) > 0)


def eprint(*args: Any, **kwargs: Any) -> None:
    """Print to the standard error."""
    print(*args, file=sys.stderr, **kwargs)

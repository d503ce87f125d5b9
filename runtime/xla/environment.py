"""The environment on which a stored program depends: releases, the sources of tenax, the machine, JAX's settings.

All of it is part of the key, so that nothing has to be invalidated: another release or machine uses other keys.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from .._jax import trace_settings

_VARIABLES = ("XLA_FLAGS", "TF_XLA_FLAGS", "LIBTPU_INIT_ARGS", "NPROC", "PJRT_NPROC", "CUDA_VISIBLE_DEVICES")
_PACKAGES = ("tenax", "torch", "jax", "jaxlib", "numpy")


def key_of(*parts: Any) -> str:
    """The name under which a program with these properties is stored.

    Parts whose text differs between processes result in a key that never occurs again, which is safe.
    """
    text = "\n".join(map(str, (environment(), _text_of(*jax.config.values.items()), trace_settings(), *parts)))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)  # writing this text takes four times as long as the rest of a key
def _text_of(*settings: tuple[str, Any]) -> str:
    return str(sorted(settings, key=str))


@cache
def environment() -> str:
    """A digest of the properties that all programs of this process share."""
    device = jax.local_devices()[0]
    digest = hashlib.sha256()
    for fact in (
        *(f"{name} {metadata.version(name)}" for name in _PACKAGES),
        *(f"{name}={os.environ.get(name)}" for name in _VARIABLES),
        f"{device.platform} {device.device_kind} {device.id} of {jax.device_count()} {device.client.platform_version}",
        f"{platform.system()} {platform.machine()} {cores()} cores",
        *_processor(),
    ):
        digest.update(f"{fact}\n".encode())
    for path in sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def cores() -> int | None:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _processor() -> Iterator[str]:
    """The model and instruction sets of the processor, for which CPU code is compiled."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        yield platform.processor()
        return
    yield from sorted({line for line in lines if line.startswith(("flags", "Features", "model name", "CPU part"))})


def sources() -> Iterator[Path]:
    """The modules that determine the programs of operators. Reading all of tenax would take three times as long, and
    programs of several operators are looked up by their text."""
    import tenax.generated

    root = Path(__file__).parent.parent
    folders = [root / name for name in ("kernels", "dispatch", "storage")] + [*map(Path, tenax.generated.__path__)]
    files = "words.py", "dtypes.py", "platforms.py", "xla/options.py", "aten/registry.py", "aten/result_layouts.py"
    yield from map(root.joinpath, files)
    for folder in folders:
        yield from sorted(folder.rglob("*.py"))

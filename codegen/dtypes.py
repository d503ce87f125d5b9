"""The dtypes that the installed torch supports, according to its operator database (OpInfo), on the CPU or on CUDA.

The generator does not import torch, so this module also runs as a script, which prints the dtypes of one operator.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection

from tenax.codegen.spec import DTYPES


def supported(base: str) -> frozenset[str]:
    """The supported dtypes of an operator, by its name without overload; empty if torch's database lacks it."""
    # Keep torch from loading the devices of other packages, including tenax.
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, "-m", "tenax.codegen.dtypes", base]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split()) & {dtype for group in DTYPES.values() for dtype in group}


def words(dtypes: Collection[str]) -> str:
    """The value of `dtypes:`, which lists the supported or the rejected dtypes, whichever are fewer; empty for all."""
    every = [dtype for group in DTYPES.values() for dtype in group]
    positive = _named(dtypes)
    negative = _named([dtype for dtype in every if dtype not in dtypes])
    if not negative or not positive:
        return ""
    return " ".join(positive) if len(positive) <= len(negative) else " ".join(["not", *negative])


def _named(dtypes: Collection[str]) -> list[str]:
    """Dtypes as words: complete groups by the name of the group, others by their own name."""
    found = []
    for word, group in DTYPES.items():
        held = [dtype for dtype in group if dtype in dtypes]
        found += [word] if len(held) == len(group) else held
    return found


def _listed(base: str) -> set[str]:
    """The dtypes in the database of the installed torch."""
    from torch.testing._internal.common_methods_invocations import op_db

    held = [info for info in op_db if base in (info.aten_name, info.name)]
    found = {dtype for info in held for device in ("cpu", "cuda") for dtype in info.supported_dtypes(device)}
    return {str(dtype).removeprefix("torch.") for dtype in found}


if __name__ == "__main__":
    print(*sorted(_listed(sys.argv[1])))

"""The names that TENAX_DEVICE may give the device. Imported where the variable sets one."""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec

import torch

from .._torch import NAME


def check() -> None:
    """Check the device's name.

    Raises:
        ValueError: `torch.device` cannot parse the name, or torch has a device or an attribute of that name.
        RuntimeError: the name is "tpu", and TorchTPU is installed on a machine with TPUs.
    """
    where = f"TENAX_DEVICE={NAME}"
    if not re.fullmatch("[a-z][a-z_]*", NAME) or keyword.iskeyword(NAME):
        raise ValueError(f"{where}: not a name of a device; expected lower-case letters and underscores, such as tpu")
    if NAME == "tpu" and find_spec("torch_tpu") is not None:
        from .._jax import tpu_chips

        if tpu_chips():
            raise RuntimeError(f"{where}: torch_tpu is installed and finds TPUs; uninstall it, or choose another name")
    is_ours = type(getattr(torch, NAME, None)).__module__ == f"{__package__}.backend"  # tenax is imported again
    if not is_ours and (_is_device() or hasattr(torch, NAME) or hasattr(torch.Tensor, NAME)):
        raise ValueError(f"{where}: torch uses this name already; expected another, such as tpu")


def _is_device() -> bool:
    try:
        return bool(torch.device(NAME))
    except RuntimeError:
        return False

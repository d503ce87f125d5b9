"""torch's rules for results: the memory format suggested by the inputs, writing to `out=`, and `info` checks."""

from __future__ import annotations

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch._prims_common import suggest_memory_format as suggest_memory_format
    from torch._prims_common.wrappers import _maybe_resize_out as maybe_resize_out
    from torch._prims_common.wrappers import _safe_copy_out as safe_copy_out

    # (info, name, is_matrix): raises the error of a factorization whose `info` is not 0
    check_factorization = torch._linalg_check_errors

__all__ = ["check_factorization", "maybe_resize_out", "safe_copy_out", "suggest_memory_format"]

"""Operators as objects: overloads, those that libraries define in Python, and torch's decompositions."""

from __future__ import annotations

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch._library.custom_ops import OPDEFS as OPDEFS  # what `torch.library.custom_op` made, by name
    from torch._library.custom_ops import CustomOpDef as CustomOpDef
    from torch._ops import HigherOrderOperator as HigherOrderOperator
    from torch._ops import OpOverload as OpOverload
    from torch._ops import OpOverloadPacket as OpOverloadPacket

# What the runtime calls, or looks for in graphs.
CLONE = torch.ops.aten.clone.default
CONVOLUTION = torch.ops.aten._convolution.default  # as torch.jit.trace records it
COPY_INTO = torch.ops.aten.copy_.default
EMPTY_STRIDED = torch.ops.aten.empty_strided.default
ITEM = torch.ops.aten._local_scalar_dense.default

# Where torch makes the autograd functions of the operators that a library defines.
OPERATOR_AUTOGRAD_MODULE = "torch._library.autograd"


def forget_dispatch(operator: str) -> None:
    """Have torch's dispatcher in Python, which traces graphs, look the kernels of an overload up again."""
    namespace, _, name = operator.partition("::")
    packet, _, overload = name.partition(".")
    with private_names("torch", torch.__version__):
        getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")._dispatch_cache.clear()

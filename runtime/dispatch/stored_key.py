"""The name under which an executable is stored for later processes: the text of its key.

Only operators whose lowering is in a module of tenax have one. A lowering that a program registered may change between
processes, and so may a function of `tenax::call` that tenax did not derive from such an operator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..float32_products import float32_products
from ..storage.avals import Aval
from ..storage.spec import Operand, TensorSpec
from .encode import EncodedCall
from .operands import StaticValue, WideNumber
from .signature import Signature

_PRINTED = (type(None), bool, int, float, complex, str, torch.dtype, torch.layout, torch.memory_format, torch.device)


def stored_key(signature: Signature, call: EncodedCall) -> str | None:
    """The key of a call as text; None if the key or the operator cannot be stored."""
    name, parts = signature.lasting(call.key[0])
    if call.index or signature.host_values or name is None:
        return None
    try:
        return f"{name} {text((parts, call.key[1:], len(call.starts), float32_products.precision))}"
    except LookupError:
        return None


def text(part: Any) -> str:
    """A part of a key as text that is stable across processes; LookupError if there is none."""
    kind = part.__class__
    if kind in _PRINTED:
        return f"{kind.__name__}:{part!r}"
    if kind is Operand:
        return f"operand({text((part.base, part.spec, part.dynamic, part.overwritten))})"
    if kind is Aval and part.sharding is None:
        return f"{part.dtype}{list(part.shape)}"
    if kind in (tuple, list, torch.Size, StaticValue, WideNumber, TensorSpec):
        return f"{kind.__name__}({', '.join(map(text, part))})"
    if kind is type:
        return part.__name__
    if isinstance(part, np.dtype):
        return str(part)
    raise LookupError(kind)

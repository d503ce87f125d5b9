"""The name of an executable that lasts longer than the process: the text of its key.

Only operators that are computed by a module of tenax have one. A lowering that a program registered, and `tenax::call`,
are whatever the program says they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..storage.avals import Aval
from ..storage.spec import Operand, TensorSpec
from .encode import EncodedCall
from .operands import StaticValue, WideNumber
from .signature import Signature

_PRINTED = (type(None), bool, int, float, complex, str, torch.dtype, torch.layout, torch.memory_format, torch.device)


def stored_key(signature: Signature, call: EncodedCall) -> str | None:
    """The text; None where the key or the operator has none."""
    row = signature.row
    if call.index or row.host_values or not row.module:
        return None
    try:
        return f"{signature.name} {_text((call.key, len(call.starts)))}"
    except LookupError:
        return None


def _text(part: Any) -> str:
    kind = part.__class__
    if kind in _PRINTED:
        return f"{kind.__name__}:{part!r}"
    if kind is Operand:
        return f"operand({_text((part.base, part.spec, part.dynamic, part.overwritten))})"
    if kind is Aval and part.sharding is None:
        return f"{part.dtype}{list(part.shape)}"
    if kind in (tuple, list, torch.Size, StaticValue, WideNumber, TensorSpec):
        return f"{kind.__name__}({', '.join(map(_text, part))})"
    if kind is type:
        return part.__name__
    if isinstance(part, np.dtype):
        return str(part)
    raise LookupError(kind)

"""`torch_xla.experimental.xla_quantized_matmul`, which raises."""

from __future__ import annotations

from typing import Any


class XlaQuantizedLinear:
    """Raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "XlaQuantizedLinear: expected F.linear(x, weight.to(x.dtype) * scale[:, None]) with an int8 weight, which "
            "XLA fuses"
        )

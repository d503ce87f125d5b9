"""The `promote:` of an overload, determined by calling CPU torch with samples of its operator database (OpInfo).

The generator does not import torch, so this module runs as a script, which prints the value for one overload. Dtypes do
not show whether half precision is computed in float32, so `NO_OPMATH` is printed as `DEFAULT`, which is never less
accurate.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any


def promotion(overload: str) -> str:
    """`KIND(names)` for an overload such as `hypot` or `eq.Tensor`; empty if torch does not promote its arguments, or
    if the database does not show it."""
    # Keep torch from loading the devices of other packages, including tenax.
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, "-m", "tenax.codegen.promotion", overload]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


# Maps dtypes by tensor name to the dtype of the result; None if the call raises or does not return a single tensor.
Ask = Callable[[dict[str, Any]], Any]


def _questions(overload: str, dtype: Any) -> Iterator[tuple[list[str], Ask]]:
    """For each sample of a dtype that the overload accepts, the names of its tensors of that dtype and a function to
    call it with any dtypes."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    base, _, name = overload.partition(".")
    op = getattr(getattr(torch.ops.aten, base), name or "default")
    arguments = [argument.name for argument in op._schema.arguments]
    for info in op_db:
        if base not in (info.aten_name, info.name) or dtype not in info.supported_dtypes("cpu"):
            continue
        for sample in info.sample_inputs("cpu", dtype, requires_grad=False):
            given = dict(zip(arguments, (sample.input, *sample.args), strict=False)) | sample.kwargs
            tensors = [n for n, value in given.items() if isinstance(value, torch.Tensor) and value.dtype == dtype]

            def ask(dtypes: dict[str, Any], given: dict[str, Any] = given) -> Any:
                try:
                    result = op(**{n: value.to(dtypes[n]) if n in dtypes else value for n, value in given.items()})
                except Exception:  # the exception types for unsupported dtypes vary
                    return None
                return result.dtype if isinstance(result, torch.Tensor) else None

            if tensors and all(given[n].ndim for n in tensors) and ask({}) is not None:
                yield tensors, ask


def observe(overload: str) -> str:
    """`promotion` in this process, which imports torch; decided by the sample with the most tensors."""
    import torch

    for dtype, wide in ((torch.float32, torch.float64), (torch.int32, torch.int64)):  # some take only integers
        tensors, ask = max(_questions(overload, dtype), key=lambda question: len(question[0]), default=([], None))
        if ask is not None:
            return _kind(tensors, ask, wide)
    return ""


def _kind(tensors: list[str], ask: Ask, wide: Any) -> str:
    """`KIND(names)`, given a dtype wider than that of the tensors."""
    import torch

    # The tensors that widen the result; if mixed dtypes raise, torch does not promote.
    wider = [n for n in tensors if len(tensors) == 1 or ask({n: wide}) == wide]
    truths = ask({}) == torch.bool
    if truths:
        wider = [n for n in tensors if len(tensors) == 1 or ask({n: wide}) is not None]
    if wider != tensors or ask({}) == torch.int64:  # an index or a count, whatever the tensors' dtypes
        return ""
    by_dtype = {dtype: ask(dict.fromkeys(tensors, dtype)) for dtype in (torch.int32, torch.bool, torch.complex64)}
    if truths:
        kind = "ALWAYS_BOOL"
    elif by_dtype[torch.complex64] == torch.float32:
        kind = "COMPLEX_TO_FLOAT"
    elif by_dtype[torch.int32] == torch.float32:
        kind = "INT_TO_FLOAT"
    elif by_dtype[torch.int32] == torch.int64:
        kind = "INT_TO_LONG"
    elif by_dtype[torch.bool] == torch.int64:
        kind = "BOOL_TO_LONG"
    else:
        kind = "DEFAULT"
    return f"{kind}({', '.join(wider)})"


if __name__ == "__main__":
    print(observe(sys.argv[1]))

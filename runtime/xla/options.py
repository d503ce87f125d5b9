"""How XLA compiles eager operations: programs of small arrays get code that is made in half the time.

The older emitters of XLA's CPU compiler, at LLVM's first level of optimization, make kernels of single operations
that are as fast as those of the newer ones, and whose results are the same to the last bit but for one program in
seventy (benchmarks/quick_code.py). Loops are slower, so they are left to the newer ones, as are transposes and scatters
of more than a few thousand elements.
"""

import math
import os
import re

import jax

_Options = dict[str, str | bool]
_QUICK: dict[str, _Options] = {"cpu": {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": "1"}}
_SMALL = 1 << 16  # elements
_SMALL_MOVED = 1 << 13  # of programs that transpose or scatter
_DIMENSIONS = re.compile(r"tensor<(\d+(?:x\d+)*)x")
_MOVES = re.compile(r"stablehlo\.(?:transpose|scatter)\b")


def options_for(text: str) -> _Options | None:
    """The compiler options of a lowered program; None for those of the process."""
    options, flags = _QUICK.get(jax.local_devices()[0].platform), os.environ.get("XLA_FLAGS", "")
    if options is None or any(name in flags for name in options):
        return None
    if "stablehlo.while" in text and "threefry" not in text:
        return None
    sizes = (math.prod(map(int, dimensions.split("x"))) for dimensions in set(_DIMENSIONS.findall(text)))
    return options if max(sizes, default=1) <= (_SMALL_MOVED if _MOVES.search(text) else _SMALL) else None

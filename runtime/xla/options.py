"""How XLA compiles eager operations: programs of small arrays get code that is made in half the time.

The older emitters of XLA's CPU compiler, at LLVM's first level of optimization, make kernels of single operations
that are as fast as those of the newer ones, and whose results are the same to the last bit but for one program in
seventy (benchmarks/quick_code.py). They make slower loops, and slower transposes and scatters of large arrays.
"""

import math
import os
import re

import jax

Options = dict[str, str | bool]
_QUICK: dict[str, Options] = {"cpu": {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": "1"}}
_SMALL, _SMALL_MOVED = 1 << 16, 1 << 13  # elements; the latter of programs that transpose or scatter
_DIMENSIONS = re.compile(r"tensor<(\d+(?:x\d+)*)x")
_MOVES = re.compile(r"stablehlo\.(?:transpose|scatter)\b")


def options_for(text: str) -> Options | None:
    """The compiler options of a lowered program; None for those of the process."""
    loops = "stablehlo.while" in text and "threefry" not in text
    most = 0 if loops else _SMALL_MOVED if _MOVES.search(text) else _SMALL
    sizes = (math.prod(map(int, dimensions.split("x"))) for dimensions in set(_DIMENSIONS.findall(text)))
    return of_platform(_QUICK) if max(sizes, default=1) <= most else None


def of_platform(table: dict[str, Options]) -> Options | None:
    """The options of the first device's platform, unless `XLA_FLAGS` names one of them."""
    options, flags = table.get(jax.local_devices()[0].platform), os.environ.get("XLA_FLAGS", "")
    return None if options is None or any(name in flags for name in options) else options

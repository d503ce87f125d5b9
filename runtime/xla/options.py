"""How XLA compiles eager operations: quickly compiled first code, and good code once that pays for its compilation.

On the CPU there are two sets of options besides XLA's default. `_SOON` compiles in a fifth of the default's time (two
thirds from JAX 0.11.1 on, without the older emitters), for slower code without fused multiply-adds. `_GOOD`, the older
emitters at LLVM's optimization level 1, compiles in a third, for code as fast as the default's but in loops, transposes
and scatters of large arrays; results differ for one program in ninety (benchmarks/code_tiers.py).

On a GPU, first code is compiled without autotuning: a ResNet-18's first training step takes 1.7 s instead of 5.9 on an
H200. Triton's products are off as well, because autotuning chooses their tiles. Other algorithms round differently.
"""

import math
import os
import re
from typing import Literal, NamedTuple

import jax
import torch

from .._jax_options import missing_options

Options = dict[str, str | bool]
Tiers = Literal["both", "first", "good"]  # the code of a program: first code until good code takes over, or only one
_GOOD: dict[str, Options] = {
    "cpu": {
        "xla_cpu_use_fusion_emitters": False,
        "xla_backend_optimization_level": "1",
        "xla_cpu_parallel_codegen_split_count": "1",
    }
}
_SOON: dict[str, Options] = {
    "cpu": {
        "xla_cpu_use_fusion_emitters": False,
        "xla_backend_optimization_level": "0",
        "xla_llvm_disable_expensive_passes": True,
        "xla_cpu_parallel_codegen_split_count": "1",
    },
    "gpu": {"xla_gpu_autotune_level": "0", "xla_gpu_enable_triton_gemm": False},
}
# Keeps barriers until operations are fused: without them, each consumer computes a convolution of shifts again.
KEPT_BARRIERS = {"cpu": {"xla_disable_hlo_passes": "cse_barrier_expander,small-while-loop-hoisting"}}
# Work per operation after which good code pays for its compilation: the time that first code loses, in quarters of a
# nanosecond. It loses one for an element of an operation, and more for a loop and for a function such as `exp`. Code
# takes 0.4 ms to compile for each operation, and as long as for 40 of them besides (benchmarks/code_tiers.py).
ENOUGH = 1 << 21
_LOOP, _FUNCTION, _FIXED = 4, 16, 40
_LARGE = ENOUGH // 2  # work per operation in one call; above it, the first call already runs good code
_SMALL_MOVED = 1 << 13  # largest array, in elements, that good code transposes or scatters; else XLA's default
_MANY = 16  # results; programs with more are operators on lists, which the older emitters compile slowly
_ITERATIONS = 256  # assumed iterations of a loop
_UNTUNED_CALLS = 64  # of a program of products or convolutions on a GPU until good code takes over
_ROUNDS = 5  # iterations of the loops that generate random bits
_COMPARISONS = 64  # operations per sorted element
_TIERS = os.environ.get("TENAX_TIERS") != "0"

_OPERATION = re.compile(r"\b(?:stable|c|m)hlo\.")  # an operation of an XLA dialect
_FUNCTIONS = re.compile(r"\bchlo\.|\bstablehlo\.(?:atan2|cbrt|cosine|expo|log|power|r?sqrt|sine|tan)")
_TYPES = re.compile(r"tensor<((?:\d+x)*)(\w+)")
_WINDOW = re.compile(r"window_dimensions = array<i64: ([\d, ]+)>")
_MOVES = re.compile(r"stablehlo\.(?:transpose|scatter)\b")
_ALIKE = re.compile(r"stablehlo\.(?:concatenate|convolution|dot_general|reduce\(.* applies)")
_AUTOTUNED = re.compile(r"stablehlo\.(?:convolution|dot_general)\b")
_PARTS = re.compile(r"stablehlo\.(?:gather|slice|dynamic_slice)\b")


def has_tiers() -> bool:
    """Whether a program may start with first code."""
    return _TIERS and of_platform(_SOON) is not None


def has_quick_tier() -> bool:
    """Whether first code compiles so quickly that a large program may begin as many small ones: on the CPU."""
    return has_tiers() and jax.local_devices()[0].platform == "cpu"


def has_one_tier() -> bool:
    """Whether all code must be good code now, because every call of an operation must return the same bits."""
    return not _TIERS or torch.are_deterministic_algorithms_enabled()


class Code(NamedTuple):
    """How a program is compiled."""

    options: Options | None  # None: the process's defaults
    work: int  # units of work per operation of a call; 0 if good code will not take over


def first_code(text: str) -> Code:
    """The code for the first calls of a lowered program."""
    soon = of_platform(_SOON)
    if soon is None or jax.local_devices()[0].platform == "gpu":
        return Code(soon, ENOUGH // _UNTUNED_CALLS if soon and _AUTOTUNED.search(text) else 0)
    work, operations = computed(text)
    work = -(-work // operations)
    return Code(soon, work) if work <= _LARGE else good_code(text)


def good_code(text: str) -> Code:
    """The code for a lowered program that is called often, or has large arrays."""
    arrays = [math.prod(map(int, d[:-1].split("x"))) for d in {d for d, _ in _TYPES.findall(text)} if d]
    moves = _MOVES.search(text) and max(arrays, default=1) > _SMALL_MOVED
    head = text[: text.find("\n", text.find("@main"))]
    many = head.rpartition("->")[2].count("tensor<") > _MANY
    return Code(None if moves or _loops(text) or many else of_platform(_GOOD), 0)


def of_platform(table: dict[str, Options]) -> Options | None:
    """The options for the first device's platform that its XLA has; None if it has none, or `XLA_FLAGS` sets one."""
    options, flags = table.get(jax.local_devices()[0].platform, {}), os.environ.get("XLA_FLAGS", "")
    known = {name: value for name, value in options.items() if name not in missing_options()}
    return None if any(name in flags for name in options) else known or None


def computed(text: str) -> tuple[int, int]:
    """Estimate the work of a call of a lowered program, in units of `ENOUGH`, and how many operations it has.

    First code computes sums and copies as fast as good code, as well as products of floating-point matrices and
    convolutions, which a library computes.
    """
    work, operations, largest = 1, _FIXED, 1  # `largest`: elements of an array
    each = 1  # the cost per element of the operation whose region has begun
    for line in text.splitlines():
        if found := _WINDOW.search(line):
            each = math.prod(map(int, found[1].split(",")))
        elif "stablehlo.sort" in line:
            each = _COMPARISONS
        ends = line.lstrip().startswith("})")  # the end of a region, followed by the types of its operation
        if not ends and (not _OPERATION.search(line) or "stablehlo.constant" in line):
            continue
        types = [(math.prod(map(int, d[:-1].split("x"))) if d else 1, kind) for d, kind in _TYPES.findall(line)]
        sizes = [size for size, _ in types]
        if not sizes:
            continue
        operations += 1
        if "stablehlo.dot_general" in line and types[0][1].startswith(("i", "ui")):  # compiled as a plain loop
            work += math.isqrt(math.prod(sizes[-3:]))
        elif not _ALIKE.search(line):
            size = sizes[-1] if _PARTS.search(line) else max(sizes)
            work += size * (_FUNCTION if _FUNCTIONS.search(line) else each)
            largest = max(largest, size)
        if ends:
            each = 1
    times = _ITERATIONS if _loops(text) else _ROUNDS if "threefry" in text else 1
    return (work + _LOOP * largest) * times, operations


def _loops(text: str) -> bool:
    return "stablehlo.while" in text and "threefry" not in text

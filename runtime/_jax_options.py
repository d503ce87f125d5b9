"""The seam to XLA's compiler options: each option that the package sets, and whether the installed XLA has it.

XLA refuses an option that it does not have, and drops options without notice. So those that only change the speed of
compilation are left out where they are unknown.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

import jax

from .releases import private_names

with private_names("jax", jax.__version__):
    from jaxlib import _jax as _jaxlib


class Option(NamedTuple):
    """A compiler option of XLA."""

    value: str | bool  # a valid value
    releases: str  # of JAX, among those that are supported
    without: str  # what is lost without the option
    is_optional: bool = True  # False: programs would compute other values, so XLA's error is raised


OPTIONS = {
    "xla_cpu_use_fusion_emitters": Option(
        False, "0.10 to 0.11.0", "first code takes two thirds of the default's compile time instead of a third"
    ),
    "xla_backend_optimization_level": Option("0", "all", "code compiles as slowly as XLA's default"),
    "xla_llvm_disable_expensive_passes": Option(True, "all", "first code compiles more slowly"),
    "xla_cpu_parallel_codegen_split_count": Option("1", "all", "small programs compile more slowly"),
    "xla_gpu_autotune_level": Option("0", "all", "XLA tries all algorithms before the first call"),
    "xla_gpu_enable_triton_gemm": Option(False, "all", "XLA tries all algorithms before the first call"),
    "xla_gpu_cuda_data_dir": Option("", "all", "programs for a GPU that need not exist do not compile", False),
    "xla_disable_hlo_passes": Option("", "all", "each consumer of a depthwise convolution computes it again"),
    "xla_allow_excess_precision": Option(False, "all", "float16 is not rounded within lazy programs", False),
}
_UNKNOWN = re.compile(r"No such compile option: '(.+?)'")
_NEVER_KNOWN = "tenax_no_such_option"


@cache
def missing_options() -> frozenset[str]:
    """The options of the table that the first device's XLA does not have; all of them if it does not tell.

    XLA sets options in their order before it compiles, and names the first one that it does not have. If that is one
    that no XLA has, it has all those before it. This takes two milliseconds, and compiles nothing.
    """
    with private_names("jax", jax.__version__):
        device, settings = jax.local_devices()[0], _jaxlib.CompileOptions()
        client: Any = device.client
        devices = _jaxlib.DeviceList((device,))
    missing: set[str] = set()
    while True:
        asked = [(name, option.value) for name, option in OPTIONS.items() if name not in missing]
        settings.env_option_overrides = [*asked, (_NEVER_KNOWN, True)]
        refused = None
        try:
            client.compile_and_load("module { func.func @main() { return } }", devices, settings)
        except jax.errors.JaxRuntimeError as error:
            refused = _UNKNOWN.search(str(error))
        if refused is not None and refused[1] == _NEVER_KNOWN:
            return frozenset(missing)
        if refused is None or refused[1] not in dict(asked):
            return frozenset(OPTIONS)
        missing.add(refused[1])

"""How XLA compiles a program that is not expected to run again: with the options that compile fastest."""

from .options import Options, of_platform

_FASTEST: dict[str, Options] = {
    "cpu": {
        "xla_cpu_use_fusion_emitters": False,
        "xla_backend_optimization_level": "0",
        "xla_llvm_disable_expensive_passes": True,
    }
}


def options_for_one_run() -> Options | None:
    """The compiler options for such a program; None for the process's defaults."""
    return of_platform(_FASTEST)

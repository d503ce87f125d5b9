"""What every test runs under: strict JAX promotion, eight host devices, warnings as errors (pyproject.toml)."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TENAX_TRACEBACK", "full")
os.environ.setdefault("TENAX_QUIET", "1")  # tests read what a program prints
os.environ.setdefault("TENAX_CACHE", "0")  # neither the programs of the user nor those of an earlier run are met
flags = os.environ.get("XLA_FLAGS", "")
if "xla_force_host_platform_device_count" not in flags:
    os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count=8".strip()

import jax  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402

import tenax  # noqa: E402, F401

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.devices()  # JAX reads the flags now, before a test changes them


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Every test starts from the same random state, on all devices."""
    torch.manual_seed(0)

"""Settings shared by all tests: strict JAX promotion, eight host devices, warnings as errors (pyproject.toml)."""

import collections
import gc
import os
import zlib
from collections.abc import Iterator

gc.disable()  # until the tests are collected
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
from tenax.dispatch.unusual_arguments import moving_operators  # noqa: E402

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.devices()  # JAX reads the flags now, before a test changes them


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow all but one in `every` cases of a test that is marked `sampled(every)`.

    The names of the cases choose, so a new case moves no other and all workers agree; the first one is always kept.
    """
    cases: collections.Counter[object] = collections.Counter()
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None:
            function = item.parent, item.originalname
            if cases[function] and zlib.crc32(item.name.encode()) % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            cases[function] += 1


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave the modules and the collected tests, millions of objects, out of the garbage collections of the tests."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def frozen() -> Iterator[None]:
    """Leave what the tests of a file keep, such as programs, out of later collections and of `gc.get_referrers`.

    torch.export looks for leaked tensors by the latter, which takes seconds among millions of objects.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Every test starts from the same random state. torch.manual_seed queues a traceback for each absent device."""
    torch.default_generator.manual_seed(0)
    torch.jax.manual_seed_all(0)


@pytest.fixture(autouse=True)
def unemulated(request: pytest.FixtureRequest) -> Iterator[None]:
    """Arithmetic moves no CPU tensor to the device, which it does once a test has imported `tenax.compat.torch_xla`."""
    if "torch_xla" in request.node.nodeid:
        yield
        return
    moving = {*moving_operators}
    moving_operators.clear()
    yield
    moving_operators.update(moving)

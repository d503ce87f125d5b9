"""Options of XLA's compiler: fast code where compilation costs more than running."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import torch

import tenax
from tenax._jax import OPTIONS, Option, missing_options
from tenax.xla import options
from tenax.xla.options import GOOD, first_code, has_tiers
from tests.helpers.agreement import close

EMITTERS = "xla_cpu_use_fusion_emitters"
FULL: dict[str, int | bool] = {
    "xla_backend_optimization_level": 3,
    **({} if EMITTERS in missing_options() else {EMITTERS: True}),
}
SMALL: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "number": lambda x: x * 2 + x,
    "gelu": torch.nn.functional.gelu,
    "normalization": lambda x: torch.nn.functional.layer_norm(x, x.shape[1:]),
    "softmax": lambda x: x.softmax(1),
    "product": lambda x: x @ x.view(64, 48),
    "random": torch.randn_like,
    "transpose": lambda x: x.t().contiguous(),
    "scatter": lambda x: x.index_add(0, x[:8, 0].long().abs(), x[:8]),
}


def lowered_text(function: Callable[[torch.Tensor], torch.Tensor], x: jax.Array) -> str:
    return jax.jit(tenax.t2j(function)).lower(x).as_text()


@pytest.mark.parametrize("name", SMALL)
def test_first_code_gives_what_the_cpu_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    x = torch.randn(48, 64, generator=torch.Generator().manual_seed(0))
    lowered = jax.jit(lambda x: tenax.t2j(SMALL[name])(x, rng=jax.random.key(0))).lower(x.to("jax").jax())
    first = first_code(lowered.as_text(), [])
    assert first.options is not None and first.options["xla_backend_optimization_level"] == "0" and first.calls
    found = tenax.from_jax(lowered.compile(first.options)(x.to("jax").jax()))
    if name != "random":
        close(found, SMALL[name](x))


def test_a_program_of_large_arrays_has_good_code_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    small, large = (jax.ShapeDtypeStruct((size,), "float32") for size in (1 << 16, 1 << 17))
    assert first_code("", [small]).options is not None
    assert first_code("", [small, large]) == GOOD


def test_deterministic_mode_has_one_tier_of_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    torch.use_deterministic_algorithms(True)
    try:
        assert first_code("", []) == GOOD
    finally:
        torch.use_deterministic_algorithms(False)


def test_flags_of_the_process_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=2")
    assert first_code("", []) == GOOD and not has_tiers()


def test_an_option_that_xla_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    unknown: dict[str, str | bool] = {"xla_not_there": True, "xla_gone": "1"}
    more = {name: Option(value, "none", "nothing") for name, value in unknown.items()}
    missing = missing_options()
    monkeypatch.setattr("tenax._jax.OPTIONS", {"xla_gone": more["xla_gone"], **OPTIONS, **more})
    monkeypatch.setattr("tenax.xla.options.missing_options", missing_options.__wrapped__)
    assert missing_options.__wrapped__() == missing | {*unknown}
    level = {"xla_backend_optimization_level": "0"}
    first = options._FIRST["cpu"]
    monkeypatch.setitem(options._FIRST, "cpu", first._replace(options={**unknown, **level}))
    assert first_code("", []) == (level, first.calls)
    monkeypatch.setitem(options._FIRST, "cpu", first._replace(options=unknown))
    assert not has_tiers()


def test_no_option_is_used_where_xla_does_not_tell_which_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    invalid = Option("no number", "all", "nothing")
    monkeypatch.setattr("tenax._jax.OPTIONS", {**OPTIONS, "xla_backend_optimization_level": invalid})
    assert missing_options.__wrapped__() == {*OPTIONS}


def test_first_code_of_a_gpu_tries_no_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones((8, 8), np.float32)
    product, total = (jax.jit(f).lower(x) for f in (lambda x: x @ x, lambda x: x.sum()))
    gpu = [SimpleNamespace(platform="gpu")]
    monkeypatch.setattr("tenax.xla.options.jax", SimpleNamespace(local_devices=lambda: gpu))
    first = first_code(product.as_text(), [jax.ShapeDtypeStruct((1 << 20,), "float32")])
    assert first.calls == 64
    assert first_code(total.as_text(), []) == (first.options, 0)  # which has nothing to choose
    assert product.compile(first.options)(x)[0, 0] == 8  # XLA knows these options

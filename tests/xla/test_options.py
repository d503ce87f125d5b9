"""Options of XLA's compiler: fast code where compilation costs more than running."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import tenax
from tenax._jax_options import OPTIONS, Option, missing_options
from tenax.dispatch.aot_call import AotCall
from tenax.xla.one_run import options_for_one_run
from tenax.xla.options import ENOUGH, computed, first_code, good_code, has_quick_tier, has_tiers, of_platform
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
def test_good_code_gives_the_bits_of_the_default(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    x = torch.randn(48, 64, generator=torch.Generator().manual_seed(0)).to("jax").jax()
    lowered = jax.jit(lambda x: tenax.t2j(SMALL[name])(x, rng=jax.random.key(0))).lower(x)
    options = good_code(lowered.as_text()).options
    assert options is not None
    full, good = (lowered.compile(chosen)(x) for chosen in (FULL, options))
    assert np.asarray(full).tobytes() == np.asarray(good).tobytes()


@pytest.mark.parametrize("name", SMALL)
def test_first_code_gives_what_the_cpu_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    x = torch.randn(48, 64, generator=torch.Generator().manual_seed(0))
    lowered = jax.jit(lambda x: tenax.t2j(SMALL[name])(x, rng=jax.random.key(0))).lower(x.to("jax").jax())
    options, work = first_code(lowered.as_text())
    assert options is not None and options["xla_backend_optimization_level"] == "0"
    assert 0 < work < 10 * x.numel()
    found = tenax.from_jax(lowered.compile(options)(x.to("jax").jax()))
    if name != "random":
        close(found, SMALL[name](x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.repeat(2, 2).t().contiguous(),
        lambda x: x.repeat(2, 2).index_add(0, x[0, :8].long(), x.repeat(1, 2)[:8]),
        lambda x: torch.special.gammaincc(x, x),
    ],
    ids=["transpose", "scatter", "loop"],
)
def test_good_code_is_the_default_where_that_is_faster(
    function: Callable[[torch.Tensor], torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    assert good_code(lowered_text(function, torch.ones(48, 64, device="jax").jax())).options is None


def test_a_program_of_large_arrays_has_good_code_from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    code = first_code(jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((1 << 12, 1 << 12), "float32")).as_text())
    assert code.options and code.options["xla_backend_optimization_level"] == "1" and not code.work


WINDOW = {"window_dimensions": (1, 5), "window_strides": (1, 1), "padding": "VALID"}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x + x, 8_000),
        (jnp.arctanh, 16 * 8_000),
        (lambda x: (x + x)[0], 8_000 + 80),
        (lambda x: jnp.argmax(x, 1), 2 * 8_000),
        (lambda x: x + x.sum(1, keepdims=True) + x @ jnp.ones((80, 80)), 3 * 8_000 + 6_400),
        (lambda x: jax.lax.reduce_window(x, np.float32(0), jax.lax.max, **WINDOW), 8_000 * 5),
        (lambda x: x.astype(int) @ x.T.astype(int), 2 * 8_000 + 8_000 + 8_000 * 100),
    ],
    ids=["pointwise", "function", "slice", "reduction", "as fast in first code", "window", "integers"],
)
def test_the_work_of_a_program_is_that_of_its_operations(function: Callable[..., jax.Array], expected: int) -> None:
    text = jax.jit(function).lower(np.ones((100, 80), np.float32)).as_text()
    loop = 4 * 8_000  # and more for each element of the largest array
    assert expected <= computed(text)[0] - loop <= 1.01 * expected + 100


def test_loops_count_many_times() -> None:
    x = np.ones(100, np.float32)
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: x * 2, x)).lower(x).as_text()
    assert computed(loop)[0] > 100 * computed(jax.jit(lambda x: x * 2).lower(x).as_text())[0]


def test_flags_of_the_process_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    text = jax.jit(lambda x: x + 1).lower(1.0).as_text()
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=2")
    assert first_code(text) == good_code(text) == (None, 0)
    assert options_for_one_run() is None


def test_an_option_that_xla_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    unknown: dict[str, str | bool] = {"xla_not_there": True, "xla_gone": "1"}
    more = {name: Option(value, "none", "nothing") for name, value in unknown.items()}
    missing = missing_options()
    monkeypatch.setattr("tenax._jax_options.OPTIONS", {"xla_gone": more["xla_gone"], **OPTIONS, **more})
    monkeypatch.setattr("tenax.xla.options.missing_options", missing_options.__wrapped__)
    assert missing_options.__wrapped__() == missing | {*unknown}
    level = {"xla_backend_optimization_level": "0"}
    assert of_platform({"cpu": {**unknown, **level}}) == level
    assert of_platform({"cpu": unknown}) is None


def test_no_option_is_used_where_xla_does_not_tell_which_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    invalid = Option("no number", "all", "nothing")
    monkeypatch.setattr("tenax._jax_options.OPTIONS", {**OPTIONS, "xla_backend_optimization_level": invalid})
    assert missing_options.__wrapped__() == {*OPTIONS}


def test_first_code_of_a_gpu_tries_no_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones((8, 8), np.float32)
    product, total = (jax.jit(f).lower(x) for f in (lambda x: x @ x, lambda x: x.sum()))
    gpu = [SimpleNamespace(platform="gpu")]
    monkeypatch.setattr("tenax.xla.options.jax", SimpleNamespace(local_devices=lambda: gpu))
    first = first_code(product.as_text())
    assert ENOUGH // first.work == 64  # calls until good code takes over
    assert first_code(total.as_text()) == (first.options, 0)  # which has nothing to choose
    assert good_code(product.as_text()) == (None, 0)
    assert has_tiers() and not has_quick_tier()
    assert product.compile(first.options)(x)[0, 0] == 8  # XLA knows these options


def train(
    device: str, compiled: Callable[[Callable[[], torch.Tensor]], Callable[[], torch.Tensor]]
) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(1)).to(device)

    @compiled
    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step().cpu() for _ in range(3)]
    for _ in range(2):
        optimizer.state.clear()  # the step that makes the state runs again
        losses += [step().cpu() for _ in range(2)]
    return losses


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """LLVM's levels that compiled functions ask for, one after another; None is the default."""
    monkeypatch.delenv("XLA_FLAGS")
    levels: list[str | None] = []
    compile_for_call = AotCall._compile

    def compile_and_note(
        self: AotCall, lowered: jax.stages.Lowered, more: dict[str, str] | None = None
    ) -> jax.stages.Compiled:
        levels.append((more or {}).get("xla_backend_optimization_level"))
        return compile_for_call(self, lowered, more)

    monkeypatch.setattr(AotCall, "_compile", compile_and_note)
    return levels


def test_the_step_that_makes_an_optimizers_state_is_compiled_for_one_run(chosen: list[str | None]) -> None:
    close(train("jax", tenax.jit), train("cpu", lambda step: step))
    assert chosen == ["0", None, None]  # state is made, steady, state is made for the second time


def test_deterministic_mode_has_one_tier_of_compiled_code(chosen: list[str | None]) -> None:
    torch.use_deterministic_algorithms(True)
    try:
        train("jax", tenax.jit)
    finally:
        torch.use_deterministic_algorithms(False)
    assert set(chosen) == {None}

"""Options of XLA's compiler: fast code where compilation costs more than running."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
import pytest
import torch

import tenax
from tenax.dispatch.aot_call import AotCall
from tenax.xla.one_run import options_for_one_run
from tenax.xla.options import options_for

from .agreement import close

FULL = {"xla_cpu_use_fusion_emitters": True, "xla_backend_optimization_level": 3}
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


@pytest.mark.parametrize("name", SMALL)
def test_code_made_quickly_gives_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    x = torch.randn(48, 64, generator=torch.Generator().manual_seed(0)).to("jax").jax()
    lowered = jax.jit(lambda x: tenax.t2j(SMALL[name])(x, rng=jax.random.key(0))).lower(x)
    options = options_for(lowered.as_text())
    assert options is not None
    full, quick = (lowered.compile(chosen)(x) for chosen in (FULL, options))
    assert np.asarray(full).tobytes() == np.asarray(quick).tobytes()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.repeat(2, 2).t().contiguous(),
        lambda x: x.repeat(2, 2).index_add(0, x[0, :8].long(), x.repeat(1, 2)[:8]),
        lambda x: x.repeat(8, 8) + 1,
    ],
    ids=["transpose", "scatter", "large"],
)
def test_code_that_takes_its_time_is_made_well(
    function: Callable[[torch.Tensor], torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    x = torch.ones(48, 64, device="jax").jax()
    assert options_for(jax.jit(tenax.t2j(function)).lower(x).as_text()) is None


def test_flags_of_the_process_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    text = jax.jit(lambda x: x + 1).lower(1.0).as_text()
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=2")
    assert options_for(text) is None
    assert options_for_one_run() is None


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


def test_the_step_that_makes_an_optimizers_state_is_compiled_for_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS")
    chosen = []
    compile_for_call = AotCall._compile

    def compile_and_note(self: AotCall, lowered: jax.stages.Lowered, options: dict[str, object]) -> jax.stages.Compiled:
        chosen.append((options or {}).get("xla_backend_optimization_level"))
        return compile_for_call(self, lowered, options)

    monkeypatch.setattr(AotCall, "_compile", compile_and_note)
    close(train("jax", tenax.jit), train("cpu", lambda step: step))
    assert chosen == ["0", None, None]  # state is made, steady, state is made for the second time

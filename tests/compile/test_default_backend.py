"""`torch.compile` without a backend: the device of a graph's tensors decides who compiles it."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch import nn

from tenax.compile import delegates
from tests.helpers.agreement import close
from tests.helpers.training import both


@pytest.fixture
def compiled_by_inductor(monkeypatch: pytest.MonkeyPatch) -> list[torch.fx.GraphModule]:
    """The graphs that inductor gets; they run as they are."""
    from torch._inductor import compile_fx

    graphs: list[torch.fx.GraphModule] = []

    def record(module: torch.fx.GraphModule, inputs: Any, **options: Any) -> Any:
        graphs.append(module)
        return module.forward

    monkeypatch.setattr(compile_fx, "compile_fx", functools.partial(delegates.compile_fx, record))
    torch.compiler.reset()
    return graphs


def test_graphs_of_device_tensors_are_compiled_by_tenax_and_others_by_inductor(
    compiled_by_inductor: list[torch.fx.GraphModule],
) -> None:
    theirs, ours = both(nn.Sequential(nn.Linear(3, 4), nn.Tanh()))
    x = torch.randn(2, 3)
    for mode in (None, "max-autotune"):
        for model, inputs in ((ours, x.to("jax")), (theirs, x)):
            torch.compile(model, mode=mode)(inputs).sum().backward()
    close([p.grad for p in ours.parameters()], [p.grad for p in theirs.parameters()])
    close(torch.compile(lambda: torch.ones(3, device="jax") + 1)(), torch.full((3,), 2.0))
    assert len(compiled_by_inductor) == 2


def test_options_of_inductor_are_refused_by_name_on_the_device() -> None:
    function = torch.compile(lambda x: x + 1, options={"shape_padding": True})
    with pytest.raises(Exception, match=r"ValueError: .*\['shape_padding'\].*backend=\"tenax\""):
        function(torch.ones(2, device="jax"))


def test_a_program_that_inductor_would_save_is_refused() -> None:
    module = torch.export.export(nn.Linear(3, 2).to("jax"), (torch.ones(1, 3, device="jax"),))
    with pytest.raises(ValueError, match=r"aot_inductor\.package.*tenax\.export"):
        torch._inductor.aoti_compile_and_package(module)

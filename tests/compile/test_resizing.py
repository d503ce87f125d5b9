"""`torch.compile(backend="tenax")`: interpolation is one node of a graph, and agrees with CPU torch."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from tenax.compile.graph import CompiledGraph
from tests.helpers.agreement import agree, compiled
from tests.helpers.tolerances import COMPOSED


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    "mode", ["nearest", "nearest-exact", "bilinear", "bicubic", "linear", "trilinear", "nearest 1", "nearest 3"]
)
def test_interpolation_stays_whole_if_its_sizes_are_known(
    mode: str, dynamic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets: list[str] = []
    original = CompiledGraph.__init__

    def spy(self: CompiledGraph, module: torch.fx.GraphModule, *rest: Any) -> None:
        targets.extend(str(n.target) for n in module.graph.nodes if n.op == "call_function")
        original(self, module, *rest)

    monkeypatch.setattr(CompiledGraph, "__init__", spy)
    mode, _, axes = mode.partition(" ")
    count = {"linear": 1, "trilinear": 3}.get(mode, int(axes or 2))
    x = torch.randn(2, 3, *(6, 4, 5)[:count])
    for arguments in ({"scale_factor": 1.5}, {"size": (9, 6, 4)[:count]}):
        torch._dynamo.reset()
        targets.clear()
        resize = functools.partial(F.interpolate, mode=mode, **arguments)
        run = compiled(resize, dynamic=dynamic)
        results = []
        for function, given in ((run, x.to("jax")), (resize, x.clone())):
            result = function(given.requires_grad_())
            results.append([result, *torch.autograd.grad(result.square().sum(), given)])
        agree(*results, COMPOSED)
        if not dynamic:
            assert len(targets) == 2 and all("upsample" in name for name in targets), targets

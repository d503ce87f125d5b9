"""Programs of torch.export as JAX functions and artifacts, against the modules that they were captured from."""

from typing import Any

import jax
import jax.export
import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export

from tenax.export import exported_to_jax, to_exported
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

Tensor = torch.Tensor
N, T = Dim("n", min=2, max=64), Dim("t", min=4)
X3 = torch.tensor([0.5, -1.0, 2.0])
WARNINGS = [
    pytest.mark.filterwarnings("ignore:`isinstance:FutureWarning"),  # torch 2.13 about its own copy of a tree
    pytest.mark.filterwarnings("ignore:The tensor attributes self._flat_weights"),
    pytest.mark.filterwarnings("ignore:.*nested_tensor:UserWarning"),
]


def arrays(tree: Any) -> Any:
    with jax.enable_x64(True):
        return torch.utils._pytree.tree_map_only(Tensor, lambda x: jax.numpy.asarray(x.numpy()), tree)


def check(module: nn.Module, *inputs: Tensor, shapes: Any = None, others: Any = ()) -> ExportedProgram:
    """A module as a function, and as an artifact that also takes `others`."""
    program = export(module, inputs, dynamic_shapes=shapes)
    weights, function = exported_to_jax(program)
    close(jax.jit(function)(weights, *arrays(inputs))[0], module(*inputs), COMPOSED)
    exported = to_exported(program)
    for given in (inputs, *others):
        close(exported.call(weights, *arrays(given))[0], module(*given), COMPOSED)
    return program


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))


def net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )


def transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()

"""What is measured: each model in both writings, a batch for it, and its optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import torch
from torch import nn

from .by_hand import decode as decode_by_hand
from .by_hand import gpt as gpt_by_hand
from .by_hand import lstm as lstm_by_hand
from .by_hand import mlp as mlp_by_hand
from .by_hand import narrow as narrow_by_hand
from .by_hand import resnet as resnet_by_hand
from .decode import Decoder
from .gpt import GPT
from .lstm import LSTM
from .mlp import MLP
from .narrow import Narrow
from .resnet import ResNet

Batch = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Case:
    """A model; `batch` gives inputs and targets on the host, or a token and its position."""

    name: str
    module: Callable[[], nn.Module]
    batch: Callable[[], Batch]
    optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
    optax: Callable[[], optax.GradientTransformation]
    by_hand: ModuleType
    programs: tuple[str, ...] = ("forward", "training step")


def weights(module: nn.Module) -> dict[str, np.ndarray]:
    """Copies of parameters and buffers on the host."""
    return {name: value.detach().cpu().numpy().copy() for name, value in module.state_dict().items()}


def array(x: torch.Tensor) -> jax.Array:
    """A batch as one has it in JAX: 32-bit tokens, images with channels last."""
    if x.dim() == 4:
        x = x.permute(0, 2, 3, 1)
    return jnp.array(x.numpy().astype(np.float32 if x.is_floating_point() else np.int32))


def classified(classes: int, *shape: int) -> Batch:
    return torch.randn(shape), torch.randint(classes, shape[:1])


def text(vocabulary: int, batch: int, length: int) -> Batch:
    """Tokens, and the ones that follow."""
    tokens = torch.randint(vocabulary, (batch, length + 1))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


ADAMW = (partial(torch.optim.AdamW, lr=1e-3), partial(optax.adamw, 1e-3, weight_decay=1e-2))
MOMENTUM = (partial(torch.optim.SGD, lr=1e-2, momentum=0.9), partial(optax.sgd, 1e-2, momentum=0.9))


def _case(name: str, module: Callable, batch: Callable, by_hand: ModuleType, optimizers: Any = ADAMW) -> Case:
    return Case(name, module, batch, *optimizers, by_hand)


def gpt(layers: int) -> Case:
    return _case(f"GPT, {layers} layers", partial(GPT, layers), partial(text, 512, 4, 64), gpt_by_hand)


CASES = (
    _case("MLP", MLP, partial(classified, 16, 64, 256), mlp_by_hand),
    _case("ResNet-18", ResNet, partial(classified, 10, 8, 3, 64, 64), resnet_by_hand, MOMENTUM),
    gpt(4),
    gpt(12),
    _case("LSTM", LSTM, partial(text, 256, 16, 32), lstm_by_hand),
    _case("202 tiny parameters", Narrow, partial(classified, 2, 8, 2), narrow_by_hand),
    gpt(48),
)
DECODING = Case(
    "GPT, decoding",
    lambda: Decoder(GPT(4, width=128, length=128)),
    lambda: (torch.tensor([[7]]), torch.tensor([0])),
    *ADAMW,
    decode_by_hand,
    ("32 tokens",),
)

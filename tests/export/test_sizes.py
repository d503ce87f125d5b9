"""Programs of torch.export with open sizes take every size: as artifacts, and back from disk."""

import re
from pathlib import Path
from typing import Any

import jax
import jax.export
import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim, export
from torch.nn import functional as F  # noqa: N812

from tenax.export import exported_to_jax, load, save, to_exported, to_stablehlo
from tests.export.programs import WARNINGS, X3, N, T, arrays, check, mlp, net, transformer
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

Tensor = torch.Tensor
pytestmark = WARNINGS

SEQUENCES = ({0: N, 1: T},)


class Padded(nn.Module):
    """An encoder layer with a mask made of lengths, mean pooling, and rotary embeddings of any length."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.project, self.out, self.norm = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width)
        self.register_buffer("frequencies", 10000 ** (-torch.arange(0, 8, 2) / 8))

    def turned(self, x: Tensor) -> Tensor:
        angles = torch.outer(torch.arange(x.size(-2), dtype=x.dtype), self.frequencies).repeat(1, 2)
        return x * angles.cos() + torch.cat([-x[..., 4:], x[..., :4]], -1) * angles.sin()

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        n, t = tokens.shape
        mask = torch.arange(t)[None, :] < lengths[:, None]
        x = self.embedding(tokens)
        q, k, v = self.project(x).view(n, t, 3, 2, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(self.turned(q), self.turned(k), v, mask[:, None, None, :])
        x = self.norm(x + self.out(y.transpose(1, 2).reshape(n, t, -1)))
        return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


class Causal(nn.Module):
    """Attention with a causal mask and biases by distance, made for the length of the input."""

    def forward(self, x: Tensor) -> Tensor:
        t = x.size(1)
        places = torch.arange(t)
        scores = x @ x.mT / x.size(-1) ** 0.5 - (places[:, None] - places[None]).abs() * 0.5
        later = torch.ones(t, t, dtype=torch.bool).triu(1)
        return scores.masked_fill(later, -torch.inf).softmax(-1) @ x


class Patches(nn.Module):
    """A vision transformer whose positions are interpolated to the size of the image."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.positions, self.token = nn.Parameter(torch.randn(1, width, 7, 7)), nn.Parameter(torch.randn(1, 1, width))
        self.layer = nn.TransformerEncoderLayer(width, 2, 16, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patch(x)
        y = (y + nn.functional.interpolate(self.positions, size=y.shape[-2:], mode="bilinear")).flatten(2).mT
        return self.layer(torch.cat([self.token.expand(y.size(0), -1, -1), y], 1))[:, 0]


class Detector(nn.Module):
    """A grid of candidates as large as the image, of which the best are taken."""

    def __init__(self) -> None:
        super().__init__()
        self.classes, self.boxes = nn.Conv2d(3, 5, 3, padding=1), nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        h, w = x.shape[-2:]
        best, label = self.classes(x).sigmoid().flatten(2).mT.max(-1)
        grid = torch.meshgrid(torch.arange(h, dtype=x.dtype), torch.arange(w, dtype=x.dtype), indexing="ij")
        top, i = best.topk(4, 1)
        center = torch.stack(grid, -1).view(-1, 2)[i]
        reach = self.boxes(x).flatten(2).mT.gather(1, i[..., None].expand(-1, -1, 4))
        boxes = torch.cat([center - reach[..., :2], center + reach[..., 2:]], -1) / torch.tensor([h, w, h, w])
        return top, label.gather(1, i), boxes


def tokens(n: int, t: int) -> tuple[Tensor, Tensor]:
    return torch.randint(0, 50, (n, t)), torch.randint(1, t + 1, (n,))


def image(n: int, h: int, w: int) -> tuple[Tensor]:
    return (torch.randn(n, 3, h, w),)


IMAGES = ({0: N, 2: Dim("h", min=4, max=64), 3: Dim("w", min=4)},)
FOURS = ({0: N, 2: 4 * Dim("h", min=2, max=16), 3: 4 * Dim("w", min=2, max=16)},)
OPEN = {
    "lengths": (Padded, tokens, ({0: N, 1: T}, {0: N}), [(2, 5), (3, 9), (6, 4)]),
    "causal": (Causal, lambda n, t: (torch.randn(n, t, 4),), SEQUENCES, [(2, 5), (3, 9), (6, 4)]),
    "patches": (Patches, image, FOURS, [(2, 8, 12), (3, 16, 8), (4, 12, 24)]),
    "detector": (Detector, image, IMAGES, [(2, 8, 9), (3, 5, 4), (4, 12, 7)]),
    "pooling": (
        lambda: nn.Sequential(nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2, 1, 1), nn.AdaptiveAvgPool2d((3, 2))),
        image, IMAGES, [(2, 8, 9), (3, 15, 4), (4, 12, 7)],
    ),
    "adaptive maxima": (lambda: nn.AdaptiveMaxPool2d(3), image, IMAGES, [(2, 8, 9), (3, 15, 4), (4, 12, 7)]),
    "borders": (
        lambda: nn.Sequential(nn.ReflectionPad2d((1, 2, 3, 0)), nn.ReplicationPad2d(2)),
        image, IMAGES, [(2, 8, 9), (3, 5, 4), (4, 12, 7)],
    ),
    "bags": (lambda: nn.EmbeddingBag(50, 4), lambda n, t: tokens(n, t)[:1], SEQUENCES, [(2, 5), (3, 9), (6, 4)]),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", OPEN)
def test_a_saved_module_takes_any_batch_and_size(name: str, tmp_path: Path) -> None:
    make, inputs, shapes, sizes = OPEN[name]
    module = make().eval()
    save(export(module, inputs(*sizes[0]), dynamic_shapes=shapes), tmp_path / "saved.zip")
    weights, exported = load(tmp_path / "saved.zip")
    for size in sizes:
        given = inputs(*size)
        close(exported.call(weights, *arrays(given))[0], module(*given))


class Sizes(nn.Module):
    """What programs do with sizes."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n, t = x.shape
        half = t // 2
        return (
            x * (n * 2 + 1) - t % 3, x / t, x * n**-0.5, x.sum() / x.numel(), x * torch.sym_float(n),
            torch.arange(t) + torch.arange(0, t * 2, 2) + torch.arange(t - 1, -1, -1), torch.arange(n, n + t),
            x.view(n, -1, 1), x.reshape(-1), x[:, :half], x[:, -3:], x.repeat(2, t),
            x.expand(3, n, t), x.new_zeros(n), torch.full((t,), 2.5), torch.zeros(torch.sym_max(n, t)),
            torch.ones(t, t).tril(), torch.eye(t), x.gather(1, x.argsort(1)), x[torch.arange(n), x.argmax(1)],
            nn.functional.interpolate(x[:, None], scale_factor=2.0, mode="linear"),
        )  # fmt: skip


def test_sizes_take_part_in_arithmetic_and_arguments() -> None:
    check(
        Sizes(),
        torch.randn(3, 6),
        shapes=({0: Dim.DYNAMIC, 1: Dim.DYNAMIC},),
        others=[(torch.randn(4, 9),), (torch.randn(5, 4),)],
    )


def test_an_mlp_takes_any_batch() -> None:
    program = check(mlp(), torch.randn(3, 4), shapes=({0: Dim("n")},), others=[(torch.randn(7, 4),)])
    assert re.fullmatch(r"float32\[s\d+,2\]", to_exported(program).out_avals[0].str_short())


def test_a_convolutional_net_takes_any_batch() -> None:
    check(net().eval(), torch.randn(2, 3, 8, 8), shapes=({0: Dim("n")},), others=[(torch.randn(5, 3, 8, 8),)])


def test_a_transformer_takes_any_batch_and_sequence() -> None:
    shapes = ({0: Dim("n", max=16), 1: Dim("t", max=64)},)
    check(transformer(), torch.randn(2, 5, 8), shapes=shapes, others=[(torch.randn(6, 9, 8),)])


def test_an_lstm_stays_a_loop_and_takes_any_batch() -> None:
    program = check(nn.LSTM(4, 6, batch_first=True), torch.randn(2, 5, 4), shapes=({0: Dim("n")},))
    assert "stablehlo.while" in to_stablehlo(program)


def test_a_derived_dimension_is_an_expression() -> None:
    class Pairs(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.view(-1, 2).sum(1)

    n = Dim("n", max=8)
    check(Pairs(), torch.randn(6), shapes=({0: 2 * n},), others=[(torch.randn(10),)])


def test_a_dimension_out_of_its_range_is_refused() -> None:
    program = export(mlp(), (torch.randn(3, 4),), dynamic_shapes=({0: Dim("n", min=2, max=5)},))
    weights, _ = exported_to_jax(program)
    exported = to_exported(program)
    exported.call(weights, np.zeros((5, 4), np.float32))
    for n in (1, 6):
        with pytest.raises(ValueError, match=r"s\d+ [<>]= [25]"):
            exported.call(weights, np.zeros((n, 4), np.float32))


def test_a_question_for_an_open_size_is_answered_by_the_program() -> None:
    class Branch(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            n = x.size(0)
            long = torch.cond(n > 4, lambda y: y.sin(), lambda y: y.cos(), (x,))
            return long + torch.cond(n == 6, lambda y: y + 1, lambda y: y * 2, (x,))

    check(Branch(), X3, shapes=({0: Dim("n", max=16)},), others=[(torch.randn(6),), (torch.randn(9),)])


def test_a_mask_of_attention_takes_any_batch_and_sequence() -> None:
    class Attention(nn.Module):
        def forward(self, x: Tensor, mask: Tensor, bias: Tensor) -> Tensor:
            q = x.unflatten(-1, (2, 4)).transpose(1, 2)
            hidden = torch.where(mask, 0.0, -torch.inf)[:, None, None]
            return F.scaled_dot_product_attention(q, q, q, hidden) + F.scaled_dot_product_attention(q, q, q, bias)

    def given(n: int, t: int) -> tuple[Tensor, ...]:
        return torch.randn(n, t, 8), torch.arange(t).expand(n, t) < 3, torch.randn(t, t)

    n, t = Dim("n", max=16), Dim("t", max=32)
    shapes = ({0: n, 1: t}, {0: n, 1: t}, {0: t, 1: t})
    program = check(Attention(), *given(2, 5), shapes=shapes, others=[given(1, 1), given(3, 7)])
    weights, function = exported_to_jax(program)

    def total(bias: Any, x: Any, mask: Any) -> Any:
        return (function(weights, x, mask, bias)[0] ** 2).sum()

    scope = jax.export.symbolic_shape("n, t, 8", constraints=["n <= 16", "t <= 32"])
    kinds = ((scope[1], scope[1]), np.float32), (scope, np.float32), (scope[:2], np.bool_)
    exported = jax.export.export(jax.jit(jax.grad(total)))(*(jax.ShapeDtypeStruct(*k) for k in kinds))
    x, mask, bias = given(3, 7)
    bias.requires_grad_()
    Attention()(x, mask, bias).square().sum().backward()
    assert bias.grad is not None
    close(exported.call(*arrays((bias.detach(), x, mask))), bias.grad, COMPOSED)

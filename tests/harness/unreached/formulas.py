"""Calls of overloads without a CPU kernel, beside the formula that each computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from .call import Call, Maker, call, i, r, u


def _convolution(x: torch.Tensor, w: torch.Tensor, *rest: Any) -> torch.Tensor:
    return torch.convolution(x, w, *rest)


def _convolution_backward(grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor, *rest: Any) -> Any:
    return torch.ops.aten.convolution_backward(grad, x, w, [w.shape[0]], *rest)


def _lstm_cell(x: torch.Tensor, h: torch.Tensor, cx: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> Any:
    entry, forget, cell, out = (x + h + b + c).chunk(4, 1)
    gates = entry.sigmoid(), forget.sigmoid(), cell.tanh(), out.sigmoid()
    cy = gates[1] * cx + gates[0] * gates[2]
    return gates[3] * cy.tanh(), cy, torch.cat(gates, 1)


def _lstm_backward(
    hy: torch.Tensor, cy_: torch.Tensor, cx: torch.Tensor, cy: torch.Tensor, gates: torch.Tensor, _: bool
) -> Any:
    entry, forget, cell, out = gates.chunk(4, 1)
    tanh = cy.tanh()
    rest = hy * out * (1 - tanh**2) + cy_
    parts = (
        rest * cell * entry * (1 - entry), rest * cx * forget * (1 - forget),
        rest * entry * (1 - cell**2), hy * tanh * out * (1 - out),
    )  # fmt: skip
    grad = torch.cat(parts, 1)
    return grad, rest * forget, grad.sum(0)


def _gru_cell(x: torch.Tensor, h: torch.Tensor, hx: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    (xr, xz, xn), (hr, hz, hn) = (x + b).chunk(3, 1), (h + c).chunk(3, 1)
    reset, update = (xr + hr).sigmoid(), (xz + hz).sigmoid()
    new = (xn + reset * hn).tanh()
    return new + update * (hx - new)


def _gru_backward(grad: torch.Tensor, workspace: torch.Tensor, _: bool) -> Any:
    reset, update, new, hx, hidden = workspace.chunk(5, 1)
    at_new = grad * (1 - update) * (1 - new**2)
    at_update = grad * (hx - new) * update * (1 - update)
    at_reset = at_new * hidden * reset * (1 - reset)
    x = torch.cat([at_reset, at_update, at_new], 1)
    h = torch.cat([at_reset, at_update, at_new * reset], 1)
    return x, h, grad * update, x.sum(0), h.sum(0)


def _invstd(x: torch.Tensor, eps: float) -> torch.Tensor:
    return 1 / torch.sqrt(x.var((0, 2), correction=0) + eps)


def _channels(x: torch.Tensor) -> torch.Tensor:
    return x[None, :, None]


def _gathered(x: torch.Tensor, mean: torch.Tensor, invstd: torch.Tensor, *rest: Any) -> tuple[torch.Tensor, ...]:
    *_, eps, counts = rest
    counts = torch.as_tensor(counts, dtype=torch.float32).expand(len(mean))[:, None]
    total = (counts * mean).sum(0) / counts.sum()
    variance = (counts * (1 / invstd**2 - eps + (mean - total) ** 2)).sum(0) / counts.sum()
    return total, 1 / torch.sqrt(variance + eps)


def _reduced(grad: torch.Tensor, x: torch.Tensor, mean: torch.Tensor, invstd: torch.Tensor, *_: Any) -> Any:
    centred = (grad * (x - _channels(mean))).sum((0, 2))
    return grad.sum((0, 2)), centred, centred * invstd, grad.sum((0, 2))


def _elementwise(
    grad: torch.Tensor, x: torch.Tensor, mean: torch.Tensor, invstd: torch.Tensor, weight: torch.Tensor,
    dy: torch.Tensor, dy_xmu: torch.Tensor, count: torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    total = count.sum()
    slope = _channels(dy_xmu / total * invstd**2) * (x - _channels(mean))
    return (grad - _channels(dy / total) - slope) * _channels(invstd * weight)


def _wide(x: torch.Tensor, y: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.to(dtype) @ y.to(dtype)


def _wide_sum(
    a: torch.Tensor, x: torch.Tensor, y: torch.Tensor, dtype: torch.dtype, *, beta: float = 1, alpha: float = 1
) -> torch.Tensor:
    return beta * a.to(dtype) + alpha * (x.to(dtype) @ y.to(dtype))


def _max_pool_backward(grad: torch.Tensor, x: torch.Tensor, *window: Any) -> torch.Tensor:
    x = x.requires_grad_()
    return torch.autograd.grad(F.max_pool2d(x, *window), x, grad)[0]


def _evaluated(x: torch.Tensor, w: Any, b: Any, mean: torch.Tensor, var: torch.Tensor, _: float, eps: float) -> Any:
    empty = torch.empty(0, dtype=torch.uint8)
    return F.batch_norm(x, mean, var, w, b, eps=eps), mean, torch.rsqrt(var + eps), empty


def _powers(xs: list[torch.Tensor], order: float) -> list[torch.Tensor]:
    return [x.abs().pow(order).sum() for x in xs]


def _rms_norm() -> Call:
    x = r(4, 5)
    return call(r(4, 5), x, [5], torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5), r(5), [True, True])


def _rms_norm_backward(
    grad: torch.Tensor, x: torch.Tensor, shape: list[int], _: Any, weight: torch.Tensor, __: Any
) -> Any:
    x, weight = x.requires_grad_(), weight.requires_grad_()
    return torch.autograd.grad(F.rms_norm(x, shape, weight, 1e-5), (x, weight), grad)


_GEOMETRY = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)
_HALF = torch.bfloat16

FORMULAS: dict[str, tuple[Maker, Callable[..., Any]]] = {
    "_thnn_fused_lstm_cell": (lambda: call(r(2, 16), r(2, 16), r(2, 4), r(16), r(16)), _lstm_cell),
    "_thnn_fused_lstm_cell_backward_impl": (
        lambda: call(r(2, 4), r(2, 4), r(2, 4), r(2, 4), u(2, 16), True), _lstm_backward),
    "_thnn_fused_gru_cell": (
        lambda: call(r(2, 12), r(2, 12), r(2, 4), r(12), r(12)), lambda *x: (_gru_cell(*x), ...)),
    "_thnn_fused_gru_cell_backward": (lambda: call(r(2, 4), u(2, 20), True), _gru_backward),
    "convolution_overrideable": (lambda: call(r(2, 4, 5, 5), r(6, 4, 3, 3), r(6), *_GEOMETRY), _convolution),
    "convolution_backward_overrideable": (
        lambda: call(r(2, 6, 5, 5), r(2, 4, 5, 5), r(6, 4, 3, 3), *_GEOMETRY, [True] * 3), _convolution_backward),
    "_masked_scale": (
        lambda: call(r(2, 3), i([0, 1, 1], [1, 0, 1], dtype=torch.uint8), 2.0),
        lambda x, m, s: x * m * s),
    "_fused_rms_norm_backward": (_rms_norm, _rms_norm_backward),
    "_conv_depthwise2d": (
        lambda: call(r(2, 4, 5, 5), r(4, 1, 3, 3), [3, 3], r(4), [1, 1], [1, 1], [1, 1]),
        lambda x, w, _, b, *geometry: F.conv2d(x, w, b, *geometry, groups=4)),
    "conv_depthwise3d": (
        lambda: call(r(2, 4, 5, 5, 5), r(4, 1, 3, 3, 3), [3] * 3, r(4), [1] * 3, [1] * 3, [1] * 3),
        lambda x, w, _, b, *geometry: F.conv3d(x, w, b, *geometry, groups=4)),
    "mm.dtype": (lambda: call(r(3, 4).to(_HALF), r(4, 5).to(_HALF), torch.float32), _wide),
    "bmm.dtype": (lambda: call(r(2, 3, 4).to(_HALF), r(2, 4, 5).to(_HALF), torch.float32), _wide),
    "addmm.dtype": (
        lambda: call(r(3, 5).to(_HALF), r(3, 4).to(_HALF), r(4, 5).to(_HALF), torch.float32, beta=0.5, alpha=2),
        _wide_sum),
    "baddbmm.dtype": (
        lambda: call(
            r(2, 3, 5).to(_HALF), r(2, 3, 4).to(_HALF), r(2, 4, 5).to(_HALF), torch.float32, beta=0.5, alpha=2),
        _wide_sum),
    "batch_norm_stats": (lambda: call(r(4, 3, 5), 1e-5), lambda x, eps: (x.mean((0, 2)), _invstd(x, eps))),
    "batch_norm_elemt": (
        lambda: call(r(4, 3, 5), u(3), r(3), r(3), u(3), 1e-5),
        lambda x, w, b, mean, invstd, _: (x - _channels(mean)) * _channels(invstd * w) + _channels(b)),
    "batch_norm_gather_stats": (lambda: call(r(2, 3, 5), r(2, 3), u(2, 3), None, None, 0.1, 1e-5, 8), _gathered),
    "batch_norm_gather_stats_with_counts": (
        lambda: call(r(2, 3, 5), r(2, 3), u(2, 3), None, None, 0.1, 1e-5, torch.tensor([8.0, 4.0])), _gathered),
    "batch_norm_backward_reduce": (
        lambda: call(r(4, 3, 5), r(4, 3, 5), r(3), u(3), u(3), True, True, True), _reduced),
    "batch_norm_backward_elemt": (
        lambda: call(r(4, 3, 5), r(4, 3, 5), r(3), u(3), u(3), r(3), r(3), i(20, dtype=torch.int32)), _elementwise),
    "max_pool2d_backward": (lambda: call(r(2, 3, 3, 3), r(2, 3, 6, 6), [2, 2], [2, 2]), _max_pool_backward),
    "_batch_norm_no_update": (lambda: call(r(4, 3, 5), u(3), r(3), r(3), u(3), 0.1, 1e-5), _evaluated),
    "_foreach_powsum.Scalar": (lambda: call([r(3), r(2, 2)], 3), _powers),
}  # fmt: skip

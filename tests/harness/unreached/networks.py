"""Calls of overloads that neural networks are made of."""

from __future__ import annotations

import torch

from .call import Call, Maker, call, i, r, u

aten = torch.ops.aten


def _recurrent(gates: int, state: object, packed: bool) -> Call:
    weights = [r(gates * 4, 3), r(gates * 4, 4), r(gates * 4), r(gates * 4)]
    if packed:
        return call(r(5, 3), i(2, 2, 1), state, weights, True, 1, 0.0, False, False)
    return call(r(3, 2, 3), state, weights, True, 1, 0.0, False, False, False)


def _conv(dims: int) -> tuple[torch.Tensor, torch.Tensor, list[int], torch.Tensor]:
    return r(2, 4, *[5] * dims), r(6, 4, *[3] * dims), [3] * dims, r(6)


def _geometry(dims: int) -> tuple[list[int], list[int]]:
    """Stride and padding."""
    return [1] * dims, [1] * dims


def _conv2d_gradient() -> tuple[torch.Tensor, ...]:
    return r(2, 6, 5, 5), r(2, 4, 5, 5), r(6, 4, 3, 3)


def _bag(mode: int, weighted: bool = False) -> tuple[torch.Tensor, ...]:
    weight, indices, offsets = r(6, 3), i(1, 2, 4, 5, 4, 0), i(0, 2, 4)
    scales = u(6) if weighted else None
    return weight, indices, offsets, scales, aten._embedding_bag(weight, indices, offsets, False, mode, False, scales)


def _bag_backward(dense: bool) -> Call:
    _, indices, offsets, _, (out, bags, sizes, most) = _bag(1)
    middle = (indices, bags, sizes, most, 6) if dense else (indices, offsets, bags, sizes, most, 6)
    tail = (False, 1, None) if dense else (False, 1, False, None)
    return call(r(*out.shape), *middle, *tail)


def _bag_weights() -> Call:
    weight, indices, offsets, _, (out, bags, *_) = _bag(0, True)
    return call(r(*out.shape), weight, indices, offsets, bags, 0)


def _ctc(tensors: bool) -> Call:
    log, targets, lengths = r(6, 2, 4).log_softmax(-1), i([1, 2, 2], [3, 1, 0]), ([6, 5], [3, 2])
    held = tuple(map(torch.tensor, lengths)) if tensors else lengths
    loss, alpha = aten._ctc_loss(log, targets, *held, 0, False)
    # Beyond the second sequence's time and labels CPU torch leaves what memory held.
    alpha[1, 5:] = alpha[1, :, 5:] = torch.nan
    return call(r(2), log, targets, *held, loss, alpha, 0, False)


def _batch_statistics() -> tuple[torch.Tensor, ...]:
    x = r(4, 3, 5)
    return r(4, 3, 5), x, u(3), r(3), x.mean((0, 2)), 1 / torch.sqrt(x.var((0, 2), correction=0) + 1e-5)


def _batch_norm_backward(variant: str) -> Call:
    grad, x, weight, _, mean, invstd = _batch_statistics()
    running = (r(3), u(3))
    if variant == "native":
        return call(grad, x, weight, *running, mean, invstd, True, 1e-5, [True, True, True])
    reserve = torch.empty(0, dtype=torch.uint8)
    return call(grad, x, weight, *running, mean, invstd, True, 1e-5, [True, True, True], reserve)


def _layer_norm_backward() -> Call:
    x, weight, bias = r(4, 5), r(5), r(5)
    _, mean, rstd = aten.native_layer_norm(x, [5], weight, bias, 1e-5)
    return call(r(4, 5), x, [5], mean, rstd, weight, bias, [True, True, True])


def _group_norm_backward() -> Call:
    x, weight = r(2, 6, 5), r(6)
    _, mean, rstd = aten.native_group_norm(x, weight, r(6), 2, 6, 5, 3, 1e-5)
    return call(r(2, 6, 5), x, mean, rstd, weight, 2, 6, 5, 3, [True, True, True])


def _weight_norm_backward() -> Call:
    v, g = r(3, 4), u(3, 1)
    _, norms = aten._weight_norm_interface(v, g)
    return call(r(3, 4), v, g, norms, 0)


def _max_pool3d() -> Call:
    x, window = r(1, 2, 5, 6, 6), ([2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], True)
    out, where = aten.max_pool3d_with_indices(x, *window)
    return call(r(*out.shape), x, *window, where)


def _adaptive_max(dims: int) -> Call:
    x = r(2, 3, *[6, 5, 4][:dims])
    out, where = getattr(aten, f"adaptive_max_pool{dims}d")(x, [3, 2, 2][:dims])
    return call(r(*out.shape), x, where)


def _fractional(dims: int) -> Call:
    x, window = r(2, 3, *[6] * dims), ([2] * dims, [3] * dims)
    out, where = getattr(aten, f"fractional_max_pool{dims}d")(x, *window, torch.rand(2, 3, dims))
    return call(r(*out.shape), x, *window, where)


def _attention_backward() -> Call:
    q, k, v = r(1, 2, 4, 8), r(1, 2, 5, 8), r(1, 2, 5, 8)
    out, total = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)
    return call(r(1, 2, 4, 8), q, k, v, out, total, 0.0, False)


def _encoder() -> Call:
    norms = (u(8), r(8), u(8), r(8))
    return call(
        r(2, 3, 8), 8, 2, r(24, 8), r(24), r(8, 8), r(8), True, False, 1e-5, *norms, r(16, 8), r(16), r(8, 16), r(8)
    )


def _norms() -> tuple[torch.Tensor, ...]:
    return r(4, 3, 5), u(3), r(3), r(3), u(3)


def _optimizer(count: int, **options: object) -> Call:
    """`count` lists of tensors of two parameters, then their steps."""
    lists = [[r(3), r(2, 2)], [r(3), r(2, 2)], *([u(3), u(2, 2)] for _ in range(count))]
    return call(*lists, **options)


def _steps() -> list[torch.Tensor]:
    return [torch.tensor(2.0), torch.tensor(2.0)]


def _adam(lr: object) -> Call:
    options = {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-8, "amsgrad": True, "maximize": False}
    made = _optimizer(3, lr=lr, **options)
    return call(*made.args, _steps(), **made.kwargs)


def _sgd(lr: object) -> Call:
    return _optimizer(
        1, lr=lr, weight_decay=0.1, momentum=0.9, dampening=0.1, nesterov=False, maximize=True, is_first_step=False
    )


def _adagrad(lr: object) -> Call:
    made = _optimizer(1, lr=lr, lr_decay=0.1, weight_decay=0.1, eps=1e-8, maximize=False)
    return call(*made.args, _steps(), **made.kwargs)


def _bytes(*shape: int) -> torch.Tensor:
    return torch.randint(-9, 9, shape, dtype=torch.int8)


def _cholesky() -> Call:
    return call(r(3, 2), torch.linalg.cholesky(torch.eye(3) * 3 + 0.5), False)


def _cdist() -> Call:
    a, b = r(3, 4), r(5, 4)
    return call(r(3, 5), a, b, 3.0, torch.cdist(a, b, 3.0))


def _pdist() -> Call:
    x = r(4, 3)
    return call(r(6), x, 1.5, torch.pdist(x, 1.5))


def _nll(*spatial: int) -> Call:
    x, target = r(4, 3, *spatial), torch.randint(0, 3, (4, *spatial))
    weight = u(3)
    total = weight[target].sum()
    return call(torch.tensor(1.5), x, target, weight, 1, -100, total)


def _multilabel() -> Call:
    x, target = r(2, 4), i([3, 0, -1, 1], [1, -1, 0, 0])
    _, held = aten.multilabel_margin_loss_forward(x, target, 1)
    return call(torch.tensor(1.5), x, target, 1, held)


_STRIDE2, _PAD2 = [1, 1], [1, 1]
_FLAGS = [True, True, True]

CALLS: dict[str, Maker] = {
    "_amp_foreach_non_finite_check_and_unscale_": lambda: call([r(3), r(2)], torch.zeros(1), torch.tensor(0.5)),
    "_amp_update_scale_": lambda: call(
        torch.tensor(4.0), i(1, dtype=torch.int32)[0], torch.tensor(0.0), 2.0, 0.5, 2
    ),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "_native_multi_head_attention": lambda: call(
        *[r(2, 3, 8)] * 3, 8, 2, r(24, 8), r(24), r(8, 8), r(8), None, True, True
    ),
    "_transformer_encoder_layer_fwd": _encoder,
    "convolution_backward": lambda: call(
        r(2, 6, 5, 5), r(2, 4, 5, 5), r(6, 4, 3, 3), [6], _STRIDE2, _PAD2, [1, 1], False, [0, 0], 1, _FLAGS
    ),
    "conv_tbc": lambda: call(r(5, 2, 3), r(3, 3, 4), r(4), 1),
    "_slow_conv2d_forward": lambda: call(*_conv(2), _STRIDE2, _PAD2),
    "_slow_conv2d_backward.output_mask": lambda: call(*_conv2d_gradient(), [3, 3], _STRIDE2, _PAD2, _FLAGS),
    "_slow_conv2d_backward.grad_input": lambda: call(
        *_conv2d_gradient(), [3, 3], _STRIDE2, _PAD2,
        grad_input=torch.empty(2, 4, 5, 5), grad_weight=torch.empty(6, 4, 3, 3), grad_bias=torch.empty(6),
    ),
    "slow_conv3d_forward": lambda: call(*_conv(3), *_geometry(3)),
    "slow_conv_dilated2d": lambda: call(*_conv(2), *_geometry(2), [2, 1]),
    "slow_conv_dilated3d": lambda: call(*_conv(3), *_geometry(3), [2, 1, 1]),
    "slow_conv_transpose2d": lambda: call(r(2, 4, 5, 5), r(4, 6, 3, 3), [3, 3], r(6), [2, 2], [1, 1], [1, 0]),
    "slow_conv_transpose3d": lambda: call(r(2, 4, 3, 3, 3), r(4, 6, 3, 3, 3), [3] * 3, r(6), [2] * 3, [1] * 3),
    "_euclidean_dist": lambda: call(r(3, 4), r(5, 4)),
    "_cdist_backward": _cdist,
    "_pdist_backward": _pdist,
    "embedding_dense_backward": lambda: call(r(5, 3), i(0, 2, 2, 3, 1), 4, 1, True),
    "_embedding_bag": lambda: call(r(6, 3), i(1, 2, 4, 5, 4, 0), i(0, 2, 4), False, 2),
    "_embedding_bag_backward": lambda: _bag_backward(dense=False),
    "_embedding_bag_dense_backward": lambda: _bag_backward(dense=True),
    "_embedding_bag_per_sample_weights_backward": _bag_weights,
    "_cholesky_solve_helper": _cholesky,
    "_linalg_eigvals": lambda: call(torch.diag(i(1, 2, 3).float())),
    "linalg_eigvals.out": lambda: call(torch.diag(i(1, 2, 3).float()), out=torch.empty(3, dtype=torch.complex64)),
    "mse_loss_backward": lambda: call(torch.tensor(1.5), r(3, 4), r(3, 4), 1),
    "smooth_l1_loss_backward": lambda: call(torch.tensor(1.5), r(3, 4), r(3, 4), 2, 0.5),
    "huber_loss_backward": lambda: call(r(3, 4), r(3, 4), r(3, 4), 0, 0.5),
    "soft_margin_loss_backward": lambda: call(torch.tensor(1.5), r(3, 4), r(3, 4).sign(), 1),
    "binary_cross_entropy_backward": lambda: call(torch.tensor(1.5), u(3, 4), u(3, 4), u(4), 1),
    "nll_loss_backward": _nll,
    "nll_loss2d_backward": lambda: _nll(2, 3),
    "multi_margin_loss_backward": lambda: call(torch.tensor(1.5), r(2, 4), i(3, 0), 2, 0.5, u(4), 1),
    "multilabel_margin_loss_backward": _multilabel,
    "_ctc_loss_backward": lambda: _ctc(tensors=False),
    "_ctc_loss_backward.Tensor": lambda: _ctc(tensors=True),
    "_addmm_activation": lambda: call(r(4), r(3, 5), r(5, 4), alpha=0.5, use_gelu=True),
    "_int_mm": lambda: call(_bytes(3, 8), _bytes(8, 4)),
    "_weight_int8pack_mm": lambda: call(
        r(3, 32).bfloat16(), _bytes(16, 32), u(16).bfloat16()
    ),
    "_grouped_mm": lambda: call(r(2, 3, 8).bfloat16(), r(2, 8, 16).bfloat16()),
    "_native_batch_norm_legit_no_training": lambda: call(*_norms(), 0.1, 1e-5),
    "native_batch_norm_backward": lambda: _batch_norm_backward("native"),
    "batch_norm_backward": lambda: _batch_norm_backward("plain"),
    "batch_norm_update_stats": lambda: call(r(4, 3, 5), r(3), u(3), 0.1),
    "native_layer_norm_backward": _layer_norm_backward,
    "native_group_norm_backward": _group_norm_backward,
    "_fused_rms_norm": lambda: call(r(4, 5), [5], r(5), 1e-5),
    "_weight_norm_interface": lambda: call(r(3, 4), u(3, 1)),
    "_weight_norm_interface_backward": _weight_norm_backward,
    **{name: (lambda: _adam(0.1)) for name in ("_fused_adam_", "_fused_adamw_")},
    **{f"{name}.tensor_lr": (lambda: _adam(torch.tensor(0.1))) for name in ("_fused_adam_", "_fused_adamw_")},
    "_fused_sgd_": lambda: _sgd(0.1),
    "_fused_sgd_.tensor_lr": lambda: _sgd(torch.tensor(0.1)),
    "_fused_adagrad_": lambda: _adagrad(0.1),
    "_fused_adagrad_.tensor_lr": lambda: _adagrad(torch.tensor(0.1)),
    "max_pool3d_with_indices_backward": _max_pool3d,
    "adaptive_max_pool2d_backward": lambda: _adaptive_max(2),
    "adaptive_max_pool3d_backward": lambda: _adaptive_max(3),
    "fractional_max_pool2d_backward": lambda: _fractional(2),
    "fractional_max_pool3d_backward": lambda: _fractional(3),
    "avg_pool2d_backward": lambda: call(r(2, 3, 3, 3), r(2, 3, 5, 5), [3, 3], [2, 2], [1, 1], False, False, None),
    "avg_pool3d_backward": lambda: call(
        r(2, 3, 2, 3, 3), r(2, 3, 4, 5, 5), [2, 3, 3], [2, 2, 2], [0, 1, 1], False, True, 7
    ),
    "_adaptive_avg_pool2d_backward": lambda: call(r(2, 3, 3, 2), r(2, 3, 5, 4)),
    "_adaptive_avg_pool3d_backward": lambda: call(r(2, 3, 3, 2, 2), r(2, 3, 5, 4, 3)),
    "adaptive_avg_pool2d.out": lambda: call(r(2, 3, 5, 4), [3, 2], out=torch.empty(2, 3, 3, 2)),
    "adaptive_avg_pool3d.out": lambda: call(r(2, 3, 5, 4, 3), [3, 2, 2], out=torch.empty(2, 3, 3, 2, 2)),
    "adaptive_avg_pool3d_backward.grad_input": lambda: call(
        r(2, 3, 3, 2, 2), r(2, 3, 5, 4, 3), grad_input=torch.empty(2, 3, 5, 4, 3)
    ),
    "lstm.input": lambda: _recurrent(4, [r(1, 2, 4), r(1, 2, 4)], packed=False),
    "lstm.data": lambda: _recurrent(4, [r(1, 2, 4), r(1, 2, 4)], packed=True),
    "gru.input": lambda: _recurrent(3, r(1, 2, 4), packed=False),
    "gru.data": lambda: _recurrent(3, r(1, 2, 4), packed=True),
    **{f"rnn_{name}.input": (lambda: _recurrent(1, r(1, 2, 4), packed=False)) for name in ("tanh", "relu")},
    **{f"rnn_{name}.data": (lambda: _recurrent(1, r(1, 2, 4), packed=True)) for name in ("tanh", "relu")},
    "_log_softmax_backward_data": lambda: call(r(3, 4), r(3, 4).log_softmax(1), 1, torch.float32),
    "_masked_softmax": lambda: call(r(2, 3, 4), torch.rand(2, 3, 4) > 0.5, 2, 2),
    "_masked_softmax_backward": lambda: call(r(2, 4), r(2, 4).softmax(1), torch.tensor([[True, False] * 2] * 2), 1),
}  # fmt: skip

"""Calls of overloads that copy, index, sort, reduce, resize and create."""

from __future__ import annotations

import torch

from .call import Call, Maker, call, i, r, u

MASK = torch.tensor([[True, False, True], [False, True, True]])
CPU = torch.device("cpu")


def _sizes(dims: int) -> tuple[list[int], list[int]]:
    return [7, 8, 5][:dims], [3, 4, 6][:dims]


def _upsampled(dims: int, *flags: bool) -> Call:
    out, size = _sizes(dims)
    return call(r(2, 3, *out), out, [2, 3, *size], *flags)


def _padded(dims: int) -> Call:
    size, padding = [4, 5, 6][:dims], [1, 2, 0, 1, 2, 1][: 2 * dims]
    out = [n + padding[2 * (dims - 1 - k)] + padding[2 * (dims - 1 - k) + 1] for k, n in enumerate(size)]
    return call(r(2, 3, *out), r(2, 3, *size), padding)


def _segments() -> Call:
    data, lengths = r(6, 2), i(2, 4)
    return call(r(2, 2), torch.segment_reduce(data, "max", lengths=lengths), data, "max", lengths=lengths)


CALLS: dict[str, Maker] = {
    "copy": lambda: call(r(2, 3), torch.arange(3)),
    "fill.Tensor": lambda: call(r(2, 3), torch.tensor(2.5)),
    "zero": lambda: call(r(2, 3)),
    "_assert_async": lambda: call(torch.tensor(True)),
    "_assert_async.msg": lambda: call(torch.tensor(True), "no"),
    "_functional_assert_async.msg": lambda: call(torch.tensor(True), "no", r(1)),
    "_efficientzerotensor": lambda: call([2, 3], dtype=torch.float32, device=CPU),
    "_new_zeros_with_same_feature_meta": lambda: call(r(2, 3), r(4, 3)),
    "range": lambda: call(1, 5, dtype=torch.float32, device=CPU),
    "range.step": lambda: call(1, 5, 0.5, dtype=torch.float64, device=CPU),
    "kaiser_window": lambda: call(7, dtype=torch.float32, device=CPU),
    "kaiser_window.periodic": lambda: call(7, False, dtype=torch.float64, device=CPU),
    "kaiser_window.beta": lambda: call(8, True, 3.5, dtype=torch.float32, device=CPU),
    "fft_fftfreq": lambda: call(7, 0.5, dtype=torch.float32, device=CPU),
    "fft_rfftfreq": lambda: call(8, 0.5, dtype=torch.float32, device=CPU),
    "_index_put_impl_": lambda: call(r(4, 2), [i(0, 2, 0)], r(3, 2), True),
    "_unsafe_index.Tensor": lambda: call(r(4, 2), [i(0, 3, 0), None]),
    "_unsafe_index_put": lambda: call(r(4, 2), [i(0, 2, 0)], r(3, 2), True),
    "scatter.value": lambda: call(r(3, 3), 1, i([0, 2], [1, 1]), 2.5),
    "scatter.value_reduce": lambda: call(r(3, 3), 1, i([0, 2], [1, 1]), 2.5, reduce="multiply"),
    "masked_scatter_backward": lambda: call(r(2, 3), MASK, [5]),
    "_is_all_true": lambda: call(MASK),
    "_is_any_true": lambda: call(MASK),
    "_aminmax": lambda: call(r(3, 4)),
    "_aminmax.dim": lambda: call(r(3, 4), 1, True),
    "linalg__powsum": lambda: call(r(3, 4), 3, [1], True),
    "norm.ScalarOpt_dtype": lambda: call(r(3, 4), 3, dtype=torch.float64),
    "norm.Scalar": lambda: call(r(3, 4), 1),
    "norm.ScalarOpt_dim_dtype": lambda: call(r(3, 4), 2, [0], True, dtype=torch.float64),
    "_logcumsumexp": lambda: call(r(3, 4), 1),
    "_cummax_helper": lambda: call(r(3, 4), torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.int64), 1),
    "_cummin_helper": lambda: call(r(3, 4), torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.int64), 0),
    "searchsorted.Scalar": lambda: call(torch.arange(5.0), 2.0, right=True),
    "bucketize.Scalar": lambda: call(2.5, torch.arange(5.0), out_int32=True),
    "isin.Tensor_Scalar": lambda: call(i(1, 2, 3), 2, invert=True),
    "isin.Scalar_Tensor": lambda: call(2, i(1, 2, 3)),
    "_segment_reduce_backward": _segments,
    "_stack": lambda: call([r(2, 3), r(2, 3)], 1),
    "_reshape_copy": lambda: call(r(2, 3), [3, 2]),
    "select_backward": lambda: call(r(3), [2, 3], 0, 1),
    "slice_backward": lambda: call(r(2, 2), [2, 5], 1, 1, 5, 2),
    "diagonal_backward": lambda: call(r(2), [2, 3], 1, 0, 1),
    "_unique": lambda: call(i(3, 1, 3, 2), True, True),
    "unique_dim_consecutive": lambda: call(i([1, 2], [1, 2], [0, 5]), 0, True, True),
    "col2im": lambda: call(r(2, 8, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]),
    **{f"upsample_nearest{d}d_backward": (lambda d=d: _upsampled(d)) for d in (1, 2, 3)},
    **{f"_upsample_nearest_exact{d}d_backward": (lambda d=d: _upsampled(d)) for d in (1, 2, 3)},
    "upsample_linear1d_backward": lambda: _upsampled(1, True),
    "upsample_bilinear2d_backward": lambda: _upsampled(2, False),
    "upsample_trilinear3d_backward": lambda: _upsampled(3, False),
    "upsample_bicubic2d_backward": lambda: _upsampled(2, True),
    "_upsample_bilinear2d_aa_backward": lambda: _upsampled(2, False),
    "_upsample_bicubic2d_aa": lambda: call(r(2, 3, 7, 8), [3, 5], False),
    "_upsample_bicubic2d_aa_backward": lambda: _upsampled(2, False),
    "_upsample_lanczos2d_aa": lambda: call(r(2, 3, 7, 8), [3, 5], False),
    "_upsample_lanczos2d_aa_backward": lambda: _upsampled(2, False),
    "grid_sampler_2d_backward": lambda: call(
        r(2, 3, 2, 3), r(2, 3, 4, 5), 1.5 * r(2, 2, 3, 2), 2, 2, False, [True, True]
    ),
    "grid_sampler_3d_backward": lambda: call(
        r(2, 3, 2, 3, 2), r(2, 3, 4, 5, 3), 1.5 * r(2, 2, 3, 2, 3), 0, 1, True, [True, True]
    ),
    "_grid_sampler_2d_cpu_fallback": lambda: call(r(2, 3, 4, 5), 1.5 * r(2, 2, 3, 2), 0, 1, False),
    "_grid_sampler_2d_cpu_fallback_backward": lambda: call(
        r(2, 3, 2, 3), r(2, 3, 4, 5), 1.5 * r(2, 2, 3, 2), 0, 2, True
    ),
    "affine_grid_generator": lambda: call(r(2, 2, 3), [2, 3, 4, 5], False),
    **{f"reflection_pad{d}d_backward": (lambda d=d: _padded(d)) for d in (1, 2, 3)},
    **{f"replication_pad{d}d_backward": (lambda d=d: _padded(d)) for d in (1, 2, 3)},
    "_foreach_add.Tensor": lambda: call([r(2), r(3, 2)], torch.tensor(1.5), alpha=2),
    "_foreach_pow.ScalarAndTensor": lambda: call(2.0, [r(2), r(3, 2)]),
    "_foreach_copy": lambda: call([r(2), r(3, 2)], [r(2), r(3, 2)]),
    "_dirichlet_grad": lambda: _dirichlet(),
}


def _dirichlet() -> Call:
    alpha = u(3, 4) * 3
    x = u(3, 4)
    return call(x / x.sum(-1, keepdim=True), alpha, alpha.sum(-1, keepdim=True).expand(3, 4))

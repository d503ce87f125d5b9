"""`torch.autocast("jax")`: which ops compute in the lower precision, which in float32, as on CUDA.

The lists are those of torch's documentation, "Autocast Op Reference" for CUDA, by overload packet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

_KEY = "AutocastPrivateUse1"
_EXCLUDED = torch._C.DispatchKeySet(torch._C._parse_dispatch_key(_KEY))  # type: ignore[arg-type]

LOWER = """
    addbmm addmm addmv addr baddbmm bmm chain_matmul linalg_multi_dot conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d convolution _convolution gru_cell lstm_cell rnn_tanh_cell rnn_relu_cell gru lstm
    rnn_tanh rnn_relu linear
    linalg_vecdot matmul mm mv prelu scaled_dot_product_attention einsum
""".split()

FLOAT32 = """
    acos asin binary_cross_entropy_with_logits cosh cosine_embedding_loss cdist _cdist_forward cosine_similarity cumprod
    cumsum dist erfinv exp expm1 group_norm hinge_embedding_loss kl_div l1_loss layer_norm native_layer_norm log log10
    log1p log2 log_softmax margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d
    norm nuclear_norm linalg_vector_norm linalg_matrix_norm pdist _pdist_forward poisson_nll_loss pow prod reciprocal
    renorm rsqrt sinh smooth_l1_loss huber_loss soft_margin_loss softmax softplus sum tan triplet_margin_loss
    fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn
    fft_hfft fft_ihfft
""".split()

WIDEST = "addcdiv addcmul atan2 bilinear cat cross dot grid_sampler index_put stack tensordot vdot scatter_add".split()

REFUSED = {
    "binary_cross_entropy": "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast. "
    "Many models use a sigmoid layer right before the binary cross entropy layer; combine the two using "
    "torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss, which are safe to autocast"
}

_HALVES = (torch.float16, torch.bfloat16)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _converted(value: Any, dtype: torch.dtype, when: Callable[[torch.Tensor], bool]) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if when(value) else value
    if isinstance(value, (list, tuple)):
        return type(value)(_converted(item, dtype, when) for item in value)
    return value


def _is_castable(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and tensor.dtype != torch.float64 and tensor.device.type == "jax"


def _policy(op: Any, choose: Callable[[Any], torch.dtype | None]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_EXCLUDED):
            dtype = choose((args, kwargs))
            if dtype is not None:
                args = _converted(args, dtype, _is_castable)
                kwargs = {k: _converted(v, dtype, _is_castable) for k, v in kwargs.items()}
            return op(*args, **kwargs)

    return wrapper


def _lower(call: Any) -> torch.dtype:
    return torch.get_autocast_dtype("jax")


def _float32(call: Any) -> torch.dtype | None:
    _, kwargs = call
    return None if kwargs.get("dtype") is not None else torch.float32


def _widest(call: Any) -> torch.dtype | None:
    args, kwargs = call
    dtypes = {t.dtype for t in _tensors([*args, *kwargs.values()]) if _is_castable(t)}
    if not dtypes & {*_HALVES}:
        return None
    return torch.float32 if torch.float32 in dtypes else None


def _refusal(message: str) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(message)

    return wrapper


def install(library: Any) -> None:
    """Register the policies with torch's dispatcher."""
    for names, choose in ((LOWER, _lower), (FLOAT32, _float32), (WIDEST, _widest)):
        for name in names:
            packet = getattr(torch.ops.aten, name, None)
            for overload in packet.overloads() if packet is not None else ():
                op = getattr(packet, overload)
                if any(a.alias_info is not None for a in op._schema.arguments):
                    continue  # in-place and out= forms are the user's own choice of dtype
                library.impl(op.name().removeprefix("aten::"), _policy(op, choose), _KEY)
    for name, message in REFUSED.items():
        library.impl(name, _refusal(message), _KEY)

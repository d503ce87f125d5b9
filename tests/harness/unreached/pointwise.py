"""Calls of pointwise and special overloads."""

from __future__ import annotations

import torch

from .call import Call, Maker, call, i, r, u

WHOLE = i(5, -3, 12, 0)
SHIFTS = i(0, 1, 2, 3)

CALLS: dict[str, Maker] = {
    "_add_relu.Tensor": lambda: call(r(3, 4), r(4), alpha=2),
    "_add_relu.Scalar": lambda: call(r(3, 4), 0.5, 2),
    "div.Scalar_mode": lambda: call(r(3, 4), 0.3, rounding_mode="floor"),
    "floor_divide.Scalar": lambda: call(r(3, 4), 0.3),
    "remainder.Scalar_Tensor": lambda: call(2.5, r(3, 4)),
    "xlogy.Scalar_Self": lambda: call(1.5, u(3, 4)),
    "xlogy.Scalar_Other": lambda: call(r(3, 4), 0.7),
    "clamp_max": lambda: call(r(3, 4), 0.1),
    **{f"bitwise_{op}.Scalar": lambda: call(WHOLE, 6) for op in ("and", "or", "xor")},
    **{f"bitwise_{op}.Scalar_Tensor": lambda: call(6, WHOLE) for op in ("and", "or", "xor")},
    **{f"bitwise_{side}_shift.Tensor_Scalar": lambda: call(WHOLE, 2) for side in ("left", "right")},
    **{f"bitwise_{side}_shift.Scalar_Tensor": lambda: call(40, SHIFTS) for side in ("left", "right")},
    **{f"__{side}shift__.Tensor": lambda: call(WHOLE, SHIFTS) for side in "lr"},
    **{f"__{side}shift__.Scalar": lambda: call(WHOLE, 2) for side in "lr"},
    "conj_physical.out": lambda: call(r(3).to(torch.complex64), out=torch.empty(3, dtype=torch.complex64)),
    "special_xlog1py.self_scalar": lambda: call(1.5, u(3, 4)),
    "special_xlog1py.other_scalar": lambda: call(r(3, 4), 0.7),
    "special_zeta.self_scalar": lambda: call(2.5, u(3, 4)),
    "special_zeta.other_scalar": lambda: call(u(3, 4) + 1.5, 0.7),
    **{
        f"special_{name}.{scalar}_scalar": (lambda s=scalar: call(0.3, i(0, 1, 4, 9)) if s == "x" else call(u(3, 4), 5))
        for name in (
            "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
            "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
            "shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he",
            "laguerre_polynomial_l", "legendre_polynomial_p",
        )
        for scalar in "xn"
    },
    "leaky_relu_backward": lambda: call(r(3, 4), r(3, 4), 0.1, False),
    "_prelu_kernel_backward": lambda: call(r(3, 4), r(3, 4), r(3, 4)),
    "rrelu_with_noise_backward": lambda: call(r(3, 4), r(3, 4), u(3, 4), 0.1, 0.3, True, False),
    "threshold_backward": lambda: call(r(3, 4), r(3, 4), 0.1),
    "elu_backward": lambda: call(r(3, 4), 1.5, 0.7, 2.0, False, r(3, 4)),
    "sigmoid_backward": lambda: call(r(3, 4), u(3, 4)),
    "tanh_backward": lambda: call(r(3, 4), u(3, 4)),
    "logit_backward": lambda: call(r(3, 4), u(3, 4), 0.2),
    "gelu_backward": lambda: call(r(3, 4), r(3, 4), approximate="tanh"),
    "silu_backward": lambda: call(r(3, 4), r(3, 4)),
    "mish_backward": lambda: call(r(3, 4), r(3, 4)),
    "softplus_backward": lambda: call(r(3, 4), r(3, 4), 2.0, 1.0),
    "log_sigmoid_backward": lambda: _log_sigmoid(),
    "glu_backward": lambda: call(r(3, 2), r(3, 4), 1),
    "glu_jvp": lambda: call(r(3, 2), r(3, 4), r(3, 4), 1),
    "glu_backward_jvp": lambda: _glu(),
    "hardtanh_backward": lambda: call(r(3, 4), r(3, 4), -0.5, 0.7),
    "hardsigmoid_backward": lambda: call(r(3, 4), 4 * r(3, 4)),
    "hardswish_backward": lambda: call(r(3, 4), 4 * r(3, 4)),
    "hardshrink_backward": lambda: call(r(3, 4), r(3, 4), 0.5),
    "softshrink_backward": lambda: call(r(3, 4), r(3, 4), 0.5),
}  # fmt: skip


def _log_sigmoid() -> Call:
    x = r(3, 4)
    return call(r(3, 4), x, torch.exp(-x.abs()))


def _glu() -> Call:
    x, grad = r(3, 4), r(3, 2)
    return call(torch.ops.aten.glu_backward(grad, x, 1), grad, x, r(3, 2), r(3, 4), 1)

"""Lowerings of the family `cells`.

Generated from ops_spec/cells.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from tenax.kernels import cells as cells_kernels
from tenax.words import Array


def _thnn_fused_lstm_cell(
    input_gates: Array,
    hidden_gates: Array,
    cx: Array,
    input_bias: Array | None = None,
    hidden_bias: Array | None = None,
) -> tuple[Array, Array, Array]:
    """_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None, Tensor?
        hidden_bias=None) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/cells.yaml
    """
    return cells_kernels._thnn_fused_lstm_cell(
        input_gates=input_gates, hidden_gates=hidden_gates, cx=cx, input_bias=input_bias, hidden_bias=hidden_bias
    )


def _thnn_fused_lstm_cell_backward_impl(
    grad_hy: Array | None, grad_cy: Array | None, cx: Array, cy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array]:
    """_thnn_fused_lstm_cell_backward_impl(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace,
        bool has_bias) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/cells.yaml
    """
    return cells_kernels._thnn_fused_lstm_cell_backward_impl(
        grad_hy=grad_hy, grad_cy=grad_cy, cx=cx, cy=cy, workspace=workspace, has_bias=has_bias
    )


def _thnn_fused_gru_cell(
    input_gates: Array,
    hidden_gates: Array,
    hx: Array,
    input_bias: Array | None = None,
    hidden_bias: Array | None = None,
) -> tuple[Array, Array]:
    """_thnn_fused_gru_cell(Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias=None, Tensor?
        hidden_bias=None) -> (Tensor, Tensor)

    Spec: ops_spec/cells.yaml
    """
    return cells_kernels._thnn_fused_gru_cell(
        input_gates=input_gates, hidden_gates=hidden_gates, hx=hx, input_bias=input_bias, hidden_bias=hidden_bias
    )


def _thnn_fused_gru_cell_backward(
    grad_hy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """_thnn_fused_gru_cell_backward(Tensor grad_hy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor,
        Tensor, Tensor)

    Spec: ops_spec/cells.yaml
    """
    return cells_kernels._thnn_fused_gru_cell_backward(grad_hy=grad_hy, workspace=workspace, has_bias=has_bias)

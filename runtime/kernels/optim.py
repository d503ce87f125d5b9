"""Optimizer steps over lists of parameters: Adam, AdamW, SGD with momentum, Adagrad.

As in torch's fused CUDA kernels, float16 and bfloat16 are updated in float32, gradients are unscaled first and stored
unscaled, and nothing changes if `found_inf` is 1. Bias corrections are computed in the dtype of the update, because
TPUs emulate a power in float64 with about 1,900 operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp

from tenax.kernels.loops import jitted
from tenax.kernels.pointwise import lerp
from tenax.words import BOOL, FLOAT64, Array, DType, cast, opmath

_Arrays = Sequence[Array]
_Numbers = Callable[[DType], Sequence[Any]]


def _apply(
    update: Callable[..., Sequence[Array]],
    numbers: _Numbers,
    lists: Sequence[_Arrays],
    maximize: bool,
    grad_scale: Array | None,
    found_inf: Array | None,
) -> tuple[list[Array], ...]:
    """New values of all lists, which hold parameters, gradients and then states.

    `update(numbers, param, grad, *states)` returns the parameter and the states. `numbers(dtype)` computes the numbers
    for a compute dtype; each is a number, a 0-d array, or a vector with one element per parameter.
    """

    # Parameters of one shape share one trace, which makes tracing a step several times faster.
    @jitted
    def one(numbers: _Arrays, scale: Array | None, skip: Array | None, held: _Arrays) -> _Arrays:
        wide = opmath(held[0].dtype)
        param, grad, *states = (cast(x, wide) for x in held)
        kept = grad if scale is None else grad / scale
        param, *states = update(numbers, param, -kept if maximize else kept, *states)
        news = [cast(new, old.dtype) for new, old in zip((param, kept, *states), held, strict=True)]
        return news if skip is None else [jnp.where(skip, old, new) for old, new in zip(held, news, strict=True)]

    skip = None if found_inf is None else cast(found_inf.reshape(()), BOOL)
    rows: list[list[Array]] = []
    known: dict[DType, list[list[Array]]] = {}
    count = len(lists[0])
    for i, held in enumerate(zip(*lists, strict=True)):
        wide = opmath(held[0].dtype)
        if wide not in known:
            values = [cast(x, wide) for x in numbers(wide)]
            known[wide] = [list(x) if x.ndim else [x] * count for x in values]
        scale = None if grad_scale is None else cast(grad_scale.reshape(()), wide)
        news = list(one([x[i] for x in known[wide]], scale, skip, held))
        rows.append([news[0], held[1] if grad_scale is None else news[1], *news[2:]])
    return tuple([row[k] for row in rows] for k in range(len(lists)))


def _decayed(x: Array, decay: Array, param: Array) -> Array:
    """`x + decay * param`; a decay of 0 leaves `x` unchanged even for an infinite parameter."""
    return jnp.where(decay == 0, x, x + decay * param)


def _scalar(x: Any, dtype: DType) -> Array:
    return cast(x, dtype).reshape(())


def _rest(beta: Any) -> Any:
    """1 - beta in float64: if 0.999 is rounded to float32 first, five digits of 0.001 remain."""
    return 1 - (cast(beta, FLOAT64) if hasattr(beta, "dtype") else beta)


def _counts(steps: _Arrays) -> Array:
    """The step counts of the parameters: a vector, or a 0-d array if all are the same one."""
    same = all(s is steps[0] for s in steps)
    return steps[0].reshape(()) if same else jnp.stack([s.reshape(()) for s in steps])


def _correction(rest: Array, steps: Array) -> Array:
    """The bias correction 1 - (1 - rest)**steps in the dtype of `rest`, with the relative error of a few roundings."""
    return -jnp.expm1(cast(steps, rest.dtype) * jnp.log1p(-rest))


def _fused_step_of_adam(
    self: _Arrays,
    grads: _Arrays,
    exp_avgs: _Arrays,
    exp_avg_sqs: _Arrays,
    max_exp_avg_sqs: _Arrays,
    state_steps: _Arrays,
    *,
    lr: Any,
    beta1: Any,
    beta2: Any,
    weight_decay: Any,
    eps: Any,
    amsgrad: bool,
    maximize: bool,
    grad_scale: Array | None = None,
    found_inf: Array | None = None,
    decoupled: bool,
) -> tuple[list[Array], ...]:
    """New (parameters, gradients, first and second moments, maxima of these); no maxima without AMSGrad.

    Kingma & Ba 2015, Reddi et al. 2018 (AMSGrad), Loshchilov & Hutter 2019 (the decay does not enter the gradient).
    """

    def update(numbers: Sequence[Array], param: Array, grad: Array, *states: Array) -> Sequence[Array]:
        rate, root, beta1, rest1, beta2, rest2, eps, decay = numbers  # a rest is 1 - beta
        if decoupled:
            param = _decayed(param, -decay, param)
        else:
            grad = _decayed(grad, decay, param)
        first, second, *largest = states
        first = beta1 * first + rest1 * grad
        second = beta2 * second + rest2 * grad * grad
        largest = [jnp.maximum(x, second) for x in largest]
        spread = jnp.sqrt(largest[0] if largest else second) / root + eps
        return param - rate * first / spread, first, second, *largest

    lists = [self, grads, exp_avgs, exp_avg_sqs, *([max_exp_avg_sqs] if amsgrad else [])]
    if not self:
        return tuple(list(x) for x in (*lists, *([] if amsgrad else [max_exp_avg_sqs])))
    steps = _counts(state_steps)

    def numbers(dtype: DType) -> Sequence[Any]:
        rate, decay, rest1, rest2 = (_scalar(x, dtype) for x in (lr, weight_decay, _rest(beta1), _rest(beta2)))
        rates = rate / _correction(rest1, steps)
        roots = jnp.sqrt(_correction(rest2, steps))
        return (rates, roots, beta1, rest1, beta2, rest2, eps, rate * decay if decoupled else decay)

    results = _apply(update, numbers, lists, maximize, grad_scale, found_inf)
    return results if amsgrad else (*results, list(max_exp_avg_sqs))


_fused_adam_ = partial(_fused_step_of_adam, decoupled=False)
_fused_adamw_ = partial(_fused_step_of_adam, decoupled=True)


def _fused_sgd_(
    self: _Arrays,
    grads: _Arrays,
    momentum_buffer_list: _Arrays,
    *,
    weight_decay: Any,
    momentum: Any,
    lr: Any,
    dampening: Any,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Array | None = None,
    found_inf: Array | None = None,
) -> tuple[list[Array], ...]:
    """New (parameters, gradients, momentum buffers); without buffers there is no momentum."""

    def update(numbers: Sequence[Array], param: Array, grad: Array, *buffers: Array) -> Sequence[Array]:
        rate, decay, momentum, damping = numbers
        grad = _decayed(grad, decay, param)
        if not buffers:
            return (param - rate * grad,)
        buffer = grad if is_first_step else momentum * buffers[0] + (1 - damping) * grad
        return param - rate * (grad + momentum * buffer if nesterov else buffer), buffer

    def numbers(dtype: DType) -> Sequence[Any]:
        return [_scalar(x, dtype) for x in (lr, weight_decay, momentum, dampening)]

    lists = [self, grads, *([momentum_buffer_list] if momentum_buffer_list else [])]
    results = _apply(update, numbers, lists, maximize, grad_scale, found_inf)
    return results if momentum_buffer_list else (*results, [])


def _fused_step_of_adagrad(
    self: _Arrays,
    grads: _Arrays,
    state_sums: _Arrays,
    state_steps: _Arrays,
    *,
    lr: Any,
    lr_decay: Any,
    weight_decay: Any,
    eps: Any,
    maximize: bool,
    grad_scale: Array | None = None,
    found_inf: Array | None = None,
    writes_steps: bool,
) -> tuple[list[Array], ...]:
    """New (parameters, gradients, sums of squares), and the steps, if the schema declares them as mutated.

    Duchi et al. 2011.
    """

    def update(numbers: Sequence[Array], param: Array, grad: Array, total: Array) -> Sequence[Array]:
        rate, decay, eps = numbers
        grad = _decayed(grad, decay, param)
        total = total + grad * grad
        return param - rate * grad / (jnp.sqrt(total) + eps), total

    unchanged = [list(state_steps)] if writes_steps else []
    if not self:
        return list(self), list(grads), list(state_sums), *unchanged
    steps = _counts(state_steps)

    def numbers(dtype: DType) -> Sequence[Any]:
        return _scalar(lr, dtype) / (1 + (cast(steps, dtype) - 1) * _scalar(lr_decay, dtype)), weight_decay, eps

    news = _apply(update, numbers, [self, grads, state_sums], maximize, grad_scale, found_inf)
    return *news, *unchanged


_fused_adagrad_ = partial(_fused_step_of_adagrad, writes_steps=True)
adagrad = partial(_fused_step_of_adagrad, writes_steps=False)


def adam_step(
    params: _Arrays,
    grads: _Arrays,
    exp_avgs: _Arrays,
    exp_avg_sqs: _Arrays,
    max_exp_avg_sqs: _Arrays,
    *,
    decay: Any,
    rest1: Any,
    beta2: Any,
    rest2: Any,
    root: Any,
    eps: Any,
    rate: Any,
    decays: bool,
    decoupled: bool,
    maximize: bool,
) -> tuple[list[Array], ...]:
    """New (parameters, first and second moments, maxima of these), with the operations of torch's default step in their
    order. `decay` is 1 - lr * weight_decay if decoupled, `root` is the square root of the second bias correction, and
    `rate` is -lr over the first; there are no maxima without AMSGrad."""

    def update(numbers: Sequence[Array], param: Array, grad: Array, *states: Array) -> Sequence[Array]:
        decay, rest1, beta2, rest2, root, eps, rate = numbers
        first, second, *largest = states
        if decays and decoupled:
            param = param * decay
        elif decays:
            grad = grad + decay * param
        first = lerp(first, grad, rest1)
        second = second * beta2 + rest2 * grad * grad
        largest = [jnp.maximum(x, second) for x in largest]
        spread = jnp.sqrt(largest[0] if largest else second) / root + eps
        return param + rate * (first / spread), first, second, *largest

    lists = [params, grads, exp_avgs, exp_avg_sqs, *([max_exp_avg_sqs] if max_exp_avg_sqs else [])]
    numbers = (decay, rest1, beta2, rest2, root, eps, rate)
    news, _, *states = _apply(update, lambda dtype: numbers, lists, maximize, None, None)
    return (news, *states) if max_exp_avg_sqs else (news, *states, [])


def sgd_step(
    params: _Arrays,
    grads: _Arrays,
    buffers: _Arrays,
    *,
    decay: Any,
    momentum: Any,
    rest: Any,
    rate: Any,
    decays: bool,
    maximize: bool,
) -> tuple[list[Array], ...]:
    """New (parameters, momentum buffers), with the operations of torch's default step in their order; `rest` is
    1 - dampening, and `rate` is -lr."""

    def update(numbers: Sequence[Array], param: Array, grad: Array, buffer: Array) -> Sequence[Array]:
        decay, momentum, rest, rate = numbers
        buffer = buffer * momentum + rest * (grad + decay * param if decays else grad)
        return param + rate * buffer, buffer

    numbers = (decay, momentum, rest, rate)
    news, _, states = _apply(update, lambda dtype: numbers, [params, grads, buffers], maximize, None, None)
    return news, states

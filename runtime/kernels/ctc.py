"""Connectionist temporal classification (Graves et al., 2006): the forward and backward recursions over time.

States are the labels with a blank around each: 2 S + 1 of them. Time is a scan, so tracing does not grow with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops
from tenax.kernels.graft import undifferentiable
from tenax.words import Array, cast

Lengths = Sequence[int] | Array


def _ints(x: Lengths) -> Array:
    return cast(x, np.int32) if hasattr(x, "dtype") else jnp.asarray(x, np.int32)


def _states(log_probs: Array, targets: Array, lengths: Array, longest: int, blank: int) -> tuple[Array, Array]:
    """(label of each state [N, 2 S + 1], its log-probability at each time [T, N, 2 S + 1])."""
    if targets.ndim == 1:
        # The targets are concatenated; labels read past the end of one are not used.
        start = jnp.cumsum(lengths, dtype=np.int32) - lengths
        place = start[:, None] + jnp.arange(longest, dtype=np.int32)
        targets = jnp.take(targets, place, mode="clip") if targets.size else jnp.zeros(place.shape, np.int32)
    labels = jnp.full((lengths.size, 2 * longest + 1), blank, np.int32)
    labels = labels.at[:, 1::2].set(cast(targets[:, :longest], np.int32))
    return labels, jnp.take_along_axis(log_probs, labels[None], 2, mode="clip")


def _longest(targets: Array, target_lengths: Lengths) -> int:
    """The length of the longest target if the lengths are known, otherwise an upper bound."""
    return targets.shape[-1] if hasattr(target_lengths, "dtype") else max(target_lengths, default=0)


def _later(x: Array, by: int) -> Array:
    """Shift the last axis up by `by` states (down, if negative), filling with log(0)."""
    width = x.shape[-1]
    pad = jnp.full((*x.shape[:-1], min(abs(by), width)), -jnp.inf, x.dtype)
    return jnp.concatenate([pad, x[..., : width - by]] if by > 0 else [x[..., -by:], pad], -1)[..., :width]


def _log_sum(*terms: Array) -> Array:
    top = lax.stop_gradient(jnp.stack(terms).max(0))
    nothing = top == -jnp.inf
    shift = jnp.where(nothing, cast(0, top.dtype), top)
    total = sum(jnp.exp(term - shift) for term in terms)
    # The derivative of log(0) would be NaN even where the value is not used.
    return jnp.where(nothing, top, jnp.log(jnp.where(nothing, cast(1, top.dtype), total)) + shift)


def _skips(labels: Array) -> Array:
    """Whether a state may follow the state two before it: not if both are blanks or the same label."""
    differ = labels[:, 2:] != labels[:, :-2]
    return jnp.concatenate([jnp.zeros((labels.shape[0], min(2, labels.shape[1])), bool), differ], 1)


def _ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Array, Array]:
    """(negative log-likelihood [N], log_alpha [N, T, 2 S + 1]) of log_probs [T, N, C]; inf where no path fits.

    `targets` is [N, S], or 1-d with all targets concatenated; log_alpha is undefined beyond the length of a sequence.
    """
    spans, lengths = _ints(input_lengths), _ints(target_lengths)
    labels, emit = _states(log_probs, targets, lengths, _longest(targets, target_lengths), blank)
    skips, state = _skips(labels), jnp.arange(labels.shape[1], dtype=np.int32)
    nothing = cast(-jnp.inf, emit.dtype)

    def advance(alpha: Array, emitted: Array) -> tuple[Array, Array]:
        alpha = _log_sum(alpha, _later(alpha, 1), jnp.where(skips, _later(alpha, 2), nothing)) + emitted
        return alpha, alpha

    begins = (state == 0) | ((state == 1) & (lengths > 0)[:, None])
    first = jnp.where(begins, emit[0], nothing)
    log_alpha = jnp.concatenate([first[None], loops.scan(advance, first, emit[1:])[1]])

    n = jnp.arange(lengths.size, dtype=np.int32)
    last = log_alpha[jnp.maximum(spans - 1, 0), n]
    in_blank, in_label = last[n, 2 * lengths], last[n, jnp.maximum(2 * lengths - 1, 0)]
    nll = -_log_sum(in_blank, jnp.where(lengths > 0, in_label, nothing))
    of_no_time = jnp.where(lengths == 0, cast(0, nll.dtype), -nothing)
    return jnp.where(spans == 0, of_no_time, nll), jnp.swapaxes(log_alpha, 0, 1)


def _ctc_loss_backward(
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Lengths,
    target_lengths: Lengths,
    neg_log_likelihood: Array,
    log_alpha: Array,
    blank: int,
    zero_infinity: bool = False,
) -> Array:
    """Gradient [T, N, C] of the logits before log_softmax, as in torch: probability minus posterior per class."""
    log_probs, log_alpha = undifferentiable("_ctc_loss_backward", log_probs, log_alpha)
    spans, lengths = _ints(input_lengths), _ints(target_lengths)
    labels, emit = _states(log_probs, targets, lengths, _longest(targets, target_lengths), blank)
    skips, state = _skips(labels), jnp.arange(labels.shape[1], dtype=np.int32)
    nothing, zero = cast(-jnp.inf, emit.dtype), cast(0, emit.dtype)
    ends = (state == 2 * lengths[:, None]) | (state == 2 * lengths[:, None] - 1)

    def retreat(beta: Array, at: tuple[Array, Array]) -> tuple[Array, Array]:
        time, emitted = at
        # A state that may be reached by a skip passes its weight to the state two before.
        onward = _log_sum(beta, _later(beta, -1), _later(jnp.where(skips, beta, nothing), -2))
        last = jnp.where(ends, zero, nothing)
        remaining = (spans - 1 - time)[:, None]
        beta = jnp.where(remaining == 0, last, jnp.where(remaining > 0, onward, nothing)) + emitted
        return beta, beta

    times = jnp.arange(emit.shape[0], dtype=np.int32)
    _, log_beta = loops.scan(retreat, jnp.full_like(emit[0], -jnp.inf), (times, emit), reverse=True)

    nll = neg_log_likelihood[None, :, None]
    # alpha + beta counts the emission twice. A posterior is at most 1, so posteriors are summed without logarithms.
    posterior = jnp.exp(jnp.swapaxes(log_alpha, 0, 1) + log_beta - emit + nll)
    inside = times[:, None, None] < spans[None, :, None]
    # log_alpha is undefined for states beyond the target's own: CPU torch leaves them uninitialized.
    own = inside & (state <= 2 * lengths[:, None])
    rows = jnp.arange(labels.shape[0], dtype=np.int32)[None, :, None]
    place = (times[:, None, None], rows, labels[None])
    expected = jnp.zeros_like(log_probs).at[place].add(jnp.where(own, posterior, zero), mode="drop")
    endless = nll == jnp.inf
    unlikely = zero if zero_infinity else cast(jnp.nan, emit.dtype)
    slope = jnp.where(endless, unlikely, jnp.exp(log_probs) - expected)
    return jnp.where(inside, slope * grad[None, :, None], zero)

"""Attention forward and backward on the device, compared with jitted `jax.nn.dot_product_attention` and CPU torch.

`python benchmarks/attention.py` prints milliseconds, and the temporary memory of forward and backward, without
arguments and results. `--shape 2 8 1024 64` sets batch, heads, sequence length and head size.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import torch
from clock import interleaved
from rich.console import Console
from rich.table import Table
from tables import machine
from torch.nn.functional import scaled_dot_product_attention as sdpa

import tenax
from tenax.kernels.attention import scaled_dot_product_attention as lowering

Call = Callable[[], object]


def eager(device: str, arrays: list[torch.Tensor], **options: Any) -> tuple[Call, Call]:
    """Functions of torch for the forward pass alone, and for forward and backward."""
    tensors = [x.to(device).requires_grad_() for x in arrays]

    def wait(results: tuple[torch.Tensor, ...]) -> None:
        if device == "jax":
            jax.block_until_ready([x.jax() for x in results])

    def forward() -> None:
        with torch.no_grad():
            wait((sdpa(*tensors, **options),))

    def both() -> None:
        wait(torch.autograd.grad(sdpa(*tensors, **options).sum(), tensors))

    return forward, both


def by_jax(arrays: list[torch.Tensor], function: Callable[..., jax.Array]) -> tuple[Call, Call, int]:
    """The same for a JAX function of (batch, heads, length, size), and the temporary bytes of its gradient."""
    tensors = [x.to("jax").jax() for x in arrays]
    forward, both = jax.jit(function), jax.jit(jax.grad(lambda *x: function(*x).sum(), (0, 1, 2)))
    temporary = both.lower(*tensors).compile().memory_analysis().temp_size_in_bytes
    return (
        lambda: jax.block_until_ready(forward(*tensors)),
        lambda: jax.block_until_ready(both(*tensors)),
        temporary,
    )


def hand_written(query: jax.Array, key: jax.Array, value: jax.Array, causal: bool) -> jax.Array:
    """`jax.nn.dot_product_attention`, whose layout is (batch, length, heads, size)."""
    parts = (x.swapaxes(1, 2) for x in (query, key, value))
    return jax.nn.dot_product_attention(*parts, is_causal=causal).swapaxes(1, 2)


def main() -> None:
    """Measure with and without a causal mask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=4, default=(2, 8, 1024, 64))
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--seconds", type=float, default=10.0, help="Seconds per row.")
    options = parser.parse_args()
    arrays = [torch.randn(tuple(options.shape), dtype=getattr(torch, options.dtype)) for _ in range(3)]
    title = f"{tuple(options.shape)} {options.dtype}; tenax {tenax.__version__}, {machine()}; medians in ms"
    table = Table("", "tenax", "jax.nn", "CPU torch", "tenax MiB", "jax.nn MiB", title=title)
    for causal in (False, True):
        ours, theirs = (eager(d, arrays, is_causal=causal) for d in ("jax", "cpu"))
        hand = by_jax(arrays, partial(hand_written, causal=causal))
        whole = by_jax(arrays, partial(lowering, jax.random.key(0), is_causal=causal))
        for i, name in enumerate(("forward", "forward and backward")):
            contenders = {"tenax": ours[i], "jax": hand[i], "torch": theirs[i]}
            times = interleaved(contenders, options.seconds)
            memory = [f"{run[2] / 2**20:.0f}" if i else "" for run in (whole, hand)]
            times_ms = [f"{times[k] / 1e3:.1f}" for k in contenders]
            table.add_row(f"{name}{', causal' if causal else ''}", *times_ms, *memory)
    Console().print(table)


if __name__ == "__main__":
    main()

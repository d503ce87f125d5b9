"""Eager operations on channels-last and on contiguous images, beside CPU torch on channels-last ones.

Each row is an operation on an image [8, 64, 56, 56] of float32, on one core: its output, and the output with the
gradient of the image. Times are the least processor times of a call among many interleaved ones, after good code has
taken over. `python benchmarks/channels_last.py` prints the table; `--write` stores it in benchmarks/results/.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 (the usual name)
from clock import interleaved
from tables import publish

import tenax  # noqa: F401 (the device)

SHAPE = (8, 64, 56, 56)
OPERATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": F.relu,
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "group_norm": lambda x: F.group_norm(x, 4),
    "layer_norm of channels": lambda x: F.layer_norm(x.permute(0, 2, 3, 1), x.shape[1:2]).permute(0, 3, 1, 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 7),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
    "pad": lambda x: F.pad(x, (1, 1, 1, 1)),
    "cat": lambda x: torch.cat([x, x], 1),
    "mean of pixels": lambda x: x.mean((2, 3)),
    "conv2d, 1x1": lambda x: F.conv2d(x, kernel(x, 64, 1)),
    "conv2d, 3x3": lambda x: F.conv2d(x, kernel(x, 64, 3), padding=1),
    "conv2d, 7x7 depthwise": lambda x: F.conv2d(x, kernel(x, 1, 7), padding=3, groups=64),
}
TITLES = ("operation", "of", "CPU torch ms", "contiguous ms", "channels-last ms", "/ torch", "/ contiguous")


def kernel(x: torch.Tensor, inputs: int, size: int) -> torch.Tensor:
    """A weight [64, inputs, size, size] in the memory format of an image."""
    chosen = torch.channels_last if x.is_contiguous(memory_format=torch.channels_last) else torch.contiguous_format
    return torch.ones(64, inputs, size, size, device=x.device).contiguous(memory_format=chosen)


def call(operation: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, gradient: bool) -> Callable[[], object]:
    """A function that computes the output of an operation, or also its gradient, and waits for it."""
    x = x.detach().requires_grad_(gradient)

    def run() -> None:
        out = operation(x)
        if gradient:
            torch.autograd.grad(out, x, out.detach())
        if x.device.type == "jax":
            torch.jax.synchronize()

    return run


def row(name: str, gradient: bool, seconds: float) -> tuple[str, ...]:
    """Measure one operation."""
    image = torch.randn(*SHAPE, generator=torch.Generator().manual_seed(0))
    last = image.contiguous(memory_format=torch.channels_last)
    images = {"torch": last, "contiguous": image.to("jax"), "last": last.to("jax")}
    calls = {key: call(OPERATIONS[name], x, gradient) for key, x in images.items()}
    found = interleaved(calls, seconds, warmup=seconds, clock=time.process_time, summary=min)
    times = [f"{found[key] / 1e3:.2f}" for key in images]
    ratios = [f"{found['last'] / found[key]:.2f}" for key in ("torch", "contiguous")]
    return name, "output and gradient" if gradient else "output", *times, *ratios


def main() -> None:
    """Measure every operation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the table to benchmarks/results/channels_last.md.")
    parser.add_argument("--seconds", type=float, default=1.0, help="Seconds of calls per row, after as many for each.")
    parser.add_argument("--only", default="", help="Part of the names of the operations to measure.")
    chosen = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before JAX counts the cores
    torch.set_num_threads(1)
    names = [name for name in OPERATIONS if chosen.only in name]
    rows = [row(name, gradient, chosen.seconds) for name in names for gradient in (False, True)]
    publish("channels last", TITLES, rows, write=chosen.write, how="The least processor time of a call")


if __name__ == "__main__":
    main()

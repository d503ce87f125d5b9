"""Convolutions on the CPU: output, input gradient and weight gradient, beside CPU torch and JAX's own convolution.

Every contender runs on one core, as a compiled function of arrays; its time is the least processor time of a call among
many interleaved ones, so that a busy machine gives the same numbers. `python benchmarks/convolutions.py` prints the
table and the training step of a stack of inverted residuals; `--write` stores both in benchmarks/results/.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import lax
from models.training import finished
from tables import publish
from torch import nn

import tenax
from tenax.generated import lowering
from tenax.xla.options import KEPT_BARRIERS

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
KEPT = KEPT_BARRIERS["cpu"]  # compiler options of eager operations and compiled programs
PASSES = ("output", "input gradient", "weight gradient")


class Layer(NamedTuple):
    """A convolution of square kernels and images; of groups, unless that is 1."""

    name: str
    batch: int
    inputs: int
    outputs: int
    kernel: int
    size: int
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    rank: int = 2
    transposed: bool = False


LAYERS = (
    Layer("depthwise 3x3", 8, 96, 96, 3, 28, groups=96),
    Layer("depthwise 3x3, stride 2", 8, 96, 96, 3, 56, 2, groups=96),
    Layer("depthwise 5x5, stride 2", 8, 96, 96, 5, 56, 2, groups=96),
    Layer("depthwise 7x7", 8, 96, 96, 7, 28, groups=96),
    Layer("depthwise 3x3, dilation 2", 8, 96, 96, 3, 28, dilation=2, groups=96),
    Layer("depthwise 3x3, two outputs", 8, 48, 96, 3, 28, groups=48),
    Layer("depthwise 3x3, transposed, stride 2", 8, 96, 96, 3, 28, 2, groups=96, transposed=True),
    Layer("depthwise 7, 1d", 8, 96, 96, 7, 512, groups=96, rank=1),
    Layer("depthwise 3x3x3", 2, 32, 32, 3, 14, groups=32, rank=3),
    Layer("32 groups of 4, 3x3", 8, 128, 128, 3, 28, groups=32),
    Layer("32 groups of 8, 3x3", 8, 256, 256, 3, 14, groups=32),
    Layer("32 groups of 8, 3x3, stride 2", 8, 256, 256, 3, 28, 2, groups=32),
    Layer("8 groups of 16, 3x3", 8, 128, 128, 3, 14, groups=8),
    Layer("2 groups, 3x3, stride 2", 8, 64, 128, 3, 28, 2, groups=2),
    Layer("1x1", 8, 64, 256, 1, 28),
    Layer("1x1, late", 8, 960, 160, 1, 7),
    Layer("3x3x3", 2, 32, 32, 3, 14, rank=3),
    Layer("3x3", 4, 64, 64, 3, 28),
    Layer("3x3, stride 2, of colors", 4, 3, 32, 3, 224, 2),
    Layer("7x7, stride 2, of colors", 4, 3, 64, 7, 224, 2),
    Layer("3x3, dilation 2", 4, 64, 64, 3, 28, dilation=2),
    Layer("4x4, transposed, stride 2", 4, 64, 32, 4, 14, 2, transposed=True),
)
TITLES = ("convolution", "dtype", "pass", "CPU torch ms", "lax ms", "tenax ms", "/ torch", "/ lax", "compile s")

Call = Callable[[], object]

# A first call of so many seconds is not repeated; its time is that of the call.
LONG = 6.0


def least(contenders: Mapping[str, Call], seconds: float) -> tuple[dict[str, float], dict[str, float]]:
    """The least processor seconds of a call of each contender, and of its first call, where a program is compiled.

    One call each, over and over, for `seconds` of processor time of each contender.
    """
    first, times = {}, {}
    for name, call in contenders.items():
        started = time.process_time()
        call()
        first[name] = time.process_time() - started
        times[name] = first[name]
        if first[name] < LONG:
            started = time.process_time()
            call()
            times[name] = time.process_time() - started
    rest = {name: call for name, call in contenders.items() if times[name] < seconds}
    ends = time.process_time() + seconds * len(rest)
    while time.process_time() < ends:
        for name, call in rest.items():
            started = time.process_time()
            call()
            times[name] = min(times[name], time.process_time() - started)
    return times, first


def as_array(x: torch.Tensor) -> jax.Array:
    wide = jnp.asarray(x.float().numpy())
    return wide.astype(jnp.bfloat16) if x.dtype == torch.bfloat16 else wide


def jitted(f: Callable[..., Any], *arrays: jax.Array, options: dict[str, Any] | None = None) -> Call:
    compiled = jax.jit(f, compiler_options=options)
    return lambda: jax.block_until_ready(compiled(*arrays))


def contenders(layer: Layer, dtype: torch.dtype) -> Iterator[tuple[str, dict[str, Call], float]]:
    """Of each pass, the three implementations on the same numbers, and the seconds of the first call of tenax's.

    Its result is compared with CPU torch's.
    """
    torch.manual_seed(0)
    rank, k, s, d, groups = layer.rank, layer.kernel, layer.stride, layer.dilation, layer.groups
    pad = (d * (k - 1) - s + 2) // 2 if layer.transposed else d * (k // 2)
    options: list[Any] = [[n] * rank for n in (s, pad, d)] + [layer.transposed, [0] * rank, groups]
    channels = (layer.inputs, layer.outputs // groups) if layer.transposed else (layer.outputs, layer.inputs // groups)
    x = torch.randn(layer.batch, layer.inputs, *(layer.size,) * rank).to(dtype)
    w = torch.randn(*channels, *(k,) * rank).to(dtype)
    y = torch.ops.aten.convolution(x, w, None, *options)
    t = torch.randn_like(y)
    a, b, c = map(as_array, (x, w, t))
    numbers = tuple(range(rank + 2))

    def by_lax(image: jax.Array, weight: jax.Array) -> jax.Array:
        numbers_of_all = lax.ConvDimensionNumbers(numbers, numbers, numbers)
        return lax.conv_general_dilated(
            image, weight, [s] * rank, [(pad, pad)] * rank, None, [d] * rank, numbers_of_all, feature_group_count=groups
        )

    def transposed(f: Callable[[jax.Array], jax.Array], like: jax.Array, g: jax.Array) -> jax.Array:
        return jax.linear_transpose(f, like)(g)[0]

    if layer.transposed:
        hand = (
            jitted(lambda x, w, t: transposed(lambda y: by_lax(y, w), t, x), a, b, c),
            jitted(lambda t, w: by_lax(t, w), c, b),
            jitted(lambda x, w, t: transposed(lambda v: by_lax(t, v), w, x), a, b, c),
        )
    else:
        hand = (
            jitted(by_lax, a, b),
            jitted(lambda x, w, t: transposed(lambda v: by_lax(v, w), x, t), a, b, c),
            jitted(lambda x, w, t: transposed(lambda v: by_lax(x, v), w, t), a, b, c),
        )
    backward = lowering("convolution_backward")

    def ours(i: int) -> Call:
        mask = [j == i for j in range(3)]
        return jitted(lambda t, x, w: backward(t, x, w, None, *options, mask)[i], c, a, b, options=KEPT)

    def theirs(i: int) -> Call:
        mask = [j == i for j in range(3)]
        return lambda: torch.ops.aten.convolution_backward(t, x, w, None, *options, mask)[i]

    forward = lowering("convolution")
    found = (
        (
            lambda: torch.ops.aten.convolution(x, w, None, *options),
            jitted(lambda x, w: forward(x, w, None, *options), a, b, options=KEPT),
        ),
        (theirs(0), ours(0)),
        (theirs(1), ours(1)),
    )
    for name, (of_torch, of_tenax), of_lax in zip(PASSES, found, hand, strict=True):
        expected = of_torch().float().numpy()  # type: ignore[attr-defined]
        started = time.process_time()
        result = of_tenax()
        compiled = time.process_time() - started
        error = np.abs(np.asarray(result, dtype=np.float32) - expected).max() / np.abs(expected).max()
        assert error < (1e-5 if dtype == torch.float32 else 2e-2), (layer, name, error)
        yield name, {"torch": of_torch, "lax": of_lax, "tenax": of_tenax}, compiled


class Residual(nn.Module):
    """An inverted residual, as in MobileNet and EfficientNet."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        wide = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(width, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.SiLU(),
            nn.Conv2d(wide, wide, kernel, padding=kernel // 2, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.SiLU(),
            nn.Conv2d(wide, width, 1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


class Grouped(nn.Module):
    """A bottleneck of ResNeXt: 32 groups of 4 channels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, 128, 1, bias=False),
            nn.BatchNorm2d(128),
            nn.ReLU(),
            nn.Conv2d(128, 128, 3, padding=1, groups=32, bias=False),
            nn.BatchNorm2d(128),
            nn.ReLU(),
            nn.Conv2d(128, width, 1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.body(x))


MODELS: dict[str, Callable[[], nn.Module]] = {
    "inverted residuals": lambda: nn.Sequential(
        nn.Conv2d(3, 24, 3, stride=2, padding=1),
        *(Residual(24, kernel) for kernel in (3, 5, 3, 5)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(24, 10),
    ),
    "bottlenecks of 32 groups": lambda: nn.Sequential(
        nn.Conv2d(3, 64, 3, stride=2, padding=1),
        *(Grouped(64) for _ in range(4)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    ),
}
MODEL_TITLES = (
    "model",
    "CPU torch ms",
    "eager ms",
    "/ torch",
    "tenax.jit ms",
    "/ torch",
    "eager first s",
    "jit first s",
)


def steps(make: Callable[[], nn.Module]) -> dict[str, Call]:
    """A training step of eight images by CPU torch, on the device and compiled."""

    def step_on(device: str, compiled: bool) -> Call:
        torch.manual_seed(0)
        model = make().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        x, target = torch.randn(8, 3, 64, 64).to(device), torch.randint(10, (8,)).to(device)

        def step() -> torch.Tensor:
            loss = nn.functional.cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss.detach()

        run = tenax.jit(step) if compiled else step

        return finished(run, device)

    return {"torch": step_on("cpu", False), "eager": step_on("jax", False), "jit": step_on("jax", True)}


def main() -> None:
    """Measure every layer, then the models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the tables to benchmarks/results/convolutions.md.")
    parser.add_argument("--seconds", type=float, default=0.1, help="Seconds for each pass of each implementation.")
    parser.add_argument("--only", default="", help="Part of the names of the convolutions or models to measure.")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before JAX counts the cores
    torch.set_num_threads(1)
    rows = []
    for layer in LAYERS:
        for dtype in DTYPES if options.only in layer.name else ():
            for name, calls, compiled in contenders(layer, DTYPES[dtype]):
                times, _ = least(calls, options.seconds)
                ms = [times[c] * 1000 for c in ("torch", "lax", "tenax")]
                ratios = [f"{ms[2] / other:.2f}" for other in ms[:2]]
                rows.append((layer.name, dtype, name, *(f"{t:.2f}" for t in ms), *ratios, f"{compiled:.1f}"))
    if rows:
        publish("convolutions", TITLES, rows, write=options.write, how="The least processor time of a call", only=3)
    found = []
    for model in (m for m in MODELS if options.only in m):
        times, first = least(steps(MODELS[model]), 20 * options.seconds)
        reference, eager, jit = (1000 * t for t in times.values())
        cells = (f"{reference:.1f}", f"{eager:.1f}", f"{eager / reference:.2f}", f"{jit:.1f}", f"{jit / reference:.2f}")
        found.append((model, *cells, f"{first['eager']:.1f}", f"{first['jit']:.1f}"))
    if found:
        publish(
            "convolution models", MODEL_TITLES, found, write=options.write, how="The least processor time of a call"
        )


if __name__ == "__main__":
    main()

"""Fuzz of compositions: random chains of operators on one tensor, compiled with their gradient, and CPU torch.

The databases test one operator at a time. XLA compiles a program as a whole, and rewrites what stands next to each
other: a padding and the window that follows it, a slice of a concatenation, a reshape of a broadcast. Axes of one
element, equal neighbours, and paddings by the identity of a reduction are frequent here, because rewrites depend on
them.
"""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

import tenax

from .mutation_modes import FILE, REFUSALS, Outcome, said

LENGTH = 6
LARGEST = 1e2  # beyond it, a chain ends: rounding errors would grow with the values
ELEMENTS = 3000
TOLERANCE = 3e-5  # relative to the largest element
NUDGE = 1e-7  # at a step of a function (`sign`, the order of equal numbers), its results change by more

Sizes = tuple[int, ...]
Line = Callable[[random.Random, torch.Tensor], str]
SCOPE: dict[str, Any] = {"torch": torch, "nn": torch.nn.functional}


@dataclass(frozen=True)
class Chain:
    """Lines that change `x`, which starts with the numbers of a seed."""

    size: Sizes
    seed: int
    lines: tuple[str, ...]

    def shorter(self) -> Iterator[Chain]:
        """The chain less one line."""
        for i in reversed(range(len(self.lines))):
            yield replace(self, lines=(*self.lines[:i], *self.lines[i + 1 :]))

    @property
    def source(self) -> str:
        """The text of the function."""
        lines = ["def chain(x, w):", *self.lines, "return x"]
        return "\n    ".join(lines) + "\n"

    def __str__(self) -> str:
        return f"x = start({self.size}, {self.seed}); w = weights()\n{self.source}"


def start(size: Sizes, seed: int) -> torch.Tensor:
    """Numbers of a size, of which some are equal, and some are 0."""
    numbers = torch.randn(size, generator=torch.Generator().manual_seed(seed))
    return torch.where(numbers.abs() < 0.3, torch.zeros(()), torch.where(numbers > 1, torch.ones(()), numbers))


def weights() -> torch.Tensor:
    """Numbers from which lines cut the operands that they need."""
    return torch.randn(4096, generator=torch.Generator().manual_seed(0)) / 2


def _axis(rng: random.Random, x: torch.Tensor) -> int:
    return rng.randrange(x.dim())


def _cut(*size: int) -> str:
    count = torch.Size(size).numel()
    return f"w[:{count}].reshape({size})"


def _pad(rng: random.Random, x: torch.Tensor) -> str:
    pads = [0] * (2 * x.dim())
    for _ in range(rng.randint(1, 2)):
        d, n = _axis(rng, x), rng.randint(0, 2)
        pads[2 * d : 2 * d + 2] = (n, n) if rng.random() < 0.6 else (n, rng.randint(0, 2))
    value = rng.choice(["0.0", "0.0", "1.0", "-8.0", "0.5"])
    return f"x = nn.pad(x, {tuple(pads)}, value={value})"


def _window(rng: random.Random, x: torch.Tensor) -> str:
    """A pooling, a convolution, or windows as an axis, over the last axes."""
    if x.dim() < 2:
        return _scan(rng, x)
    planes = 2 if x.dim() > 2 and rng.random() < 0.5 else 1
    sizes = x.shape[-planes:]
    kernel = [rng.randint(1, min(n, 3)) for n in sizes]
    stride = [rng.randint(1, 2) for _ in sizes]
    padding = [rng.randint(0, k // 2) for k in kernel]
    lead = f"x.reshape(1, -1, {', '.join(map(str, sizes))})"
    channels = x.numel() // max(sizes.numel(), 1)
    options = f"{tuple(kernel)}, {tuple(stride)}, {tuple(padding)}"
    choices = [
        f"x = nn.max_pool{planes}d({lead}, {options})",
        f"x = nn.avg_pool{planes}d({lead}, {options})",
        f"x = nn.avg_pool{planes}d({lead}, {options}, count_include_pad=False)",
        f"x = x.unfold(-1, {kernel[-1]}, {stride[-1]})",
        f"x = nn.interpolate({lead}, scale_factor=2, mode='nearest')",
        f"x = nn.adaptive_avg_pool{planes}d({lead}, {rng.randint(1, 3)})",
    ]
    if channels <= 12:
        weight = _cut(rng.randint(1, 3), channels, *kernel)
        choices.append(f"x = nn.conv{planes}d({lead}, {weight}, stride={tuple(stride)}, padding={tuple(padding)})")
        choices.append(f"x = nn.conv{planes}d({lead}, {_cut(channels, 1, *kernel)}, groups={channels})")
        choices.append(f"x = nn.conv_transpose{planes}d({lead}, {_cut(channels, 2, *kernel)}, stride={tuple(stride)})")
    return rng.choice(choices)


def _scan(rng: random.Random, x: torch.Tensor) -> str:
    d = _axis(rng, x)
    return "x = " + rng.choice(
        [
            f"x.cumsum({d})",
            f"x.flip({d}).cumsum({d})",
            f"x.cumprod({d})",
            f"x.cummax({d})[0]",
            f"x.logcumsumexp({d})",
            f"x.diff(dim={d})",
            f"x.sort(dim={d}, stable=True)[0]",
            f"torch.trapezoid(x, dim={d}).unsqueeze({d})",
        ]
    )


def _reduce(rng: random.Random, x: torch.Tensor) -> str:
    d, keep = _axis(rng, x), rng.random() < 0.7
    name = rng.choice(["sum", "mean", "amax", "prod", "logsumexp", "var"])
    options = f"{d}, correction=0" if name == "var" else str(d)
    return f"x = x.{name}({options}, keepdim={keep})"


def _normalize(rng: random.Random, x: torch.Tensor) -> str:
    d = _axis(rng, x)
    return "x = " + rng.choice(
        [
            f"x.softmax({d})",
            f"nn.layer_norm(x, x.shape[{d}:], eps=0.1)",
            f"nn.normalize(x, dim={d}, eps=0.1)",
            f"x / (1 + x.square().mean({d}, keepdim=True))",
            f"x - x.mean({d}, keepdim=True)",
        ]
    )


def _move(rng: random.Random, x: torch.Tensor) -> str:
    d, e = _axis(rng, x), _axis(rng, x)
    n = x.shape[d]
    first = rng.randint(0, max(n - 1, 0))
    choices = [
        f"x.transpose({d}, {e})",
        f"x.flip({d})",
        f"x.roll({rng.randint(-2, 2)}, {d})",
        f"x.reshape(-1, {rng.choice([k for k in range(1, 5) if x.numel() % k == 0])})",
        f"x.unsqueeze({rng.randint(0, x.dim())})",
        f"x.squeeze({d})" if x.dim() > 1 else "x.reshape(-1, 1)",
        f"x.narrow({d}, {first}, {rng.randint(min(1, n), n - first)})",
        f"x[{', '.join([':'] * d + [f'::{rng.randint(1, 3)}'])}]",
        f"torch.cat([x, x.flip({d})], {d})",
        f"torch.cat([x, torch.zeros_like(x), x], {d})",
        f"torch.stack([x, x * 2], {d})",
        f"x.repeat_interleave(2, {d})",
        f"x.repeat({', '.join(['1'] * x.dim() + ['2'])})",
        f"x.unsqueeze(0).expand({rng.randint(1, 3)}, {', '.join(['-1'] * x.dim())})",
        f"x.index_select({d}, torch.tensor({[rng.randrange(max(n, 1)) for _ in range(3)]}, device=x.device))",
        f"x.gather({d}, torch.full_like(x, {first}, dtype=torch.int64))",
    ]
    if x.dim() > 1:
        choices += ["x.tril()", "x.triu(1)", "x.diagonal()", "x.mT @ x", "x @ x.mT", "x.flatten(0, 1)"]
    return "x = " + rng.choice(choices)


def _pointwise(rng: random.Random, x: torch.Tensor) -> str:
    return "x = " + rng.choice(
        [
            "x.relu()",
            "x.sin()",
            "x * 2 + 1",
            "x.abs()",
            "x.sigmoid() * x",
            "torch.where(x > 0.5, x, 0.0)",
            "x.clamp(-1, 0.5)",
            "x.exp().log1p()",
            "x.square() - x",
            "torch.maximum(x, -x)",
            "x.to(torch.float64).mul(3).to(x.dtype)",
            f"x * {_cut(x.shape[-1])}",
        ]
    )


def _write(rng: random.Random, x: torch.Tensor) -> str:
    d = _axis(rng, x)
    place = ", ".join([":"] * d)
    n, lead = x.shape[d], f"{place}, " if place else ""
    i = rng.randrange(max(n, 1))
    choices = [
        f"x[{lead}{i}] = 0",
        f"x[{lead}{i}] += 1",
        f"x[{lead}{i}:] *= 2",
        f"x[{lead}::2] = 1",
        f"x.zero_(); x[{lead}{i}] = w[0]",
        "x[x > 0.5] = 0.25",
        f"x.index_add_({d}, torch.tensor([{i}, {i}], device=x.device), "
        f"x.narrow({d}, 0, 1).clone().repeat_interleave(2, {d}))",
        f"x.scatter_({d}, torch.zeros_like(x, dtype=torch.int64).narrow({d}, 0, 1), 0.5)",
    ]
    if n > 1:
        choices.append(f"x[{lead}1:] = x[{lead}:-1].clone()")
    return f"x = x.clone(); {rng.choice(choices)}"


KINDS: tuple[Line, ...] = (
    _pad,
    _pad,
    _window,
    _window,
    _scan,
    _reduce,
    _normalize,
    _move,
    _move,
    _move,
    _pointwise,
    _write,
)


def random_chain(rng: random.Random) -> Chain:
    """A chain that CPU torch runs, with values that stay small."""
    size = tuple(rng.choice([1, 1, 2, 3, 4, 5]) for _ in range(rng.randint(1, 4)))
    seed = rng.randrange(1000)
    x, lines = start(size, seed), list[str]()
    scope = {**SCOPE, "w": weights()}
    for _ in range(LENGTH * 2):
        line = rng.choice(KINDS)(rng, x)
        scope["x"] = x
        try:
            exec(line, scope)
        except (RuntimeError, IndexError, ValueError):
            continue
        y = scope["x"]
        if 0 < y.dim() <= 5 and 0 < y.numel() <= ELEMENTS and bool((y.abs() < LARGEST).all()):
            x = y
            lines.append(line)
        if len(lines) == LENGTH:
            break
    return Chain(size, seed, tuple(lines))


def _results(
    chain: Chain, device: str, dtype: torch.dtype, compiled: Callable[[Any], Any], nudge: float = 0.0
) -> list[torch.Tensor]:
    """What a chain gives, and its gradient; with a start that is wrong by `nudge`."""
    scope = {**SCOPE, "__name__": "program"}
    text = chain.source
    linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)
    exec(compile(text, FILE, "exec"), scope)

    def run(x: torch.Tensor, w: torch.Tensor) -> list[torch.Tensor]:
        x.requires_grad_()
        y = scope["chain"](x, w)
        total = (y * w[: y.numel()].reshape(y.shape)).sum()
        return [y.detach(), *(torch.autograd.grad(total, x) if total.requires_grad else ())]

    x, w = start(chain.size, chain.seed).to(dtype), weights().to(dtype)
    x += nudge * torch.linspace(-1, 1, x.numel()).reshape(x.shape)
    return [t.cpu() for t in compiled(run)(x.to(device), w.to(device))]


def run(chain: Chain) -> Outcome:
    """A chain compiled by `tenax.jit`, compared with CPU torch as far as that is well conditioned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = _results(chain, "cpu", torch.float32, lambda f: f)
            exact = _results(chain, "cpu", torch.float64, lambda f: f)
            nudged = _results(chain, "cpu", torch.float64, lambda f: f, nudge=NUDGE)
        except (RuntimeError, IndexError, ValueError):  # a shorter chain that CPU torch refuses
            return Outcome("chain")
        try:
            found = _results(chain, "jax", torch.float32, tenax.jit)
        except REFUSALS as error:
            return Outcome("chain", refused=str(error))
        except Exception as error:
            return Outcome("chain", f"raises {said(error)}", program=chain)
    difference, refused = _compare(found, expected, exact, nudged)
    return Outcome("chain", difference, refused, chain if difference else None)


def _compare(
    found: list[torch.Tensor], expected: list[torch.Tensor], exact: list[torch.Tensor], nudged: list[torch.Tensor]
) -> tuple[str, str]:
    """How results differ from those in float64, and whether they cannot be compared: rounded or nudged ones differ."""
    for name, a, b, c, d in zip(("result", "gradient"), found, expected, exact, nudged, strict=False):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{name}: {a.dtype} {tuple(a.shape)}; CPU torch: {b.dtype} {tuple(b.shape)}", ""
        if not b.numel():
            continue
        allowed = TOLERANCE * (1 + c.abs().nan_to_num(posinf=0.0).max())
        if max((b - c).abs().nan_to_num().max(), (d - c).abs().nan_to_num().max()) > allowed:
            return "", f"float32 is not enough for the {name}"
        if not torch.allclose(a.double(), c, rtol=0, atol=float(allowed), equal_nan=True):
            return f"{name}: {a.tolist()}; CPU torch: {b.tolist()}", ""
    return ("" if len(found) == len(expected) else f"{len(found)} results; CPU torch: {len(expected)}"), ""

"""The cost of one eager op on the device, compared with a `jax.jit` call of the same function and with CPU torch.

`python benchmarks/eager.py` prints the table; `--write` stores it in docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import jax
import jax.numpy as jnp
import torch
from clock import interleaved
from rich.progress import track
from tables import publish

import tenax  # noqa: F401 (registers the device)

Case = dict[str, Callable[[], object]]
NBYTES = 16 << 20
WARMUP = 2.0  # seconds: until the programs that eager mode compiles in the background are ready


def elementwise(name: str, torch_fn: Callable, jax_fn: Callable, arity: int, size: tuple[int, ...] = (8,)) -> Case:
    """One op on operands of `size` elements."""
    cpu = [torch.rand(size) + 0.5 for _ in range(arity)]
    ours = [t.to("jax") for t in cpu]
    arrays, jitted = [t.jax() for t in ours], jax.jit(jax_fn)
    return {
        "tenax": lambda: torch_fn(*ours),
        "jax": lambda: jitted(*arrays),
        "torch": lambda: torch_fn(*cpu),
    }


def assignment() -> Case:
    """x[1:3] = 0 on a small tensor."""
    cpu = torch.ones(8, 8)
    ours, array = cpu.to("jax"), jnp.ones((8, 8))
    jitted = jax.jit(lambda a: a.at[1:3].set(0))

    def assign(x: torch.Tensor) -> None:
        x[1:3] = 0

    return {"tenax": lambda: assign(ours), "jax": lambda: jitted(array), "torch": lambda: assign(cpu)}


def view(torch_fn: Callable) -> Case:
    """A view op; JAX has none, so the reference is CPU torch alone."""
    cpu = torch.ones(8, 8)
    ours = cpu.to("jax")
    return {"tenax": lambda: torch_fn(ours), "torch": lambda: torch_fn(cpu)}


def linear() -> Case:
    """F.linear, 64x64 by 64."""
    cpu = [torch.rand(64, 64), torch.rand(64, 64), torch.rand(64)]
    ours = [t.to("jax") for t in cpu]
    arrays, jitted = [t.jax() for t in ours], jax.jit(lambda x, w, b: x @ w.T + b)
    f = torch.nn.functional.linear
    return {"tenax": lambda: f(*ours), "jax": lambda: jitted(*arrays), "torch": lambda: f(*cpu)}


def adamw(**options: bool) -> Case:
    """An AdamW step over 50 parameters of 64x64, compared with one hand-written, donated, jitted update."""

    def optimizer(device: str) -> torch.optim.Optimizer:
        params = [torch.ones(64, 64, device=device, requires_grad=True) for _ in range(50)]
        for p in params:
            p.grad = torch.full_like(p, 0.1)
        return torch.optim.AdamW(params, lr=1e-3, **options)

    def update(state: list, grads: list, step: jax.Array) -> tuple:
        out = []
        for (p, m, v), g in zip(state, grads, strict=True):
            p = p * (1 - 1e-3 * 1e-2)
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            p = p - 1e-3 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8)
            out.append((p, m, v))
        return out, step + 1

    jitted = jax.jit(update, donate_argnums=(0, 2))
    state = [[tuple(jnp.ones((64, 64)) * 0.1 for _ in range(3)) for _ in range(50)], jnp.ones(())]
    grads = [jnp.ones((64, 64)) * 0.1 for _ in range(50)]
    ours, cpu = optimizer("jax"), optimizer("cpu")

    def step_jax() -> None:
        state[0], state[1] = jitted(state[0], grads, state[1])

    return {"tenax": ours.step, "jax": step_jax, "torch": cpu.step}


def transfer(direction: str) -> Case:
    """A transfer of 16 MB between host and device; the reference is a clone on the host by torch."""
    cpu = torch.rand(NBYTES // 4)
    ours = cpu.to("jax")
    call = (lambda: cpu.to("jax")) if direction == "up" else (lambda: ours.cpu())
    return {"tenax": call, "torch": cpu.clone}


def batch() -> Case:
    """The upload of a batch of 64x256 floats, compared with `jax.device_put` of a NumPy array."""
    cpu = torch.rand(64, 256)
    array = cpu.numpy()
    return {"tenax": lambda: cpu.to("jax"), "jax": lambda: jax.device_put(array), "torch": cpu.clone}


def number() -> Case:
    """A tensor of one Python number, compared with `jnp.asarray`."""
    return {
        "tenax": lambda: torch.tensor(1.5, device="jax"),
        "jax": lambda: jnp.asarray(1.5),
        "torch": lambda: torch.tensor(1.5),
    }


CASES: dict[str, Callable[[], Case]] = {
    "add, 8 elements": lambda: elementwise("add", torch.add, lambda a, b: a + b, 2),
    "x * 2": lambda: elementwise("mul", lambda x: x * 2, lambda a: a * 2, 1),
    "exp, 8 elements": lambda: elementwise("exp", torch.exp, jnp.exp, 1),
    "x.add_(y)": lambda: elementwise("add_", lambda x, y: x.add_(y), lambda a, b: a + b, 2),
    "sum": lambda: elementwise("sum", torch.sum, jnp.sum, 1),
    "add, 1M elements": lambda: elementwise("add", torch.add, lambda a, b: a + b, 2, (1024, 1024)),
    "linear 64x64": linear,
    "t()": lambda: view(torch.t),
    "x[1:3]": lambda: view(lambda x: x[1:3]),
    "view(64)": lambda: view(lambda x: x.view(64)),
    "x[1:3] = 0": assignment,
    "AdamW, 50 parameters": adamw,
    "fused AdamW, 50 parameters": lambda: adamw(fused=True),
    "batch of 64 KB to the device": batch,
    "torch.tensor(1.5, device)": number,
    "16 MB host to device": lambda: transfer("up"),
    "16 MB device to host": lambda: transfer("down"),
}


def main() -> None:
    """Measure every case and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the table to docs/benchmarks.md.")
    parser.add_argument("--seconds", type=float, default=2.0, help="Seconds per case.")
    parser.add_argument("--warmup", type=float, default=WARMUP, help="Seconds per contender before its measurement.")
    parser.add_argument("--only", default="", help="Cases whose names contain this.")
    options = parser.parse_args()
    rows = []
    chosen = [(name, make) for name, make in CASES.items() if options.only in name]
    for name, make in track(chosen, description="measuring"):
        times = interleaved(make(), options.seconds, warmup=options.warmup)
        ratio = [f"{times['tenax'] / times[r]:.2f}" if r in times else "" for r in ("jax", "torch")]
        rate = f", {NBYTES / times['tenax'] / 1e3:.1f} GB/s" if name.startswith("16 MB") else ""
        rows.append(
            (name + rate, *(f"{times[k]:.1f}" if k in times else "" for k in ("tenax", "jax", "torch")), *ratio)
        )
    titles = ("op", "tenax µs", "jax.jit µs", "CPU torch µs", "tenax / jax.jit", "tenax / torch")
    publish("eager", titles, rows, write=options.write, only=1 if options.only else 0)


if __name__ == "__main__":
    main()

"""Tokens per second of training GPT-2 (124M parameters) on one accelerator, in three variants.

`python benchmarks/gpu_gpt.py VARIANT` runs one of them. Each needs only its own libraries, and writes `--out`:

- `tenax`: the PyTorch step under `tenax.jit`;
- `jax`: the step written by hand in JAX with optax;
- `torch`: the PyTorch step under `torch.compile` on CUDA.

`all` runs each variant in a separate process (`--torch-python` is the interpreter of a PyTorch with CUDA) and prints a
table. All variants use AdamW, float32 parameters and moments, and the dtypes of `torch.autocast`: products and
attention in bfloat16; norms, residual sums and the loss in float32.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from models.gpt import GPT
from models.training import cross_entropy

VARIANTS = ("tenax", "jax", "torch")
RATE, DECAY = 3e-4, 0.1
REPEATS = 3


class Run(NamedTuple):
    """A variant ready to run: `step` returns the loss, `item` converts it to a number, `wait` waits for the device."""

    step: Callable[[], Any]
    item: Callable[[Any], float]
    wait: Callable[[], None]
    peak: Callable[[], int]
    device: str
    versions: str


def model(options: argparse.Namespace) -> GPT:
    """The model, with the same initial values in every process."""
    torch.manual_seed(0)
    return GPT(options.layers, options.width, options.heads, options.length, options.vocabulary)


def batch(options: argparse.Namespace) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(options.vocabulary, (options.batch, options.length + 1), generator=generator)
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def torch_step(options: argparse.Namespace, device: str, module: Callable, optimizer: Any) -> Callable[[], Any]:
    """An ordinary PyTorch training step."""
    x, target = (t.to(device) for t in batch(options))

    def step(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        with torch.autocast(device, torch.bfloat16):
            loss = cross_entropy(module(x), target)
        loss.backward()
        optimizer.step()
        return loss.detach()

    if device == "jax" and not options.eager:
        import tenax

        step = tenax.jit(step)
    return lambda: step(x, target)


def by_tenax(options: argparse.Namespace) -> Run:
    import jax

    import tenax

    module = model(options).to("jax")
    optimizer = torch.optim.AdamW(module.parameters(), RATE, weight_decay=DECAY)
    step = torch_step(options, "jax", module, optimizer)
    versions = f"tenax {tenax.__version__}, torch {torch.__version__}, jax {jax.__version__}"
    wait = lambda: jax.block_until_ready([p.jax() for p in module.parameters()])  # noqa: E731
    return Run(step, lambda loss: loss.item(), wait, peak_of_jax, jax.devices()[0].device_kind, versions)


def by_jax(options: argparse.Namespace) -> Run:
    import jax
    import jax.numpy as jnp
    import optax
    from models.by_hand import gpt
    from models.by_hand.training import train_step
    from models.cases import array, weights

    fused = options.device == "gpu" and options.attention == "cudnn"

    def apply(params: Any, state: Any, tokens: jax.Array, training: bool) -> tuple[jax.Array, Any]:
        params = gpt.halved(params, jnp.bfloat16)
        implementation = "cudnn" if fused else None
        logits, state = gpt.apply(params, state, tokens, training, options.heads, implementation)
        return logits.astype(jnp.float32), state

    params, state = gpt.from_torch(weights(model(options)))
    optimizer = optax.adamw(RATE, weight_decay=DECAY)
    held = [(params, state, optimizer.init(params))]
    del params
    jitted = train_step(apply, optimizer)
    x, target = (array(t) for t in batch(options))

    def step() -> jax.Array:
        held[0], loss = jitted(held[0], x, target)
        return loss

    kind = jax.devices()[0].device_kind
    versions = f"jax {jax.__version__}, optax {optax.__version__}"
    return Run(step, float, lambda: jax.block_until_ready(held[0]), peak_of_jax, kind, versions)


def peak_of_jax() -> int:
    """The peak number of bytes in use; 0 if the device does not report it."""
    import jax

    return (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0)


def by_torch(options: argparse.Namespace) -> Run:
    cuda = options.device == "gpu"
    device = "cuda" if cuda else "cpu"
    module = model(options).to(device)
    optimizer = torch.optim.AdamW(module.parameters(), RATE, weight_decay=DECAY, fused=True)
    called = module if options.eager else torch.compile(module)
    step = torch_step(options, device, called, optimizer)
    wait = torch.cuda.synchronize if cuda else lambda: None
    peak = torch.cuda.max_memory_allocated if cuda else lambda: 0
    kind = torch.cuda.get_device_name() if cuda else platform.processor()
    return Run(step, lambda loss: loss.item(), wait, peak, kind, f"torch {torch.__version__}")


def measure(variant: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measure the losses of the first three steps, and the time of later steps."""
    started = time.perf_counter()
    torch.set_float32_matmul_precision("high")  # JAX's default on a GPU
    run = {"tenax": by_tenax, "jax": by_jax, "torch": by_torch}[variant](options)
    losses, first = [run.item(run.step())], time.perf_counter() - started
    losses += [run.item(run.step()) for _ in range(2)]
    for _ in range(options.warmup):
        run.step()
    seconds = []
    for _ in range(REPEATS):
        run.wait()
        started = time.perf_counter()
        for _ in range(options.steps):
            run.step()
        run.wait()
        seconds.append((time.perf_counter() - started) / options.steps)
    second = statistics.median(seconds)
    return {
        "variant": f"{variant}, eager" if options.eager and variant != "jax" else variant,
        "losses": losses,
        "milliseconds": 1e3 * second,
        "tokens_per_second": options.batch * options.length / second,
        "peak_bytes": run.peak(),
        "first_step_seconds": first,
        "device": run.device,
        "versions": run.versions,
        "shape": {k: getattr(options, k) for k in ("layers", "width", "heads", "length", "vocabulary", "batch")},
    }


def compare(options: argparse.Namespace, arguments: list[str]) -> list[dict[str, Any]]:
    """Run every variant in a separate process.

    Raises:
        AssertionError: the losses of the first three steps differ by more than bfloat16 rounding explains.
    """
    results, environment = [], dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        for variant in options.variants.split(","):
            out = Path(folder) / f"{variant}.json"
            python = options.torch_python if variant == "torch" else sys.executable
            command = [python, __file__, variant, *arguments, "--out", out]
            subprocess.run(command, env=environment, check=True)
            results.append(json.loads(out.read_text()))
            if options.write:
                keep(results[-1])
    for other in results[1:]:
        pairs = zip(results[0]["losses"], other["losses"], strict=True)
        assert all(abs(a - b) < 2e-2 * abs(b) for a, b in pairs), [r["losses"] for r in results]
    return results


TITLES = ("variant", "tokens/s", "ms a step", "peak GiB", "first step s", "losses", "versions")


def row(result: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a variant."""
    speed = f"{result['tokens_per_second']:.0f}", f"{result['milliseconds']:.1f}"
    rest = f"{result['peak_bytes'] / 2**30:.2f}", f"{result['first_step_seconds']:.1f}"
    return result["variant"], *speed, *rest, " ".join(f"{x:.4f}" for x in result["losses"]), result["versions"]


def keep(result: dict[str, Any]) -> None:
    """Store the row of a variant in docs/benchmarks.md."""
    os.environ["JAX_PLATFORMS"] = "cpu"  # the accelerator is for the variants
    from tables import store

    shape = ", ".join(f"{name} {value}" for name, value in result["shape"].items())
    store("gpt-2", TITLES, [row(result)], 1, f"{result['device']}: {shape}")


def show(results: list[dict[str, Any]]) -> None:
    """Print one row per variant."""
    for cells in (TITLES, ["---"] * len(TITLES), *map(row, results)):
        print("| " + " | ".join(cells) + " |")
    print(f"{results[0]['device']}, {results[0]['shape']}")


def main() -> None:
    """Run one variant or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variant", choices=(*VARIANTS, "all"))
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu")
    parser.add_argument(
        "--attention",
        choices=("cudnn", "xla"),
        default="cudnn",
        help="Attention implementation of the hand-written step.",
    )
    parser.add_argument("--eager", action="store_true", help="Run the PyTorch steps without a compiler.")
    for name, default in (("layers", 12), ("width", 768), ("heads", 12), ("length", 1024), ("vocabulary", 50304)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("batch", 16), ("warmup", 5), ("steps", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--torch-python", default=sys.executable, help="Interpreter of the torch variant.")
    parser.add_argument("--out", type=Path, help="JSON file for the results.")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="Those that `all` runs, separated by commas.")
    parser.add_argument("--write", action="store_true", help="Write the table of `all` to docs/benchmarks.md.")
    options = parser.parse_args()
    if options.variant == "all":
        rest = [x for x in sys.argv[1:] if x != "all"]
        results = compare(options, rest)
    else:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        if options.device == "cpu":
            os.environ["JAX_PLATFORMS"] = "cpu"
        results = [measure(options.variant, options)]
    show(results)
    if options.out:
        options.out.write_text(json.dumps(results if options.variant == "all" else results[0], indent=1))


if __name__ == "__main__":
    main()

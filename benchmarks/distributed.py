"""A training step of GPT over meshes of host devices, under `tenax.jit` and written by hand in JAX.

Both have the same shardings: those of the presets of `tenax.sharding`, which JAX gets for its matrices of (in, out).
`python benchmarks/distributed.py` prints run time, the collectives of the compiled programs and their bytes on each
device, and memory per device; `--write` stores the table in docs/benchmarks.md, and `--only tensor` selects layouts.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8".strip()

import jax
import numpy as np
import torch
from clock import interleaved
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from models.by_hand import gpt as by_hand
from models.by_hand.training import train_step as train_step_by_hand
from models.cases import ADAMW, array, text, weights
from models.gpt import GPT
from models.training import train_step
from rich.progress import track
from tables import publish

import tenax
from tenax._jit.collectives import Collective, collectives
from tenax.sharding import fsdp, tensor_parallel

# Rules, and how many of n devices are the axis "model".
LAYOUTS: dict[str, tuple[Any, Callable[[int], int]]] = {
    "fsdp": (fsdp("data"), lambda n: 1),
    "tensor parallel": (tensor_parallel("model"), lambda n: n),
    "both": (tensor_parallel("model", fsdp="data"), lambda n: 2),
}
TITLES = (
    *("layout", "devices", "by hand, ms", "tenax, ms", "ratio", "by hand, collectives", "tenax, collectives"),
    *("by hand, kB", "tenax, kB", "ratio", "by hand, MiB per device", "tenax, MiB per device", "ratio"),
)
LAYERS, WIDTH, HEADS, LENGTH, VOCABULARY, BATCH = 4, 128, 8, 64, 512, 16


class Step(NamedTuple):
    """`call` trains and waits for the loss, which it gives; the others describe the compiled program."""

    call: Callable[[], Any]
    collectives: tuple[Collective, ...]
    bytes: int


class PlacedGPT(GPT):
    """Its activations are split by the batch from the embedding on, as FSDP wants them."""

    where: Mesh

    def embed(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return tenax.shard(super().embed(tokens, positions), P("data"), self.where)


def model_and_batch() -> tuple[GPT, tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(0)
    return PlacedGPT(LAYERS, WIDTH, HEADS, LENGTH, VOCABULARY, split=True), text(VOCABULARY, BATCH, LENGTH)


def in_torch(rules: Any, mesh: Mesh) -> Step:
    """The PyTorch step under `tenax.jit`."""
    module, batch = model_and_batch()
    module.where = mesh
    tenax.shard(module, rules, mesh)
    step = tenax.jit(train_step(module, ADAMW[0](module.parameters())))
    x, target = (tenax.shard(t, P("data"), mesh) for t in batch)
    step(x, target)
    (program,) = tenax.explain(step).programs
    return Step(lambda: jax.block_until_ready(step(x, target).jax()), program.collectives, program.peak_bytes)


def in_jax(rules: Any, mesh: Mesh) -> Step:
    """The step by hand, its parameters laid out as those of the PyTorch module."""
    module, batch = model_and_batch()
    held = weights(module)
    specs = [s.spec for s in tenax.sharding_of(tenax.shard(module, rules, mesh)).values()]
    params, state = by_hand.from_torch(held)
    # Where a parameter of torch went, and whether it was transposed, is seen by arrays of its number, of shape (2, 3).
    numbers, _ = by_hand.from_torch({name: np.full((2, 3)[: v.ndim], i) for i, (name, v) in enumerate(held.items())})

    def placed(parameter: jax.Array, number: jax.Array) -> jax.Array:
        spec = specs[int(number.ravel()[0])]
        padded = (*spec, *[None] * (parameter.ndim - len(spec)))
        return jax.device_put(
            parameter, NamedSharding(mesh, P(*padded[::-1]) if number.shape == (3, 2) else P(*padded))
        )

    params = jax.tree.map(placed, params, numbers)
    optimizer = ADAMW[1]()
    everywhere, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    trained = (params, state, optimizer.init(params))
    trained = jax.tree.map(
        lambda a: a if isinstance(a.sharding, NamedSharding) else jax.device_put(a, everywhere), trained
    )
    apply = partial(by_hand.apply, heads=HEADS, activations=split)
    plain: Any = train_step_by_hand(apply, optimizer)
    kept = jax.tree.map(lambda a: a.sharding, trained)
    jitted = jax.jit(plain.__wrapped__, donate_argnums=0, out_shardings=(kept, everywhere))
    x, target = (jax.device_put(array(t), split) for t in batch)
    compiled = jitted.lower(trained, x, target).compile()
    memory: Any = compiled.memory_analysis()
    kept_bytes = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes

    def call() -> jax.Array:
        nonlocal trained
        trained, loss = jitted(trained, x, target)
        return jax.block_until_ready(loss)

    return Step(call, collectives(compiled.as_text() or ""), kept_bytes + memory.temp_size_in_bytes)


def row(layout: str, devices: int, seconds: float) -> list[str]:
    """Measure one layout on a mesh of so many devices.

    Raises:
        AssertionError: the first losses differ.
    """
    rules, models = LAYOUTS[layout]
    model = models(devices)
    sizes = devices // model, model
    mesh = jax.make_mesh(sizes, ("data", "model"), (jax.sharding.AxisType.Auto,) * 2, devices=jax.devices()[:devices])
    hand, ours = in_jax(rules, mesh), in_torch(rules, mesh)
    hand.call()  # as `in_torch` has taken a step
    losses = [float(step.call()) for step in (hand, ours)]
    assert abs(losses[0] - losses[1]) < 1e-4, losses
    times = interleaved({"hand": hand.call, "tenax": ours.call}, seconds)
    counts = [str(sum(c.times for c in step.collectives)) for step in (hand, ours)]
    cells = [layout, str(devices), *_ratio([times[n] / 1e3 for n in ("hand", "tenax")], 1), *counts]
    exchanged = [sum(c.bytes * c.times for c in step.collectives) / 1e3 for step in (hand, ours)]
    return [*cells, *_ratio(exchanged, 0), *_ratio([step.bytes / 2**20 for step in (hand, ours)], 1)]


def _ratio(pair: list[float], digits: int) -> list[str]:
    return [*(f"{x:.{digits}f}" for x in pair), f"{pair[1] / pair[0]:.2f}"]


def main() -> None:
    """Measure every layout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the table to docs/benchmarks.md.")
    parser.add_argument("--seconds", type=float, default=20.0, help="Seconds of run time per row.")
    parser.add_argument("--only", default="", help="Select layouts whose names contain this text.")
    options = parser.parse_args()
    chosen = [(layout, devices) for layout in LAYOUTS if options.only in layout for devices in (4, 8)]
    with jax.numpy_dtype_promotion("standard"):
        rows = [row(*each, options.seconds) for each in track(chosen, "measuring")]
    publish("distributed", TITLES, rows, write=options.write)


if __name__ == "__main__":
    main()

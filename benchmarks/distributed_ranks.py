"""Training steps and collectives of one process per rank, beside JAX written by hand and torch's gloo.

`python -m benchmarks.distributed_ranks [--ranks 2 4] [--write]`. Every rank calls the same contenders in the same
random order, as often; the times are those of rank 0.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.distributed as dist
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import tenax

from .tables import publish

WIDTH, LAYERS, BATCH, RATE = 512, 4, 64, 0.01
BASELINE = "JAX by hand"
TITLES = ("ranks", "program", "contender", "µs", f"times {BASELINE}", "collectives")
Call = Callable[[], object]
Params = list[tuple[jax.Array, jax.Array]]


def interleaved(contenders: Mapping[str, Call], rounds: int, calls: int) -> dict[str, float]:
    """Median microseconds of one call; the counts are given, so that they are those of the other ranks."""
    for call in contenders.values():
        call(), call(), call()
    rng = random.Random(0)
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in rng.sample(list(contenders.items()), len(contenders)):
            dist.barrier()
            started = time.perf_counter()
            for _ in range(calls):
                call()
            samples[name].append((time.perf_counter() - started) / calls * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


def mlp() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(*(m for _ in range(LAYERS) for m in (nn.Linear(WIDTH, WIDTH), nn.ReLU())))


def torch_step(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Callable[..., torch.Tensor]:
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()  # at the end: the step by hand keeps no gradients either
        return loss.detach()

    return step


class ByHand:
    """The same step as a JAX programmer writes it: `shard_map` over the ranks."""

    def __init__(self, sharded: bool, x: torch.Tensor, y: torch.Tensor) -> None:
        mesh = Mesh(np.array(jax.devices()), ("ranks",))
        rows, spec = PartitionSpec("ranks"), PartitionSpec("ranks") if sharded else PartitionSpec()
        self.data = [self.placed(t.numpy(), mesh, rows) for t in (x, y)]
        size, rank = dist.get_world_size(), dist.get_rank()

        def own(parameter: torch.Tensor) -> jax.Array:
            value = parameter.detach().numpy()
            return self.placed(np.split(value, size)[rank] if sharded else value, mesh, spec)

        linears = [m for m in mlp() if isinstance(m, nn.Linear)]
        self.params: Params = [(own(m.weight), own(m.bias)) for m in linears]

        def loss(params: Params, x: jax.Array, y: jax.Array) -> jax.Array:
            for layer in params:
                weight, bias = (lax.all_gather(p, "ranks", tiled=True) for p in layer) if sharded else layer
                x = jax.nn.relu(x @ weight.T + bias)
            return jnp.mean((x - y) ** 2)

        def step(params: Params, x: jax.Array, y: jax.Array) -> tuple[Params, jax.Array]:
            value, gradients = jax.value_and_grad(loss)(params, x, y)
            mean = (lambda g: g / size) if sharded else (lambda g: lax.pmean(g, "ranks"))
            return jax.tree.map(lambda p, g: p - RATE * mean(g), params, gradients), value[None]

        specs = (spec, rows, rows), (spec, rows)
        mapped = jax.shard_map(step, mesh=mesh, in_specs=specs[0], out_specs=specs[1], check_vma=False)
        self.step = jax.jit(mapped, donate_argnums=0)

    @staticmethod
    def placed(local: np.ndarray, mesh: Mesh, spec: PartitionSpec) -> jax.Array:
        shape = (local.shape[0] * (mesh.size if spec else 1), *local.shape[1:])
        sharding = NamedSharding(mesh, spec)
        return jax.make_array_from_single_device_arrays(
            shape, sharding, [jax.device_put(local, jax.local_devices()[0])]
        )

    def __call__(self) -> object:
        self.params, loss = self.step(self.params, *self.data)
        return jax.block_until_ready(loss)

    def collectives(self) -> str:
        return counted(self.step.lower(self.params, *self.data).compile().as_text())


def counted(text: str) -> str:
    """How many collectives the text of a program has."""
    kinds = ("all-reduce", "all-gather", "reduce-scatter")
    found = {kind: sum(f" {kind}(" in line for line in text.splitlines()) for kind in kinds}
    return ", ".join(f"{n} {kind}" for kind, n in found.items() if n)


def steps(sharded: bool, rounds: int) -> list[tuple[str, float, str]]:
    torch.manual_seed(dist.get_rank())
    host = torch.randn(BATCH, WIDTH), torch.randn(BATCH, WIDTH)
    x, y = (t.to("jax") for t in host)

    def spread(device: str) -> nn.Module:
        net = mlp().to(device)
        if not sharded:
            return DistributedDataParallel(net)
        mesh = init_device_mesh("jax", (dist.get_world_size(),))
        for layer in net:
            if isinstance(layer, nn.Linear):
                fully_shard(layer, mesh=mesh)
        return fully_shard(net, mesh=mesh)

    compiled, eager = tenax.jit(torch_step(spread("jax"), x, y)), torch_step(spread("jax"), x, y)
    by_hand = ByHand(sharded, *host)
    contenders: dict[str, Call] = {
        BASELINE: by_hand,
        "tenax.jit": lambda: (compiled(x, y), tenax.synchronize()),
        "eager": lambda: (eager(x, y), tenax.synchronize()),
    }
    if not sharded:
        on_host = torch_step(spread("cpu"), *host)
        contenders["CPU torch, gloo"] = lambda: on_host(*host)
    times = interleaved(contenders, rounds, 2)
    programs = {"tenax.jit": counted_in(compiled), BASELINE: by_hand.collectives()}
    return [(name, time, programs.get(name, "")) for name, time in times.items()]


def counted_in(step: Any) -> str:
    kinds = [c.kind for c in tenax.explain(step).programs[0].collectives]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))


def small_all_reduce(rounds: int) -> list[tuple[str, float, str]]:
    mesh = Mesh(np.array(jax.devices()), ("ranks",))
    spec = PartitionSpec("ranks")
    array = ByHand.placed(np.ones(1024, np.float32), mesh, spec)
    add = jax.jit(
        jax.shard_map(lambda x: lax.psum(x, "ranks"), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    )
    x = torch.ones(1024, device="jax")
    contenders: dict[str, Call] = {
        BASELINE: lambda: jax.block_until_ready(add(array)),
        "eager": lambda: dist.all_reduce(x, dist.ReduceOp.AVG),
    }
    return [(name, time, "") for name, time in interleaved(contenders, rounds, 20).items()]


def run_rank(rank: int, rounds: int, path: str) -> None:
    torch.set_num_threads(1)
    found = {
        "DDP step": steps(False, rounds),
        "FSDP2 step": steps(True, rounds),
        "all_reduce of 1,024 floats": small_all_reduce(rounds),
    }
    if rank == 0:
        Path(path).write_text(json.dumps(found))


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="store the table in docs/benchmarks.md")
    options = parser.parse_args()
    rows = []
    for ranks in options.ranks:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/times.json"
            tenax.launch(run_rank, ranks, [options.rounds, path])
            found = json.loads(Path(path).read_text())
        for program, measured in found.items():
            base = next(t for name, t, _ in measured if name == BASELINE)
            rows += [[str(ranks), program, name, f"{t:,.0f}", f"{t / base:.2f}", n] for name, t, n in measured]
    publish("distributed ranks", TITLES, rows, write=options.write)


if __name__ == "__main__":
    main()

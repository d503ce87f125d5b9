"""What Llama-3 would take to train on accelerators that this machine lacks.

    python examples/plan_llama.py               # 8B on 64 devices
    python examples/plan_llama.py --size 70B    # on 512
    python examples/plan_llama.py --recompute   # activations are recomputed in the backward pass, layer by layer
    python examples/plan_llama.py --target "H100:8x8"         # by the compiler of GPUs: pip install 'tenax[cuda]'
    python examples/plan_llama.py --target "TPU v5p:4x4x4"    # by the compiler of TPUs: pip install 'tenax[targets]'

The training step is compiled for a mesh of that many devices and never run: no tensor has memory. The layouts of
`tenax.sharding` are compared by their memory and collectives, each with the line that needs it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import rich
import rich.table
import torch
from fsdp_llama import Config, Llama
from jax.sharding import PartitionSpec as P
from torch import nn
from torch.utils.checkpoint import checkpoint

import tenax
from tenax.distributed import StepPlan, plan
from tenax.sharding import fsdp, tensor_parallel

LENGTH = 4096
# Sizes, layers, devices, and sequences of a batch.
SIZES = {
    "tiny": (Config(512, 128, 256, 2, 8, 4, 128), 4, 8, 8),
    "8B": (Config(128_256, 4096, 14_336, 32, 32, 8, LENGTH), 32, 64, 64),
    "70B": (Config(128_256, 8192, 28_672, 80, 64, 8, LENGTH), 80, 512, 512),
}
# Each layout: the rules, and how many devices are the axis "model".
LAYOUTS = {
    "fsdp": (fsdp("data"), 1),
    "tensor parallel": (tensor_parallel("model"), 8),
    "both": (tensor_parallel("model", fsdp="data"), 8),
}


def build(layers: int, size: str, recompute: bool) -> tuple[Callable[..., torch.Tensor], tuple[Any, ...]]:
    """The step of a stack of so many layers, and its batch: on the device "meta", which is the default here."""
    config, _, _, batch = SIZES[size]
    model = Llama(Config(**{**vars(config), "layers": layers}))
    model.embedding.register_forward_hook(lambda module, inputs, x: tenax.shard(x, P("data")))
    if recompute:
        for layer in model.layers:
            layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

    def step(tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        with torch.autocast("jax", torch.bfloat16):
            logits = model(tokens, torch.arange(config.length, device=tokens.device))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    tokens = torch.zeros(batch, config.length, dtype=torch.long)
    return step, (tokens, tokens)


def planned(size: str, layout: str, chip: str | None, target: str | None = None, recompute: bool = False) -> StepPlan:
    """The plan of a model in a layout."""
    _, layers, devices, _ = SIZES[size]
    if target is not None:
        devices = len(tenax.target(target).devices)
    rules, model = LAYOUTS[layout]
    mesh = {"data": devices // model, "model": model}
    return plan(partial(build, size=size, recompute=recompute), mesh, rules, chip=chip, layers=layers, target=target)


def comparison(plans: dict[str, StepPlan]) -> rich.table.Table:
    """A row for each layout."""
    table = rich.table.Table(
        "layout", "mesh", "weights", "optimizer", "temporaries", "of memory", "at least", "bound by"
    )
    for layout, found in plans.items():
        memory, times = found.memory, found.times
        assert times is not None and found.chip is not None
        bound, seconds = max(times._asdict().items(), key=lambda item: item[1])
        table.add_row(
            layout,
            ", ".join(map(str, found.mesh.values())),
            *(f"{amount / 1e9:.2f} GB" for amount in (memory.weights, memory.optimizer, memory.temporaries)),
            f"{memory.total / found.chip.memory:.0%}",
            f"{seconds:.2f} s",
            bound,
        )
    return table


def main() -> None:
    """Compare the layouts; show the plan of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="8B")
    parser.add_argument("--layout", choices=LAYOUTS, help="only this one")
    parser.add_argument("--chip", help="for the times; by default H100, or that of the target")
    parser.add_argument("--target", help='devices whose compiler compiles the step, such as "TPU v5p:4x4x4"')
    parser.add_argument("--recompute", action="store_true", help="checkpoint the activations of each layer")
    options = parser.parse_args()
    plans = {}
    for layout in [options.layout] if options.layout else LAYOUTS:
        chip = options.chip or (None if options.target else "H100")
        plans[layout] = found = planned(options.size, layout, chip, options.target, options.recompute)
        rich.print(found, f"compiled in {found.seconds:.0f} s")
    rich.print(comparison(plans))


if __name__ == "__main__":
    main()

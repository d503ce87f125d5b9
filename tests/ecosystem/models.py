"""Train models of transformers and timm on the CPU and on the device: `python -m tests.ecosystem.models`.

Each model is small, has random weights, and takes two steps of SGD in a process of its own: eagerly, in lazy mode and
as one program of `tenax.jit`. The error is the largest difference of a loss or a trained parameter, relative to the
largest value of that tensor, or to 1e-3. `--only WORD,WORD` selects by name, `--write` keeps the results and writes
docs/ecosystem.md. The exit status is 1 if a model fails or disagrees.
"""

from __future__ import annotations

import contextlib
import copy
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from tests.ecosystem import architectures, model_page
from tests.ecosystem.command import keep, parser, selected
from tests.ecosystem.model_page import MODES, Model
from tests.ecosystem.page import ROOT, version
from tests.ecosystem.program import ALLOWED, difference

# Those of `architectures` that are trained; `python -m tests.ecosystem.families` compiles the others too.
TRANSFORMERS = (
    "llama",
    "qwen3",
    "gemma2",
    "mixtral",
    "gpt2",
    "gpt_neox",
    "mamba",
    "bert",
    "distilbert",
    "t5",
    "bart",
    "vit",
    "convnext",
    "swin",
)
TIMM = ("resnet10t", "mobilenetv3_small_050", "regnetx_002")
# Some tensors are zero but for rounding, such as the mean that a batch norm sees after another one: 1e-17 in float64.
LEAST = 1e-3

Loss = Callable[[torch.nn.Module, dict[str, torch.Tensor]], torch.Tensor]


def from_transformers(name: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor], Loss]:
    """A model of transformers without dropout, a batch, and its loss."""
    model = architectures.built(name)
    return model, architectures.batch(model, 8), architectures.loss


def from_timm(name: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor], Loss]:
    """A model of timm, a batch, and its loss."""
    import timm

    model = timm.create_model(name, num_classes=5)
    # With images of 32 pixels the last batch norms see four values, and float32 is 1e-2 from float64 on the CPU.
    batch = {"x": torch.randn(4, 3, 64, 64), "y": torch.tensor([0, 4, 1, 2])}
    return model, batch, lambda m, b: torch.nn.functional.cross_entropy(m(b["x"]), b["y"])


def make(name: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor], Loss]:
    """The model of a name such as `timm/resnet10t`."""
    library, _, model = name.partition("/")
    return from_timm(model) if library == "timm" else from_transformers(model)


def trained(model: torch.nn.Module, batch: dict[str, torch.Tensor], loss: Loss, mode: str) -> Any:
    """The losses of two steps of SGD, and the trained state."""
    import tenax

    device = "cpu" if mode == "cpu" else "jax"
    model = copy.deepcopy(model).train().to(device)
    batch = {key: x.to(device) for key, x in batch.items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        value = loss(model, batch)
        value.backward()
        optimizer.step()
        return value.detach()

    run = tenax.jit(step) if mode == "jit" else step
    with tenax.lazy() if mode == "lazy" else contextlib.nullcontext():
        losses = torch.stack([run() for _ in range(2)])
    return losses, [x.detach() for x in model.state_dict().values() if x.is_floating_point()]


def one(name: str, modes: tuple[str, ...] = MODES) -> dict[str, float]:
    """The errors of one model by mode."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    model, batch, loss = make(name)
    expected = trained(model, batch, loss, "cpu")
    return {mode: difference(trained(model, batch, loss, mode), expected, LEAST) for mode in modes}


def run(name: str) -> Model:
    """Train one model in a process of its own."""
    library, _, model = name.partition("/")
    installed = version(library) or ""
    if not installed:
        return Model(library, model, "", "not installed")
    began = time.perf_counter()
    command = [sys.executable, "-m", "tests.ecosystem.models", "--one", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    seconds = round(time.perf_counter() - began)
    if done.returncode:
        reason = " ".join(done.stderr.strip().splitlines()[-1:])[:200]
        return Model(library, model, installed, f"fails: {reason}", {}, seconds)
    errors = json.loads(done.stdout.splitlines()[-1])
    worst = max(errors.values())
    return Model(library, model, installed, "agrees" if worst < ALLOWED else "differs", errors, seconds)


NAMES = (*(f"transformers/{name}" for name in TRANSFORMERS), *(f"timm/{name}" for name in TIMM))


def _key(row: Model) -> tuple[str, str]:
    return row.library, row.model


def main() -> None:
    """Train every model, print the table."""
    arguments = parser("tests.ecosystem.models", __doc__, "Select by words of names, with commas between.")
    arguments.add_argument("--one", choices=NAMES, help="Train one model in this process, and print the errors.")
    options = arguments.parse_args()
    if options.one:
        print(json.dumps(one(options.one)))
        return
    table = Table("library", "model", "version", "result", *MODES, "s")
    found = []
    for name in selected(arguments, NAMES, options.only):
        found.append(run(name))
        print(*found[-1].cells, flush=True)
    for row in found:
        table.add_row(*row.cells)
    Console().print(table)
    if options.write:
        keep(model_page, {_key(row): row for row in found}, _key, bool(options.only))
    sys.exit(any(row.result not in ("agrees", "not installed") for row in found))


if __name__ == "__main__":
    main()

"""The recorded results, and docs/ecosystem.md, which is made from them."""

from __future__ import annotations

import dataclasses
import datetime
import importlib.metadata
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.ecosystem import family_page, images, model_page, sequences, suite_page  # noqa: F401  (two fill the table of classics)
from tests.ecosystem.program import CLASSICS

ROOT = Path(__file__).parent.parent.parent
RESULTS = Path(__file__).with_name("results.json")
PAGE = ROOT / "docs/ecosystem.md"
UNIMPORTABLE = "cannot be imported"

_TRAINERS = (
    ", and as written for PyTorch/XLA: `tests/integrations/test_trainers.py`, `tests/compat/torch_xla/test_scripts.py`"
)
# What a row does, and what is to be known about it.
PROGRAMS = {
    "accelerate": "`Accelerator` in float32, bf16, fp16 and compiled" + _TRAINERS,
    "captum": "integrated gradients and DeepLift",
    "diffusers": "two steps of a denoising `UNet2DModel` with `DDPMScheduler`",
    "einops": "`rearrange`, `reduce`, `einsum`",
    "gpytorch": "an exact Gaussian process is fitted and queried",
    "lightning": "`Trainer`, `Fabric` and the compiled strategy" + _TRAINERS,
    "opacus": "per-sample gradients",
    "peft": "a Llama with DoRA is trained and merged",
    "pyro-ppl": "the log density of a conditioned model",
    "pytorch-ignite": "a supervised trainer and a metric",
    "safetensors": 'tensors are saved from the device; `load_file(device="jax")` and `load_model` load them onto it',
    "sentence-transformers": "`SentenceTransformerTrainer` with a ranking loss",
    "skorch": "`NeuralNetClassifier`",
    "stable-baselines3": "DQN plays CartPole for 64 steps. Algorithms that sample actions, such as A2C, choose "
    "different actions than on the CPU, because the device draws different random numbers",
    "tensordict": "`TensorDict` and `TensorDictModule`",
    "timm": "two steps of `resnet10t`",
    "torch-geometric": "graph convolutions and graph attention train",
    "torchdiffeq": "the adjoint method trains a field",
    "torchmetrics": "accuracy, F1 score and AUROC",
    "torchvision": "`nms`, `roi_align`, `deform_conv2d`. Its wheel must match the build of torch: install both "
    "from the same index",
    "transformers": "`Trainer` in bf16 and `CompiledTrainer`" + _TRAINERS,
    "vit-pytorch": "NaViT trains on images of different sizes, by attention of jagged tensors",
    "x-transformers": "a decoder with rotary positions trains",
}
HEAD = (
    "# Other libraries on the device\n\n"
    "`make ecosystem` installs the extra `ecosystem` into a separate environment and runs a small program for each "
    "library on the CPU and on the device, from the same seed and each in its own process. It uses PyPI's builds of "
    "torch and torchvision, which match each other and bring about 3 GB of CUDA libraries; no GPU is needed. The error "
    "is the largest difference in a result or a trained parameter, relative to the largest value of that tensor; a row "
    "agrees if it is below 1e-3. The libraries are unmodified, except for the changes to trainers listed in "
    "[side-effects.md](side-effects.md). `python -m tests.ecosystem --write` writes this page.\n"
)
CLASSIC_HEAD = (
    "## Programs of a few lines\n\n"
    "Programs in the style of [pytorch/examples](https://github.com/pytorch/examples), on synthetic data, compared in "
    "the same way. They need only torch. Random numbers are drawn on the CPU, because the device draws different "
    "ones.\n"
)


@dataclasses.dataclass(frozen=True)
class Row:
    """The result of one library's program."""

    library: str
    version: str
    result: str
    error: float | None = None
    seconds: int | None = None

    @property
    def digits(self) -> str:
        return "" if self.error is None else f"{self.error:.1e}"


def version(library: str) -> str | None:
    """The installed release of a library, or None."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


def environment(kept: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Where and when the programs ran; beside kept results of other rows, on which days.

    Raises:
        RuntimeError: the kept results are those of other releases.
    """
    libraries = {name: version(name) or "" for name in ("torch", "jax", "numpy")}
    found = {"date": datetime.date.today().isoformat(), "python": platform.python_version(), **libraries}
    if kept is None:
        return found
    other = [f"{name} {kept[name]}" for name in found if name != "date" and kept[name] != found[name]]
    if other:
        raise RuntimeError(f"the kept results were recorded with {', '.join(other)}; expected a run of every row")
    return {**found, "date": " and ".join(sorted({*kept["date"].split(" and "), found["date"]}))}


def write(path: Path, where: Mapping[str, str], rows: Mapping[str, Row]) -> None:
    """Keep results."""
    found = {**where, "rows": [dataclasses.asdict(rows[name]) for name in sorted(rows)]}
    path.write_text(json.dumps(found, indent=1) + "\n")


def read() -> dict[str, Any]:
    """The kept results; the rows are objects."""
    found = json.loads(RESULTS.read_text())
    return {**found, "rows": [Row(**row) for row in found["rows"]]}


def page() -> str:
    """The page of the kept results."""
    found = read()
    lines = [
        HEAD,
        f"Recorded on {found['date']} with Python {found['python']}, torch {found['torch']}, jax {found['jax']} and "
        f"numpy {found['numpy']} on CPUs. Seconds include the imports, and the run on the CPU.\n",
        "| library | release | program | result | relative error | s |",
        "| --- | --- | --- | --- | ---: | ---: |",
    ]
    for row in found["rows"]:
        if row.library in PROGRAMS:
            lines.append(line(row.library, row.version, PROGRAMS[row.library], row.result, row.digits, row.seconds))
    lines += [f"\n{CLASSIC_HEAD}", "| program | what it does | result | relative error | s |"]
    lines.append("| --- | --- | --- | ---: | ---: |")
    for row in found["rows"]:
        if row.library in CLASSICS:
            lines.append(line(row.library, CLASSICS[row.library], row.result, row.digits, row.seconds))
    return "\n".join([*lines, "", model_page.section(), family_page.section(), suite_page.section()])


def line(*cells: str | int | None) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join('' if cell is None else str(cell) for cell in cells)} |"

"""The chart of README: a training step, and its first call, under tenax.jit and beside three references.

`python benchmarks/chart.py --write` measures the models of `models/` on the CPU and stores the figures in
benchmarks/results/steps.json; without `--write`, docs/images/steps.svg is drawn from the stored figures. The references
are the program written by hand in JAX with optax, CPU torch, and torch.compile on the CPU (Inductor). The caches of
tenax and of Inductor are empty at the first call of each model.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tables
import torch
from clock import interleaved
from models.cases import CASES, Case
from models.training import train_step

import tenax

ROOT = Path(__file__).parent.parent
RESULTS, CHART = ROOT / "benchmarks" / "results" / "steps.json", ROOT / "docs" / "images" / "steps.svg"
MODELS = ("ResNet-18", "GPT, 4 layers", "GPT, 12 layers", "LSTM")
WRITINGS = ("tenax.jit", "JAX by hand", "CPU torch", "torch.compile")
COLORS = ("#d9480f", "#1971c2", "#868e96", "#ae3ec9")
INK = "#6e7781"  # of text and axes: legible on a white ground and on a dark one


def on_cpu(case: Case, compiled: bool) -> Callable[[], Any]:
    """The training step on CPU torch."""
    torch.manual_seed(0)
    module = case.module()
    x, target = case.batch()
    step = train_step(module, case.optimizer(module.parameters()))
    call = torch.compile(step) if compiled else step
    return lambda: call(x, target)


def measure(case: Case, seconds: float) -> dict[str, dict[str, float]]:
    """Milliseconds of a step and seconds of the first call, by contender."""
    from models.programs import by_hand, in_torch

    makers: dict[str, Callable[[], Callable[[], Any]]] = {
        "tenax.jit": lambda: in_torch(case, "training step", "tenax").call,
        "JAX by hand": lambda: by_hand(case, "training step").call,
        "CPU torch": lambda: on_cpu(case, False),
        "torch.compile": lambda: on_cpu(case, True),
    }
    calls, first = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TENAX_CACHE_DIR": f"{folder}/tenax", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
        for name, make in makers.items():
            calls[name] = make()
            started = time.perf_counter()
            calls[name]()
            first[name] = time.perf_counter() - started
    steps = interleaved(calls, seconds)
    return {name: {"step_ms": steps[name] / 1e3, "first_s": first[name]} for name in WRITINGS}


def draw() -> None:
    """Draw the stored figures: a step relative to JAX by hand, and the first call in seconds."""
    import matplotlib as mpl

    ink = dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    mpl.rcParams |= {"svg.hashsalt": "tenax", "svg.fonttype": "none", "font.size": 12, **ink}
    from matplotlib import pyplot

    stored = json.loads(RESULTS.read_text())
    figure, axes = pyplot.subplots(2, 1, figsize=(6.6, 6), layout="constrained")
    models = list(stored["models"])
    for number, (name, color) in enumerate(zip(WRITINGS, COLORS, strict=True)):
        places = [i + (number - 1.5) * 0.2 for i in range(len(models))]
        rows = [stored["models"][m] for m in models]
        relative = [r[name]["step_ms"] / r["JAX by hand"]["step_ms"] for r in rows]
        bars = axes[0].bar(places, relative, 0.19, color=color, label=name)
        axes[0].bar_label(bars, [f"{r[name]['step_ms']:.0f}" for r in rows], fontsize=9)
        bars = axes[1].bar(places, [r[name]["first_s"] for r in rows], 0.19, color=color, label=name)
        axes[1].bar_label(bars, [f"{_short(r[name]['first_s'])}" for r in rows], fontsize=9)
    titles = "a training step, ms; JAX by hand = 1 (lower is better)", "the first step, s (lower is better)"
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, fontsize=12, loc="left")
        axis.set_xticks(range(len(models)), models, fontsize=11)
        axis.spines[["top", "right"]].set_visible(False)
    axes[1].set_yscale("log")
    axes[1].yaxis.set_major_formatter("{x:g}")
    axes[0].legend(
        frameon=False,
        fontsize=10,
        ncols=len(WRITINGS),
        loc="upper center",
        bbox_to_anchor=(0.46, 1.36),
        handlelength=1,
        columnspacing=1,
    )
    figure.text(0.005, -0.03, stored["machine"], fontsize=9)
    figure.savefig(CHART, bbox_inches="tight", transparent=True, metadata={"Date": None})


def _short(seconds: float) -> str:
    return f"{seconds:.1g}" if seconds < 0.1 else f"{seconds:.2g}"


def main() -> None:
    """Measure and draw, or draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Measure, and store the figures.")
    parser.add_argument("--seconds", type=float, default=10.0, help="Seconds of run time per model.")
    options = parser.parse_args()
    if options.write:
        load = f", load {os.getloadavg()[0]:.0f}" if os.getloadavg()[0] > 1.5 else ""
        versions = f"tenax {tenax.__version__}, torch {torch.__version__}"
        described = f"{tables.machine()}{load}, {versions}, {datetime.date.today()}"
        figures = {case.name: measure(case, options.seconds) for case in CASES if case.name in MODELS}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({"machine": described, "models": figures}, indent=1) + "\n")
    draw()


if __name__ == "__main__":
    main()

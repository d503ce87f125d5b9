"""Compile models of transformers for a device that need not exist: `python -m tests.ecosystem.families`.

The forward pass and a training step of each, with heads of 64, in a process of its own that ends after `--limit`
seconds. The columns are seconds, kernels by name, 64-bit values (without arguments, such as labels) and copies of the
optimized program. The exit status is 1 if a program does not compile that is recorded to compile, or is not recorded.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from tests.ecosystem.architectures import architectures, batch, built, loss
from tests.ecosystem.command import parser, selected
from tests.ecosystem.family_page import keep, lost
from tests.ecosystem.page import PAGE, ROOT, environment, page

PROGRAMS = ("forward", "step")
_INSTRUCTION = re.compile(r"^ +(?:ROOT )?%\S+ = (.*?) ([\w-]+)\(", re.M)
_WIDE = re.compile(r"\b([a-z]+(?:64|128))\[")
_KERNEL = re.compile(r'custom_call_target="(?:tpu_custom_call|__cudnn\$[^"]*)".*op_name="([^"]*)"')
# What a kernel computes, by a word of its name in the program.
_COMPUTES = {"attention": "attention", "fmha": "attention", "flash": "attention", "ragged_dot": "grouped product"}

Step = Callable[[dict[str, Any]], torch.Tensor]


def forward_of(model: Any) -> Step:
    """The loss of a model, without derivatives."""
    return torch.no_grad()(functools.partial(loss, model.eval()))


def step_of(model: Any) -> Step:
    """A training step with AdamW."""
    optimizer = torch.optim.AdamW(model.parameters())

    def step(inputs: dict[str, Any]) -> torch.Tensor:
        optimizer.zero_grad()
        value = loss(model, inputs)
        value.backward()
        optimizer.step()
        return value.detach()

    return step


def found_in(text: str) -> dict[str, Any]:
    """What is counted in an optimized program."""
    instructions = _INSTRUCTION.findall(text)
    kernels = [
        next((what for word, what in _COMPUTES.items() if word in name), name.rpartition("/")[2])
        for name in _KERNEL.findall(text)
    ]
    wide = [match[1] for kind, op in instructions if op != "parameter" and (match := _WIDE.search(kind))]
    return {
        "kernels": Counter(kernels),
        "wide": Counter(wide),
        "copies": sum(op == "copy" for _, op in instructions),
    }


def one(name: str, target: str, dtype: str, length: int) -> None:
    """Compile the programs of one model, and print what was counted, a line for each."""
    import tenax

    warnings.simplefilter("ignore")
    for make in (forward_of, step_of):
        torch.manual_seed(0)
        with torch.device("meta"):
            model = built(name, 64, length).to(getattr(torch, dtype))
            inputs = batch(model, length)
        sounds = ("input_features", "input_values", "pixel_values")
        inputs = {key: x.to(model.dtype) if key in sounds else x for key, x in inputs.items()}
        try:
            program = tenax.compile_for(make(model), inputs, target=target)
        except Exception as error:
            traceback.print_exc()
            found = {"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}
        else:
            found = {"seconds": round(program.seconds, 1), **found_in(program.text)}
        print(json.dumps(found), flush=True)


def run(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Compile the programs of one model in a process of its own."""
    command = [sys.executable, "-m", "tests.ecosystem.families", "--one", name, "--target", options.target]
    command += ["--dtype", options.dtype, "--length", str(options.length)]
    with tempfile.TemporaryFile("w+") as printed:
        try:
            code = subprocess.run(
                command, stdout=printed, stderr=subprocess.DEVNULL, cwd=ROOT, timeout=options.limit
            ).returncode
            missing = f"the process ended with {code}"
        except subprocess.TimeoutExpired:
            missing = f"more than {options.limit:.0f} s"
        printed.seek(0)
        found = [json.loads(line) for line in printed if line.startswith("{")]
    return [*found, *({"error": missing} for _ in PROGRAMS[len(found) :])]


def cells(found: dict[str, Any]) -> tuple[str, ...]:
    """A result as the cells of a row."""
    if "error" in found:
        return "", found["error"], "", ""
    counted = (", ".join(f"{count} {kind}" for kind, count in found[key].items()) for key in ("kernels", "wide"))
    return str(found["seconds"]), *counted, str(found["copies"])


def main() -> None:
    """Compile every model, print the table."""
    names = tuple(architectures())
    words = "Select by words of names, with commas between."
    arguments = parser("tests.ecosystem.families", __doc__, words)
    arguments.add_argument("--target", default="TPU v5e", help="As of tenax.target.")
    arguments.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float32"))
    arguments.add_argument("--length", type=int, default=256, help="Tokens of a text, or patches of an image.")
    arguments.add_argument("--limit", type=float, default=180, help="Seconds for each model.")
    arguments.add_argument("--one", choices=names, help="Compile one model in this process.")
    options = arguments.parse_args()
    if options.one:
        one(options.one, options.target, options.dtype, options.length)
        return
    table = Table("model", "program", "s", "kernels", "64-bit values", "copies")
    key = f"{options.target}, {options.dtype}, {options.length}"
    failed = False
    for name in selected(arguments, names, options.only):
        programs = run(name, options)
        failed |= lost(key, name, programs)
        if options.write:
            keep(key, name, {each: environment()[each] for each in ("date", "torch", "jax")}, programs)
            PAGE.write_text(page())
        for which, found in zip(PROGRAMS, programs, strict=True):
            print(name, which, *cells(found), sep=" | ", flush=True)
            table.add_row(name, which, *cells(found))
    Console().print(table)
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""The command `tenax`. It imports neither torch nor JAX before a command needs them."""

from __future__ import annotations

import importlib
import platform
from importlib.metadata import PackageNotFoundError, version

import typer
from rich.console import Console
from rich.table import Table

# Commands of other modules, imported when they are asked for: name, module that holds `app`, help.
MOUNTED = {
    "codegen": ("tenax.codegen.cli", "Render ops_spec/ to generated/; see also python -m tenax.codegen."),
    "coverage": ("tenax.coverage.cli", "Run torch's OpInfo database on the device and show what passes."),
}


app = typer.Typer(help="JAX as a PyTorch device.", no_args_is_help=True, add_completion=False)
# A mounted command gets its arguments as they are, `--help` included.
_FORWARD = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def _mount(name: str, module: str, text: str) -> None:
    @app.command(name, help=text, context_settings=_FORWARD)
    def forward(context: typer.Context) -> None:
        importlib.import_module(module).app(args=context.args, prog_name=f"tenax {name}")


for _name, (_module, _text) in MOUNTED.items():
    _mount(_name, _module, _text)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _device() -> str:
    """One op on the device, or what went wrong."""
    try:
        import torch

        import tenax  # noqa: F401

        total = (torch.ones(2, 2, device="jax") @ torch.ones(2, 2, device="jax")).sum().item()
        import jax

        held = ", ".join(f"jax:{i} = {d.device_kind}" for i, d in enumerate(jax.devices()))
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"
    return f"works: {held}" if total == 8 else f"failed: a 2x2 matmul of ones summed to {total}; expected 8"


def _lowerings() -> str:
    try:
        table = importlib.import_module("tenax.generated.table")
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"
    return f"{len(table.ROWS)} overloads, {len(table.UNSUPPORTED)} unsupported with a reason"


@app.command()
def doctor() -> None:
    """Say what is installed and whether the device works; exit 1 when it does not."""
    device, lowerings = _device(), _lowerings()
    table = Table(show_header=False, box=None)
    for name, value in (
        ("python", platform.python_version()),
        *((package, _version(package)) for package in ("tenax", "torch", "jax", "jaxlib", "numpy")),
        ("lowerings", lowerings),
        ("device jax", device),
    ):
        table.add_row(name, value)
    Console().print(table)
    raise typer.Exit(1 if "failed" in device + lowerings else 0)

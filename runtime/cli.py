"""The command `tenax`. It imports torch and JAX only when a command needs them."""

from __future__ import annotations

import importlib
import os
import platform
import runpy
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from ._torch import NAME

# Commands of other modules, imported when they are called: name, module with an `app`, help.
MOUNTED = {
    "codegen": ("tenax.codegen.cli", "Render ops_spec/ to generated/; see also python -m tenax.codegen."),
    "coverage": ("tenax.coverage.cli", "Run torch's own test databases on the device and compare with CPU torch."),
}

# Libraries that tenax has special support for; all are optional.
INTEGRATIONS = "accelerate equinox flax lightning optax orbax-checkpoint torchvision transformers".split()

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
# A mounted command receives its arguments unchanged, including `--help`.
_FORWARD = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tenax {_version('tenax')}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """JAX as a PyTorch device."""


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


def _failed(error: Exception) -> str:
    """An error as text; JAX's for a platform that is not there has none of its own."""
    platforms = os.environ.get("JAX_PLATFORMS")
    return f"failed: {type(error).__name__}: {str(error) or f'with JAX_PLATFORMS={platforms}'}"


def _device() -> str:
    """Run one op on the device, and return a text that starts with "works" or "failed"."""
    try:
        import torch

        import tenax  # noqa: F401

        total = (torch.ones(2, 2, device=NAME) @ torch.ones(2, 2, device=NAME)).sum().item()
        import jax

        devices = ", ".join(f"{NAME}:{i} = {d.device_kind}" for i, d in enumerate(jax.devices()))
    except Exception as error:
        return _failed(error)
    return f"works: {devices}" if total == 8 else f"failed: a 2x2 matmul of ones summed to {total}; expected 8"


def _accelerator() -> str:
    """The platform that JAX uses, with a hint on installing others."""
    import jax

    try:
        platform_, count = jax.default_backend(), jax.device_count()
    except Exception as error:
        return _failed(error)
    devices = f"{count} device{'s' * (count != 1)}"
    if platform_ == "cpu":
        return f"none: {devices} on the CPU; tenax[cuda] and tenax[tpu] install JAX for a GPU or TPU"
    return f"{platform_}, {devices}"


def _cuda() -> str:
    """Report whether the installed CUDA packages fit each other, JAX and the driver."""
    from .doctor import cuda_faults, driver, installed

    faults = cuda_faults(installed(), driver())
    return f"failed: {'; '.join(faults)}" if faults else f"driver {driver() or 'not installed'}"


def _integrations() -> str:
    """The installed libraries that tenax works with, and their versions."""
    found = {name: _version(name) for name in INTEGRATIONS}
    return ", ".join(f"{name} {text}" for name, text in found.items() if text != "not installed") or "none installed"


def _lowerings() -> str:
    try:
        table = importlib.import_module("tenax.generated.table")
    except Exception as error:
        return _failed(error)
    return f"{len(table.ROWS)} overloads in the specs, {len(table.UNSUPPORTED)} unsupported with a reason"


def _allocator() -> str:
    from ._torch.device import use_meta_allocator

    missing = "this build of torch does not export libc10's; C++ code that asks for one may end the process"
    return "torch's Meta allocator" if use_meta_allocator() else missing


def _private_names() -> str:
    """Report whether torch and JAX have every private name that tenax uses."""
    from ._torch.attributes import ATTRIBUTES
    from .doctor import broken_names

    broken = broken_names()
    attributes = sum(map(len, ATTRIBUTES.values()))
    return f"failed: {'; '.join(broken)}" if broken else f"every module of the seams, {attributes} attributes"


def _compiler_options() -> str:
    """Report which of XLA's options the installed release lacks."""
    from ._jax import OPTIONS, missing_options

    missing = {name: OPTIONS[name] for name in sorted(missing_options())}
    text = "; ".join(f"{name} is missing: {option.without}" for name, option in missing.items())
    return f"{'' if all(o.is_optional for o in missing.values()) else 'failed: '}{text}" or f"all {len(OPTIONS)}"


def _changes() -> str:
    """Report whether the installed patches and registrations match the table of changes."""
    from .changes import ENTRIES, PATCHES
    from .doctor import broken_entries, broken_patches

    broken = broken_patches() + broken_entries()
    attributes = sum(len(patch.paths) for patch in PATCHES)
    return f"failed: {'; '.join(broken)}" if broken else f"{attributes} attributes, {len(ENTRIES)} registrations"


def _settings() -> Iterator[tuple[str, str]]:
    """The environment of a program: accelerator, libraries, the cache of executables, JAX's default dtypes."""
    import jax

    from .xla import folder, housekeeping

    yield "accelerator", _accelerator()
    yield "libraries", _integrations()
    location = folder.location()
    kept = f"{_programs(housekeeping.usage(location))} in {location}" if location else "off (TENAX_CACHE=0)"
    yield "cache", kept
    wide = "64" if jax.config.read("jax_enable_x64") else "32"
    yield "x64", f"explicit dtypes are kept, including int64 and float64; JAX's default is {wide} bits"


@app.command()
def doctor(
    xla: Annotated[Path | None, typer.Option(help="Script whose uses of torch_xla to list.", exists=True)] = None,
) -> None:
    """Show the installed versions and check that the device works; exit 1 if it does not.

    With --xla, list instead the PyTorch/XLA names that a script uses and whether they work; exit 1 if one does not.
    """
    if xla is not None:
        _torch_xla_names(xla)
        return
    device, lowerings = _device(), _lowerings()
    checks = {"lowerings": lowerings, f"device {NAME}": device, "CUDA": _cuda()}
    if "failed" not in device:
        checks |= {"allocator": _allocator(), "private names": _private_names(), "changes": _changes()}
        checks["compiler options"] = _compiler_options()
    table = Table(show_header=False, box=None)
    for name, value in (
        ("python", platform.python_version()),
        *((package, _version(package)) for package in ("tenax", "torch", "jax", "jaxlib", "numpy")),
        *checks.items(),
        *_settings(),
    ):
        table.add_row(name, escape(value))
    Console().print(table)
    raise typer.Exit(1 if any("failed" in value for value in checks.values()) else 0)


cache = typer.Typer(help="Manage the compiled programs cached for later processes.", no_args_is_help=True)
app.add_typer(cache, name="cache")


@cache.command()
def info() -> None:
    """Show the folder, number and size of the cached programs."""
    from .xla import folder, housekeeping

    kept = housekeeping.usage(folder.location())
    typer.echo(folder.location() or "nowhere (TENAX_CACHE=0)")
    typer.echo(f"{_programs(kept)}; limit {folder.limit() / 2**20:.0f} MiB (TENAX_CACHE_SIZE)")


@cache.command()
def clear() -> None:
    """Delete all cached programs."""
    from .xla import folder, housekeeping

    typer.echo(f"deleted {_programs(housekeeping.clear(folder.location()))}")


def _programs(usage: tuple[int, int]) -> str:
    count, size = usage
    return f"{count} program{'s' * (count != 1)}, {size / 2**20:.1f} MiB"


def _names_module(context: typer.Context, words: list[str]) -> bool:
    """Whether a command line starts with `-m`; exit if it names no program."""
    module = words[:1] == ["-m"]
    if len(words) <= module or words == ["--help"]:
        typer.echo(context.get_help())
        raise typer.Exit(0 if words == ["--help"] else 2)
    if not module and not Path(words[0]).is_file():
        raise typer.BadParameter(f"{words[0]!r}: there is no such script")
    return module


@app.command(context_settings=_FORWARD)
def xla(context: typer.Context) -> None:
    """Run an unmodified program that imports torch_xla, which need not be installed, on the device.

    `tenax xla script.py args...`, or `tenax xla -m module args...`. `tenax doctor --xla script.py` lists the names that
    it uses and whether they work, and `tenax xla --names` all names.
    """
    if context.args == ["--names"]:
        typer.echo(importlib.import_module("tenax.compat.torch_xla.table").markdown())
        raise typer.Exit
    _names_module(context, context.args)
    from .compat.torch_xla.script import run

    run(context.args)


def _torch_xla_names(path: Path) -> None:
    from .compat.torch_xla.report import uses

    found = uses(path.read_text(encoding="utf-8"), str(path))
    # A terminal that is too narrow must not hide the end of a text.
    columns = [Column("line", no_wrap=True), *(Column(name, overflow="fold") for name in ("name", "status", "tenax"))]
    table = Table(*columns, box=None)
    for use in found:
        table.add_row(str(use.line), use.name, escape(use.status), escape(use.tenax.replace("`", "")))
    Console().print(table)
    raise typer.Exit(0 if all(use.runs for use in found) else 1)


@app.command(context_settings=_FORWARD)
def run(context: typer.Context) -> None:
    """Run a program with the device registered, and selected in trainers that use Accelerate.

    `tenax run script.py args...`, or `tenax run -m module args...`. With `--torchax` before these, `import torchax`
    resolves to tenax.compat.torchax; with `--device-name tpu`, the device has that name (TENAX_DEVICE).
    """
    words = context.args
    if words[:1] == ["--device-name"] and len(words) > 1:
        if words[1] != NAME:  # which the import of tenax has used
            os.environ["TENAX_DEVICE"] = words[1]
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
        words = words[2:]
    torchax = words[:1] == ["--torchax"]
    words = words[torchax:]
    module = _names_module(context, words)
    os.environ.setdefault("ACCELERATE_TORCH_DEVICE", NAME)
    home = importlib.import_module("tenax.compat.torchax" if torchax else "tenax")
    if torchax:
        home.install()
    sys.argv = words[module:]
    if module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(words[0]).resolve().parent))
        runpy.run_path(words[0], run_name="__main__")


@app.command()
def changes() -> None:
    """Print the changes that tenax makes to torch and JAX, as Markdown."""
    from .doctor import page

    typer.echo(page())


@app.command("compile")
def compile_(
    build: Annotated[str, typer.Argument(help="module:function that returns a step and a tuple of its arguments.")],
    target: Annotated[str, typer.Option(help='The devices, such as "TPU v5e:4x4".')],
    mesh: Annotated[str, typer.Option(help="Axes over all devices: data=4,model=4; otherwise one device.")] = "",
    fsdp: Annotated[str, typer.Option(help="The axis over which weights are split for data parallelism.")] = "",
    tensor_parallel: Annotated[str, typer.Option(help="The axis over which projections are split.")] = "",
) -> None:
    """Compile a step for devices that need not exist, and show memory, kernels and collectives of the program.

    The function is called with "meta" as the default device, so that nothing is allocated.
    """
    import torch

    import tenax

    module, _, name = build.partition(":")
    sizes = {axis: int(size) for axis, _, size in (part.partition("=") for part in mesh.split(",") if part)}
    rules: Any = tenax.sharding.fsdp(fsdp) if fsdp else {}
    if tensor_parallel:
        rules = tenax.sharding.tensor_parallel(tensor_parallel, fsdp=fsdp or None)
    sys.path.insert(0, "")
    with torch.device("meta"):
        step, arguments = getattr(importlib.import_module(module), name)()
    Console().print(tenax.compile_for(step, *arguments, target=target, mesh=sizes, rules=rules))

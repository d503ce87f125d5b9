"""The checks of `tenax doctor`, and the table that `tenax changes` prints."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from ._torch import NAME
from .changes import ENTRIES, PATCHES, Patch, When
from .releases import TESTED

_NARROWER = (
    "Changes for process groups, trainers, torchax and PyTorch/XLA, and those of signals and of Dynamo, were made with "
    "torch 2.13 alone so far."
)


def broken_names() -> list[str]:
    """The private names of torch and JAX that the installed releases lack."""
    from . import _torch

    broken = []
    modules = [f"{_torch.__name__}.{m.name}" for m in pkgutil.iter_modules(_torch.__path__)]
    for module in (*modules, f"{__package__}._jax"):
        try:
            importlib.import_module(module)
        except ImportError as error:
            broken.append(str(error))
    from ._torch.attributes import missing_attributes

    return broken + [f"{path} is missing" for path in missing_attributes()]


def broken_patches() -> list[str]:
    """The patches that are not in effect. The process must have created a device tensor before."""
    return [f"{path}: {fault}" for patch in PATCHES if patch.is_installed for path, fault in _faults(patch)]


def _faults(patch: Patch) -> Iterator[tuple[str, str]]:
    from ._torch.attributes import has_attribute
    from .patches import replaced

    try:
        owner = pkgutil.resolve_name(patch.owner)
    except (ImportError, AttributeError) as error:
        yield patch.owner, f"is missing ({error})"
        return
    ours = replaced()
    made = (
        not {When.IMPORT, When.JAX, When.FLEX, When.JAGGED, When.TENSOR}.isdisjoint(patch.when) and not patch.by_torch
    )
    for path in patch.paths:
        name = path.rpartition(".")[2]
        if made and path not in ours and not patch.optional:
            yield path, "was not replaced"
        elif path in ours and not _is_there(owner, name, ours[path]):
            yield path, "was replaced by tenax, and then by another library"
        elif not (has_attribute(owner, name) or patch.added or patch.optional):
            yield path, "is missing"


def _is_there(owner: Any, name: str, value: Any) -> bool:
    found = vars(owner).get(name)
    if found is value:
        return True
    found = getattr(owner, name, None)
    while found is not None and found is not value:
        found = getattr(found, "__wrapped__", None)  # Dynamo wraps functions that it does not trace
    return found is value


def broken_entries() -> list[str]:
    """The registrations that are not in effect. The process must have created a device tensor before."""
    import jax
    import torch

    from ._torch.device import registered_name, storage_packages
    from ._torch.dispatcher import has_kernel_on
    from .device import entry

    lowered = ("empty.memory_format", "add.Tensor", "mm")
    zero: Any = torch.zeros((), device=NAME)
    wide = jax.numpy.zeros(1, "int64").dtype
    holds = {
        f"torch's device PrivateUse1: is not called {NAME}": registered_name() == NAME,
        "torch's dispatcher: kernels of the device are missing": all(
            has_kernel_on(f"aten::{name}", "PrivateUse1") for name in lowered
        ),
        "torch.serialization: does not know the device": any(p[1] is entry.location for p in storage_packages),
        "JAX's configuration: jax_explicit_x64_dtypes is no longer 'allow'": wide == "int64",
        "JAX's tables of types: do not know torch.Tensor": all(
            isinstance(jax.numpy.asarray(x), jax.Array) for x in (zero, torch.nn.Parameter(zero))
        ),
    }
    return [fault for fault, held in holds.items() if not held]


# The oldest driver of each CUDA: "CUDA Toolkit and Minimum Required Driver Version", NVIDIA's release notes of CUDA.
_DRIVERS = {12: 525, 13: 580}
_DRIVER = Path("/proc/driver/nvidia/version")


def installed() -> dict[str, str]:
    """The versions of the installed packages, by their normalized names."""
    found = ((d.metadata["Name"], d.version) for d in metadata.distributions())
    return {re.sub("[-_.]+", "-", name).lower(): version for name, version in found if name}


def driver() -> str | None:
    """The version of NVIDIA's kernel driver; None if there is none."""
    found = re.search(r"\b(\d+\.\d+[\d.]*)\b", _DRIVER.read_text()) if _DRIVER.exists() else None
    return found and found[1]


def cuda_faults(packages: Mapping[str, str], driver: str | None) -> list[str]:
    """What is wrong with the CUDA packages of an environment, each with what mends it.

    Args:
        packages: versions by normalized name.
        driver: the version of the kernel driver, None on a machine without one.
    """
    plugins = {int(n[8:10]): v for n, v in packages.items() if re.fullmatch(r"jax-cuda\d\d-plugin", n)}
    libraries = {int(found[1]) for n in packages if (found := re.fullmatch(r"nvidia-.*-cu(\d\d)", n))}
    faults = []
    if len(plugins.keys() | libraries) > 1:
        other = sorted(n for n in packages if re.fullmatch(r"(nvidia-.*-cu12|jax-cuda12-.*)", n))
        faults.append(
            f"the libraries of CUDA {' and '.join(map(str, sorted(plugins.keys() | libraries)))} are installed and "
            f"write into the same folders: pip uninstall {' '.join(other)}, and then pip install --force-reinstall "
            "'tenax[cuda]'"
        )
    if driver is not None and not plugins:
        faults.append("there is an NVIDIA GPU, and JAX has no plugin for it: pip install 'tenax[cuda]'")
    for cuda, version in plugins.items():
        if version != packages.get("jaxlib"):
            faults.append(
                f"jax-cuda{cuda}-plugin {version} does not fit jaxlib {packages.get('jaxlib')}: "
                f"pip install 'jax[cuda{cuda}]=={packages.get('jax')}'"
            )
        if driver is not None and int(driver.partition(".")[0]) < _DRIVERS.get(cuda, 0):
            faults.append(
                f"NVIDIA's driver {driver} is too old for CUDA {cuda}, which needs {_DRIVERS[cuda]}: update the driver"
                + (", or pip install 'jax[cuda12]' beside a CPU build of torch" if cuda > 12 else "")
            )
    return faults


def page() -> str:
    """The table of changes as Markdown, with one section for each `When`."""
    parts = []
    for when in When:
        parts += ["", f"## {when.value[:1].upper()}{when.value[1:]}", "", "| what | effect |", "| --- | --- |"]
        parts += [f"| {_shown(p)} | {p.effect} |" for p in PATCHES if when in p.when]
        parts += [f"| {e.registry}: {e.entry} | {e.effect} |" for e in ENTRIES if when in e.when]
    releases = " and ".join(f"{library} {', '.join(versions)}" for library, versions in TESTED.items())
    return "\n".join([f"The releases that tenax takes are {releases}. {_NARROWER}", *parts])


def _shown(patch: Patch) -> str:
    names = ", ".join(f"`{name}`" for name in patch.names.split())
    whose = "" if patch.of == "itself" else f", of {patch.of.removeprefix('its ')} that the function reaches"
    verb = "made by torch" if patch.by_torch else "added" if patch.added else "replaced"
    return f"`{patch.owner}`{whose}: {names} ({verb})"

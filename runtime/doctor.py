"""The checks of `tenax doctor`, and the page that `tenax changes` writes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

from .changes import ENTRIES, PATCHES, Patch, When
from .releases import TESTED

BEGIN = "<!-- changes: written by `tenax changes --write` -->"
END = "<!-- /changes -->"
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
    return [f"{name}: {wrong}" for name, (holds, wrong) in _REGISTERED.items() if not holds()]


def _knows_storages() -> bool:
    from ._torch.device import storage_packages
    from .device import entry

    return any(package[1] is entry.location for package in storage_packages)


def _name_is_ours() -> bool:
    from ._torch.device import registered_name

    return registered_name() == "jax"


def _has_kernels() -> bool:
    from ._torch.dispatcher import has_kernel_on

    return all(has_kernel_on(f"aten::{name}", "PrivateUse1") for name in ("empty.memory_format", "add.Tensor", "mm"))


def _keeps_wide_dtypes() -> bool:
    import jax

    return jax.numpy.zeros(1, "int64").dtype == "int64"


def _takes_tensors() -> bool:
    import jax
    import torch

    zero: Any = torch.zeros((), device="jax")
    return all(isinstance(jax.numpy.asarray(x), jax.Array) for x in (zero, torch.nn.Parameter(zero)))


_REGISTERED: dict[str, tuple[Callable[[], bool], str]] = {
    "torch's device PrivateUse1": (_name_is_ours, "is not called jax"),
    "torch's dispatcher": (_has_kernels, "kernels of the device are missing"),
    "torch.serialization": (_knows_storages, "does not know the device"),
    "JAX's configuration": (_keeps_wide_dtypes, "jax_explicit_x64_dtypes is no longer 'allow'"),
    "JAX's tables of types": (_takes_tensors, "do not know torch.Tensor"),
}


def page() -> str:
    """The table of changes as Markdown, with one section for each `When`."""
    parts = []
    for when in When:
        parts += ["", f"## {when.value[:1].upper()}{when.value[1:]}", "", "| what | effect |", "| --- | --- |"]
        parts += [f"| {_shown(p)} | {p.effect} |" for p in PATCHES if when in p.when]
        parts += [f"| {e.registry}: {e.entry} | {e.effect} |" for e in ENTRIES if when in e.when]
    releases = " and ".join(f"{library} {', '.join(versions)}" for library, versions in TESTED.items())
    return "\n".join([BEGIN, f"The releases that tenax takes are {releases}. {_NARROWER}", *parts, END])


def _shown(patch: Patch) -> str:
    names = ", ".join(f"`{name}`" for name in patch.names.split())
    whose = "" if patch.of == "itself" else f", of {patch.of.removeprefix('its ')} that the function reaches"
    verb = "made by torch" if patch.by_torch else "added" if patch.added else "replaced"
    return f"`{patch.owner}`{whose}: {names} ({verb})"


def write_page(text: str) -> str:
    """Regenerate the part of a page between the markers.

    Raises:
        ValueError: the page lacks a marker.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page lacks a marker; expected {BEGIN} and {END}")
    return f"{before}{page()}{after}"

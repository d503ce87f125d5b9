"""The functions that an entry names: check that they fit the schema, and decide whether a kernel is the lowering."""

from __future__ import annotations

import difflib
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from torchgen.model import FunctionSchema

from tenax.codegen.fault import Fault, one_of
from tenax.codegen.signature import Parameter, identifier
from tenax.codegen.source import Signature, defined, same_default
from tenax.codegen.spec import Call, Entry
from tenax.codegen.tree import Tree

# What the runtime passes to a function of runtime/aten/ before the arguments that the entry names.
_PASSED = {"prepare": ("signature",), "check": (), "results": ("values", "outputs")}


def split(entry: Entry, key: str = "kernel") -> tuple[str, str]:
    """Split `activation.gelu` into module and function."""
    module, _, function = getattr(entry, key).partition(".")
    return module, function


def expected_parameters(entry: Entry, params: Sequence[Parameter]) -> list[str]:
    """The parameters that a kernel of this schema must have, in order."""
    return (["rng"] if entry.random else []) + [p.name for p in params]


def is_lowering(entry: Entry, params: Sequence[Parameter], tree: Tree) -> bool:
    """Whether the kernel has exactly the signature of the lowering, so that no wrapper is needed.

    A promotion, a derivative, additional parameters, a default that only torch states, a decorator, or an assigned name
    that is not a partial function require a wrapper.
    """
    if not entry.kernel or entry.promote or entry.derivative:
        return False
    module, function = split(entry)
    signature = defined(tree.kernel(module)).get(function)
    if signature is None or signature.decorated or list(signature.names) != expected_parameters(entry, params):
        return False
    keyword_only = {p.name for p in params if p.keyword}
    defaults = {p.name: p.default for p in params if p.default is not None}
    return (
        signature.keyword_only <= keyword_only
        and signature.defaults.keys() == defaults.keys()
        and all(same_default(signature.defaults[name], text, names=False) for name, text in defaults.items())
    )


def faults(entry: Entry, params: Sequence[Parameter], tree: Tree, key: str = "kernel") -> Iterator[Fault]:
    """The faults of the function that an entry names as its `kernel`, or as `on_host`."""
    signature, place = yield from _find(entry, key, getattr(entry, key), tree.kernels)
    if signature is not None:
        yield from _signature_faults(entry, params, signature, place, key)


def call_faults(entry: Entry, key: str, called: Call, func: FunctionSchema, tree: Tree) -> Iterator[Fault]:
    """The faults of a function of runtime/aten/ that an entry names with arguments of the op."""
    arguments = [identifier(a.name) for a in func.arguments.flat_non_out]
    for name in called.arguments:
        if name not in arguments and name.isidentifier():
            yield entry.fault(key, f"{entry.name} has no argument `{name}`", one_of(name, arguments))
    signature, place = yield from _find(entry, key, called.path, tree.aten)
    if signature is None:
        return
    passed = _PASSED[key]
    rest = signature.names[len(passed) :]
    least = sum(n not in signature.defaults for n in rest)
    any_number = any(n.startswith("*") for n in rest)
    if signature.names[: len(passed)] != passed or not (any_number or least <= len(called.arguments) <= len(rest)):
        wanted = ", ".join([*passed, *([f"{len(called.arguments)} arguments"] if called.arguments else [])])
        yield entry.fault(key, f"{place} takes ({', '.join(signature.names)})", f"({wanted})")


def _find(entry: Entry, key: str, path: str, folder: Path) -> Generator[Fault, None, tuple[Signature | None, str]]:
    """The signature of a function and its place; None after a fault, or if the signature is not in the source."""
    module, _, function = path.partition(".")
    if not (module.isidentifier() and function.isidentifier()):
        yield entry.fault(key, f"`{path}`", f"module.function of runtime/{folder.name}/")
        return None, ""
    where = f"runtime/{folder.name}/{module}.py"
    if not (folder / f"{module}.py").exists():
        modules = difflib.get_close_matches(module, [held.stem for held in folder.glob("*.py")], 2)
        meant = f" (did you mean {' or '.join(f'`{name}`' for name in modules)}?)" if modules else ""
        yield entry.fault(key, f"there is no {where}{meant}", f"a module that defines `{function}`")
        return None, ""
    held = defined(folder / f"{module}.py")
    if function not in held:
        yield entry.fault(key, f"{where} defines no `{function}`", one_of(function, held, many=True) or "that function")
        return None, ""
    signature = held[function]
    return signature, f"{function} at {where}:{signature.line}" if signature else ""


def _signature_faults(
    entry: Entry, params: Sequence[Parameter], signature: Signature, place: str, key: str
) -> Iterator[Fault]:
    names = expected_parameters(entry, params)
    have = [n for n in signature.names if n in names]
    free = [n for n in signature.names if n not in names and n not in signature.defaults and not n.startswith("*")]
    if have != names or free:
        yield entry.fault(key, f"{place} takes ({', '.join(signature.names)})", f"({', '.join(names)})")
        return
    # A kernel need not repeat a default: a generated wrapper then states it. Its own defaults must equal torch's.
    stated = {p.name: p.default for p in params if p.default is not None and p.name in signature.defaults}
    other = {name: text for name, text in stated.items() if not same_default(signature.defaults[name], text)}
    if other:
        given = ", ".join(f"{name}={signature.defaults[name]}" for name in other)
        torchs = ", ".join(f"{name}={text}" for name, text in other.items())
        yield entry.fault(key, f"{place} has the defaults ({given})", f"({torchs})")

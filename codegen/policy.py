"""The autocast policies as data: parse `autocast.yaml`, check it against torch's schemas, and build one row per op."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from torchgen.model import BaseTy, FunctionSchema, SchemaKind

from tenax.codegen.fault import Fault, SpecError, one_of
from tenax.codegen.schema import Schemas
from tenax.codegen.signature import base
from tenax.codegen.spec import compose, mapping, scalar

# The names in ATen/autocast_mode.h (CastPolicy), and `banned`.
KINDS = ("lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote", "banned")
_FIRST = ("fp32_set_opt_dtype", "fp32_append_dtype")  # these depend on the first argument only
KEYS = ("policy", "meaning", "beyond", "error", "ops")


@dataclass(frozen=True)
class Policy:
    """The autocast policy of one overload. `tensors`, `lists` and `dtype` are positions of arguments."""

    name: str
    kind: str
    line: int
    calls: str = ""
    error: str = ""
    beyond: str = ""
    tensors: tuple[int, ...] = ()
    lists: tuple[int, ...] = ()
    dtype: int | None = None


def load(path: Path, where: str, schemas: Schemas) -> tuple[list[Policy], list[Fault]]:
    """The policies of a file by overload, and the faults of the others; both empty without a file."""
    if not path.exists():
        return [], []
    try:
        nodes = compose(path.read_text(encoding="utf-8"), where, "`- policy: <kind>` entries")
    except SpecError as error:
        return [], [error.fault]
    found: dict[str, Policy] = {}
    faults = []
    for node in nodes:
        try:
            entry = _entry(node, where)
        except SpecError as error:
            faults.append(error.fault)
            continue
        for line, name, calls in entry.pop("ops"):
            held = found.get(name)
            policy = Policy(name, line=line, calls=calls, **entry)
            wrong = list(_faults(policy, schemas, where))
            if held is not None:
                wrong = [Fault(where, line, f"{name} already has a policy at line {held.line}", "one policy")]
            faults += wrong
            if not wrong:
                found[name] = _placed(policy, schemas[name].func)
    return [found[name] for name in sorted(found)], faults


def _entry(node: yaml.Node, where: str) -> dict[str, Any]:
    """The keys of one entry; `ops` as (line, overload, the overload it calls)."""

    def fail(wrong: str, expected: str, at: yaml.Node = node) -> None:
        raise SpecError(Fault(where, at.start_mark.line + 1, wrong, expected))

    if not isinstance(node, yaml.MappingNode):
        fail("an entry that is not a mapping", "`- policy: <kind>` and further keys")
    held = dict(mapping(node, fail))
    for key in held:
        if key not in KEYS:
            fail(f"unknown key `{key}`", one_of(key, KEYS))
    for key in ("policy", "meaning", "ops"):
        if key not in held:
            fail(f"an entry without `{key}`", "policy, meaning and ops")
    kind, ops = scalar(held["policy"], fail), held["ops"]
    if kind not in KINDS:
        fail(f"unknown policy `{kind}`", one_of(kind, KINDS), held["policy"])
    if ("error" in held) != (kind == "banned"):
        fail(f"{kind} with{'' if 'error' in held else 'out'} `error`", "`error` with banned, and only there")
    if isinstance(ops, yaml.MappingNode) != (kind == "fp32_append_dtype"):
        fail(f"`ops` of {kind} is a {ops.id}", "a list; a mapping from overload to overload for fp32_append_dtype", ops)
    listed = ops.value if isinstance(ops, yaml.MappingNode) else [(item, None) for item in ops.value]
    named = [(n.start_mark.line + 1, scalar(n, fail), scalar(to, fail) if to is not None else "") for n, to in listed]
    return {
        "kind": kind,
        "error": scalar(held["error"], fail) if "error" in held else "",
        "beyond": scalar(held["beyond"], fail) if "beyond" in held else "",
        "ops": named,
    }


def _faults(policy: Policy, schemas: Schemas, where: str) -> Iterator[Fault]:
    for name in filter(None, (policy.name, policy.calls)):
        if name not in schemas:
            wanted = one_of(name, schemas.functions, many=True)
            yield Fault(where, policy.line, f"torch {schemas.release} has no {name}", wanted)
            return
    func = schemas[policy.name].func
    if func.kind() is not SchemaKind.functional:
        yield Fault(where, policy.line, f"{policy.name} writes its arguments", "an overload with a new result")
    if not any(_positions(func)):
        yield Fault(where, policy.line, f"{policy.name} has no Tensor before its keywords", "a Tensor to cast")
    arguments = {a.name: a.type for a in func.arguments.flat_all}
    if policy.kind == "fp32_set_opt_dtype" and "dtype" not in arguments:
        yield Fault(where, policy.line, f"{policy.name} has no argument `dtype`", "the policy fp32")
    if policy.calls:
        called = [a.name for a in schemas[policy.calls].func.arguments.flat_all]
        if called != [*arguments, "dtype"]:
            wrong = f"{policy.calls} takes ({', '.join(called)})"
            yield Fault(where, policy.line, wrong, f"({', '.join([*arguments, 'dtype'])})")


def _positions(func: FunctionSchema) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positional arguments that are tensors, and those that are lists of them."""
    held = [(i, a.type) for i, a in enumerate(func.arguments.flat_positional) if base(a.type) is BaseTy.Tensor]
    lists = tuple(i for i, type_ in held if type_.is_list_like() is not None)
    return tuple(i for i, _ in held if i not in lists), lists


def _placed(policy: Policy, func: FunctionSchema) -> Policy:
    """The policy with the argument positions that it needs."""
    if policy.kind == "banned":
        return policy
    tensors, lists = _positions(func)
    if policy.kind in _FIRST:
        names = [a.name for a in func.arguments.flat_positional]
        return replace(policy, tensors=tensors[:1], dtype=names.index("dtype") if "dtype" in names else None)
    return replace(policy, tensors=tensors, lists=lists)

"""The specs as data: YAML entries, parsed into frozen dataclasses that print back to the same entries."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from tenax.codegen.fault import Fault, SpecError, Unreadable, one_of

# The implementation of an entry: exactly one of these keys.
BODIES = ("jnp", "kernel", "each", "decompose", "unsupported")
LOWERED = ("jnp", "kernel", "each")

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# The words of `dtypes:`, which may also contain the names of single dtypes.
DTYPES = {
    "bool": ("bool",),
    "integral": ("uint8", "int8", "int16", "int32", "int64"),
    "unsigned": ("uint16", "uint32", "uint64"),
    "floating": ("float16", "bfloat16", "float32", "float64"),
    "complex": ("complex64", "complex128"),
    "float8": ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
}

EXCEPTION = re.compile(r"[A-Z]\w*Error: .")
_NAME = re.compile(r"((?:[A-Za-z_]\w*::)?[A-Za-z_]\w*)((?:\.\w+)?)\(")
_CALL = re.compile(r"([A-Za-z_]\w*(?:\.\w+)?)\((.*)\)")


@dataclass(frozen=True)
class Promote:
    """`KIND(names)`: the arguments that determine the dtype, and the rule."""

    kind: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(self.names)})"


@dataclass(frozen=True)
class Call:
    """`module.function(arguments)`: a function of runtime/aten/ and arguments of the op; a quoted one is text."""

    path: str
    arguments: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The path and the arguments, without quotes."""
        return self.path, *(a.strip("'") for a in self.arguments)

    def __str__(self) -> str:
        return f"{self.path}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Check:
    """A condition on values, which are known only on the device; `error` reads `IndexError: message`.

    Without `error`, `that` is the call of a named check, which states the error (see conditions.py), or of a function
    of runtime/aten/, which raises it.
    """

    that: str
    error: str = ""

    @property
    def on_host(self) -> bool:
        """Whether a function checks the arguments before every call."""
        return not self.error and "." in self.that.partition("(")[0]


@dataclass(frozen=True)
class Entry:
    """One entry of a spec file. `lines` maps its keys to their lines, for messages."""

    family: str = field(compare=False)
    line: int = field(compare=False)
    lines: dict[str, int] = field(compare=False, repr=False)
    func: str = ""
    jnp: str = ""
    kernel: str = ""
    each: str = ""
    decompose: str = ""
    unsupported: str = ""
    dtypes: tuple[tuple[str, str], ...] = ()
    promote: Promote | None = None
    static: tuple[str, ...] = ()
    special: tuple[tuple[str, tuple[str, ...]], ...] = ()
    random: bool | tuple[str, ...] = False  # or the arguments without which no number is drawn
    writes: tuple[tuple[str, str], ...] = ()
    dynamic: str = ""
    on_host: str = ""
    check: tuple[Check, ...] = ()
    grad: str = ""
    derivative: tuple[tuple[str, str], ...] = ()
    prepare: Call | None = None
    results: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        held = [key for key in BODIES if getattr(self, key)]
        if len(held) != 1:
            what = " and ".join(f"`{key}`" for key in held) or "no body"
            self.fail("func", f"{self.name} has {what}", f"one of {', '.join(BODIES)}")
        extra = [key for key in self.lines if key not in ("func", "note", *BODIES)]
        if extra and held[0] not in LOWERED:
            self.fail(extra[0], f"`{extra[0]}` on an entry without a lowering", f"it only with {' or '.join(LOWERED)}")

    @property
    def name(self) -> str:
        """The overload: `add.Tensor`, `relu` for a default overload, `torchvision::nms` for one of a library."""
        match = _NAME.match(self.func)
        return "".join(match.groups()) if match else self.func

    @property
    def unconverted(self) -> tuple[str, ...]:
        """The numbers that the lowering receives as they are: Python numbers always, or for some values."""
        return (*self.static, *(name for name, _ in self.special))

    def written(self, word: str) -> tuple[str, ...]:
        """The arguments of which `writes` says this word."""
        return tuple(name for name, words in self.writes if word in words.split())

    @property
    def conditions(self) -> tuple[Check, ...]:
        """The checks that are computed on the device."""
        return tuple(c for c in self.check if not c.on_host)

    @property
    def guard(self) -> Call | None:
        """The check by a function of runtime/aten/."""
        return next((function_call(c.that) for c in self.check if c.on_host), None)

    @property
    def library(self) -> str:
        """The library that defines the operator; empty for torch."""
        return self.name.rpartition("::")[0]

    @property
    def body(self) -> str:
        """The key that states the implementation of the entry."""
        return next(key for key in BODIES if getattr(self, key))

    @property
    def lowered(self) -> bool:
        """Whether a function is generated."""
        return self.body in LOWERED

    @property
    def where(self) -> str:
        return f"ops_spec/{self.family}.yaml"

    def fault(self, key: str, wrong: str, expected: str = "") -> Fault:
        return Fault(self.where, self.lines.get(key, self.line), wrong, expected)

    def fail(self, key: str, wrong: str, expected: str = "") -> None:
        raise SpecError(self.fault(key, wrong, expected))

    def __str__(self) -> str:
        """The entry as YAML, in the order of the grammar's table, without comments."""
        data = {key: _plain(getattr(self, key)) for key in KEYS if getattr(self, key)}
        text = yaml.safe_dump([data], sort_keys=False, width=10**6, allow_unicode=True, default_flow_style=False)
        return str(text)


KEYS = tuple(f.name for f in fields(Entry) if f.name not in ("family", "line", "lines"))


def _plain(value: Any) -> Any:
    """Format a field as YAML."""
    if isinstance(value, (Promote, Call)):
        return str(value)
    if value and isinstance(value, tuple) and isinstance(value[0], tuple):
        return dict(value).get("") or dict(value)
    if isinstance(value, tuple):
        return [
            ({"that": x.that, "error": x.error} if x.error else x.that) if isinstance(x, Check) else x for x in value
        ]
    return value


def scalar(node: yaml.Node, fail: Callable[..., None]) -> str:
    """The text of a scalar node."""
    if not isinstance(node, yaml.ScalarNode):
        fail(f"a {node.id} in place of text", "text; quote an expression that starts with [, {, *, &, ! or -")
    return str(node.value).strip()


def _names(node: yaml.Node, fail: Callable[..., None]) -> tuple[str, ...]:
    if not isinstance(node, yaml.SequenceNode):
        fail(f"`{node.value}` is not a list", "a list of argument names, such as [alpha]")
    return tuple(scalar(item, fail) for item in node.value)


def _texts(expected: str) -> Callable[..., tuple[tuple[str, str], ...]]:
    """A parser of a mapping from names to text."""

    def parse(node: yaml.Node, fail: Callable[..., None]) -> tuple[tuple[str, str], ...]:
        if not isinstance(node, yaml.MappingNode):
            fail(f"`{node.value}` is not a mapping", expected)
        return tuple((name, scalar(text, fail)) for name, text in mapping(node, fail))

    return parse


# What `writes` says of an argument, with the field of its row (see the table's `Row`).
WRITES = {"unmarked": "writes", "optional": "not_donated", "unread": "overwrites", "expanded": "writes_expanded"}
# Words among the special values: negative numbers have a program of their own, the number is passed with 64 bits, and
# only programs for the CPU have an operand for it.
SPECIAL_WORDS = ("sign", "wide", "cpu")


def _special(node: yaml.Node, fail: Callable[..., None]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The special values of each argument."""
    if not isinstance(node, yaml.MappingNode):
        fail(f"a {node.id} in place of a mapping", "arguments with lists of values, such as {p: [0, 1, 2, inf, sign]}")
    return tuple((name, _values(value, fail)) for name, value in mapping(node, fail))


def _values(node: yaml.Node, fail: Callable[..., None]) -> tuple[str, ...]:
    if not isinstance(node, yaml.SequenceNode):
        fail(f"`{node.value}` is not a list", "a list of numbers, such as [0, 0.5, inf, sign]")
    texts = tuple(scalar(item, fail) for item in node.value)
    for text in texts:
        if not re.fullmatch(rf"-?(\d+(\.\d+)?|inf)|{'|'.join(SPECIAL_WORDS)}", text):
            fail(f"`{text}` is neither a number nor a known word", f"numbers, inf, and {', '.join(SPECIAL_WORDS)}")
    return texts


def _dtypes(node: yaml.Node, fail: Callable[..., None]) -> tuple[tuple[str, str], ...]:
    """The dtypes by argument; the empty name means all arguments."""
    if not isinstance(node, yaml.MappingNode):
        return (("", scalar(node, fail)),)
    return tuple((name, scalar(value, fail)) for name, value in mapping(node, fail))


def _promote(node: yaml.Node, fail: Callable[..., None]) -> Promote:
    text = scalar(node, fail)
    match = re.fullmatch(r"(\w+)\(\s*([\w\s,]*)\)", text)
    if match is None:
        fail(f"`{text}` does not parse", "KIND(arguments), such as DEFAULT(self, other)")
    assert match is not None
    return Promote(match[1], tuple(x.strip() for x in match[2].split(",") if x.strip()))


def _prepare(node: yaml.Node, fail: Callable[..., None]) -> Call | None:
    text = scalar(node, fail)
    found = function_call(text)
    if found is None:
        fail(f"`{text}` does not parse", "module.function(arguments), such as index_masks.expand_masks(indices)")
    return found


def _random(node: yaml.Node, fail: Callable[..., None]) -> bool | tuple[str, ...]:
    return _names(node, fail) if isinstance(node, yaml.SequenceNode) else _true(node, fail)


def _true(node: yaml.Node, fail: Callable[..., None]) -> bool:
    if scalar(node, fail) != "true":
        fail(f"`{node.value}`", "true, or no such key")
    return True


def _checks(node: yaml.Node, fail: Callable[..., None]) -> tuple[Check, ...]:
    form = "a named check, or a list of them and of {that: expression, error: 'IndexError: message'}"
    checks = []
    if isinstance(node, yaml.MappingNode):
        fail("not a list of checks", form)
    for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        if isinstance(item, yaml.ScalarNode):
            checks.append(Check(scalar(item, fail)))
            if checks[-1].on_host and function_call(checks[-1].that) is None:
                fail(f"`{checks[-1].that}` does not parse", "module.function(arguments), or a named check")
            continue
        pairs = dict(mapping(item, fail)) if isinstance(item, yaml.MappingNode) else {}
        if set(pairs) != {"that", "error"}:
            fail(f"a check with the keys {', '.join(pairs) or 'none'}", form)
        check = Check(scalar(pairs["that"], fail), scalar(pairs["error"], fail))
        if not EXCEPTION.match(check.error):
            fail(f"`{check.error}`", "an exception and a message, such as `IndexError: index out of range`")
        checks.append(check)
    if sum(c.on_host for c in checks) > 1:
        fail("several functions of runtime/aten/", "one")
    return tuple(checks)


PARSERS: dict[str, Callable[..., Any]] = {
    "dtypes": _dtypes,
    "promote": _promote,
    "static": _names,
    "special": _special,
    "random": _random,
    "writes": _texts("arguments and how they are written, such as {running_mean: unmarked}"),
    "derivative": _texts("arguments and their gradients, such as {self: grad * result}"),
    "check": _checks,
    "prepare": _prepare,
}


def mapping(node: yaml.MappingNode, fail: Callable[..., None]) -> list[tuple[str, yaml.Node]]:
    """The keys and values of a mapping, whose keys must be unique."""
    pairs = [(str(key.value), value) for key, value in node.value]
    for name in {key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1}:
        fail(f"the key `{name}` appears twice", "it once")
    return pairs


def _entry(family: str, node: yaml.Node) -> Entry:
    line = node.start_mark.line + 1
    where = f"ops_spec/{family}.yaml"

    def at(number: int) -> Callable[..., None]:
        def fail(wrong: str, expected: str = "") -> None:
            raise SpecError(Fault(where, number, wrong, expected))

        return fail

    if not isinstance(node, yaml.MappingNode):
        at(line)("an entry that is not a mapping", "`- func: <schema>` and further keys")
    rest = dict(mapping(node, at(line)))
    lines = {str(key.value): key.start_mark.line + 1 for key, _ in node.value}
    data = {}
    for key in KEYS:
        if key in rest:
            value = rest.pop(key)
            fail = at(lines[key])
            data[key] = PARSERS.get(key, scalar)(value, lambda w, e="", f=fail, k=key: f(f"`{k}`: {w}", e))
            if not data[key]:
                fail(f"`{key}` is empty", "a value, or no such key")
    if rest:
        key = next(iter(rest))
        at(lines[key])(f"unknown key `{key}`", one_of(key, KEYS))
    if "func" not in data or not _NAME.match(data["func"]):
        at(line)("an entry without a schema", "`func:` with a schema of native_functions.yaml")
    return Entry(family, line, lines, **data)


def compose(text: str, where: str, expected: str) -> list[yaml.Node]:
    """The entries of a spec file.

    Raises:
        SpecError: the text is not YAML, or not a list.
    """
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else 1
        wrong = f"not YAML: {error.problem}"
        raise SpecError(Unreadable(where, line, wrong, "a list of entries; quote text with `: ` or ` #`")) from None
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        raise SpecError(Unreadable(where, 1, "the file is not a list", expected))
    return list(root.value)


def parse(text: str, family: str) -> tuple[list[Entry], list[Fault]]:
    """The entries of one spec file, and the faults of the others."""
    where = f"ops_spec/{family}.yaml"
    entries, faults = [], []
    try:
        nodes = compose(text, where, "`- func: <schema>` entries")
    except SpecError as error:
        return [], [error.fault]
    for node in nodes:
        try:
            entries.append(_entry(family, node))
        except SpecError as error:
            faults.append(error.fault)
    return entries, faults


def load(path: Path) -> tuple[list[Entry], list[Fault]]:
    """Parse a file, which is named after its family."""
    return parse(path.read_text(encoding="utf-8"), path.stem)


def call(text: str) -> tuple[str, ast.Call] | None:
    """Split `add.Tensor(self, alpha=alpha)` into the overload and its call; None if the text is not a call."""
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    try:
        node = ast.parse(f"f({match[2]})", mode="eval").body
    except SyntaxError:
        return None
    return (match[1], node) if isinstance(node, ast.Call) else None


def function_call(text: str) -> Call | None:
    """Parse `module.function(arguments)`, whose arguments are names and quoted text; None for any other text."""
    found = call(text)
    if found is None or "." not in found[0] or found[1].keywords:
        return None
    texts = [ast.unparse(a) for a in found[1].args if isinstance(a, (ast.Name, ast.Constant))]
    return Call(found[0], tuple(texts)) if len(texts) == len(found[1].args) else None

"""Render entries as Python source: one function each, formatted as by ruff."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from torchgen.model import FunctionSchema

from tenax.codegen import kernel
from tenax.codegen.check import Context, renamed
from tenax.codegen.derive import Row
from tenax.codegen.operators import FUNCTIONS as OPERATORS
from tenax.codegen.operators import Arithmetic
from tenax.codegen.policy import Policy
from tenax.codegen.signature import PREDEFINED, Parameter, function_name, parameters, results
from tenax.codegen.source import BUILTINS, MODULES, free_names, substitute
from tenax.codegen.spec import DTYPES, SPECIAL_WORDS, WRITES, Entry, call

WIDTH = 120
INDENT = "    "

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def fit(head: str, items: Sequence[str], tail: str, indent: str = "") -> str:
    """Format a call: head, items and tail on one line, or the items on the next line, or one item per line."""
    line = f"{indent}{head}{', '.join(items)}{tail}"
    if len(line) <= WIDTH:
        return line
    inner = f"{indent}{INDENT}{', '.join(items)}"
    if len(inner) <= WIDTH:
        return f"{indent}{head}\n{inner}\n{indent}{tail}"
    body = "".join(f"{indent}{INDENT}{item},\n" for item in items)
    return f"{indent}{head}\n{body}{indent}{tail}"


def literal(head: str, items: Sequence[str | Sequence[str]], tail: str, indent: str) -> str:
    """Format a tuple, possibly nested: on one line, or one item per line."""
    line = f"{indent}{head}{_tuple(items)}{tail}"
    if len(line) <= WIDTH:
        return line
    inner = indent + INDENT
    lines = [f"{inner}{item}," if isinstance(item, str) else literal("", item, ",", inner) for item in items]
    return "\n".join([f"{indent}{head}(", *lines, f"{indent}){tail}"])


@dataclass(frozen=True)
class Function:
    """The rendering of one entry."""

    entry: Entry
    func: FunctionSchema
    context: Context

    @property
    def name(self) -> str:
        return function_name(self.entry.name)

    @cached_property
    def params(self) -> list[Parameter]:
        return parameters(self.func)

    @cached_property
    def arithmetic(self) -> Arithmetic | None:
        """The operators of the expression, if `promote` has converted its arguments to one dtype."""
        promote = self.entry.promote
        if promote is None or not self.entry.jnp:
            return None
        bound = {n.id for n in ast.walk(ast.parse(self.entry.jnp)) if isinstance(n, ast.Name)} - {
            n.id for n in free_names(self.entry.jnp)
        }
        numbers = {p.name for p in self.params if p.is_number and p.name not in self.entry.unconverted}
        known = {p.name for p in self.params if not (p.optional or p.is_list)} - bound
        ones = {p.name for p in self.params if p.default == "1"} & numbers - {*promote.names}
        return Arithmetic(
            self.entry.jnp,
            frozenset(known & (numbers | {*promote.names})),
            frozenset(known & ones),
            divides=promote.kind == "INT_TO_FLOAT",
        )

    @cached_property
    def uses(self) -> set[str]:
        """The free names of the source, which the module must import."""
        found = {n.id for n in ast.walk(ast.parse(self.source)) if isinstance(n, ast.Name)}
        return found - {p.name for p in self.params}

    @cached_property
    def source(self) -> str:
        """The lowering, unless a kernel is itself the lowering, and the conditions of `check`."""
        parts = []
        if self.context.generated(self.entry):
            parts.append("\n".join([self._def(self.name, self.returns), self._docstring(), *self._body()]))
        if self.entry.conditions:
            conditions = [("" if c.error else "checks.") + self.local(c.that) for c in self.entry.conditions]
            doc = f'{INDENT}"""The conditions of {self.entry.name}; its row of the table has their errors."""'
            result = literal("return ", conditions, "", INDENT)
            parts.append("\n".join([self._def(f"{self.name}__checks", "tuple[Array, ...]"), doc, result]))
        return "\n\n\n".join(parts)

    @property
    def returns(self) -> str:
        held = results(self.func, self.entry.written("unmarked"))
        if not held:
            return "None"
        return held[0] if len(held) == 1 else f"tuple[{', '.join(held)}]"

    def _def(self, name: str, returns: str) -> str:
        items = ["rng: Array"] if self.entry.random else []
        keyword = False
        for p in self.params:
            if p.keyword and not keyword:
                items.append("*")
                keyword = True
            items.append(str(p))
        return fit(f"def {name}(", items, f") -> {returns}:")

    def _docstring(self) -> str:
        """Schema and spec file. The line is omitted, because it would change with every entry above."""
        schema = self.entry.func if self.entry.library else str(self.func)
        lines = [_wrap(f'"""{schema}', hang=INDENT), ""]
        if self.entry.note:
            lines += [_wrap(self.entry.note), ""]
        return "\n".join([*lines, f"{INDENT}Spec: {self.entry.where}", f'{INDENT}"""'])

    def _body(self) -> list[str]:
        lines = [] if self.entry.promote is None else [self._promotion()]
        head, tail = ("return ", "") if self.entry.promote is None else ("return cast(", ", dtype)")
        if self.entry.derivative:
            return [*lines, *self._derivative(head, tail)]
        line = self._statement(head, tail)
        if not tail or ("\n" not in line and len(line) <= WIDTH):
            return [*lines, line]
        value = "result" if "result" not in [p.name for p in self.params] else "value"
        return [*lines, self._statement(f"{value} = ", ""), f"{INDENT}return cast({value}, dtype)"]

    def _derivative(self, head: str, tail: str) -> list[str]:
        """The value and its gradients, as functions of what may be traced."""
        special = {name for name, _ in self.entry.special}
        traced = [
            p
            for p in self.params
            if p.is_tensor or p.name in special or (p.is_number and p.name not in self.entry.static)
        ]
        items, inner = [f"{p.name}: {p.annotation}" for p in traced], INDENT * 2
        given = ["value", "gradients", *(f"{p.name}={p.name}" for p in traced)]
        return [
            "",
            fit("def value(", items, f") -> {self.returns}:", INDENT),
            self._statement("return ", "", inner),
            "",
            fit("def gradients(", ["grad: Array", "result: Array", *items], ") -> Gradients:", INDENT),
            f"{inner}return {{",
            *(self._formula(name, text, inner + INDENT) for name, text in self.entry.derivative),
            f"{inner}}}",
            "",
            fit(f"{head}with_derivative(", given, f"){tail}", INDENT),
        ]

    def _formula(self, name: str, text: str, indent: str) -> str:
        line = _lines(f'"{name}": lambda: ', self.local(text), ",", indent)
        if len(line.splitlines()[0]) <= WIDTH:
            return line
        return f'{indent}"{name}": lambda: (\n{_lines("", self.local(text), "", indent + INDENT)}\n{indent}),'

    def _statement(self, head: str, tail: str, indent: str = INDENT) -> str:
        entry = self.entry
        if entry.jnp:
            return _lines(head, self.local(str(self.arithmetic or entry.jnp)), tail, indent)
        if entry.each:
            return f"{indent}{head}{self._each()}{tail}"
        module, function = kernel.split(entry)
        items = [f"{name}={name}" for name in kernel.expected_parameters(entry, self.params)]
        return fit(f"{head}{module}_kernels.{function}(", items, f"){tail}", indent)

    def _promotion(self) -> str:
        promote = self.entry.promote
        assert promote is not None
        lists = {p.name for p in self.params if p.is_list}
        named = [f"*{n}" if n in lists else n for n in promote.names]
        skip = {*promote.names, *self.entry.unconverted, *(self.arithmetic.factors if self.arithmetic else ())}
        scalars = [p.name for p in self.params if p.is_number and p.name not in skip]
        target = ", ".join(["dtype", *named, *scalars])
        extra = f", scalars=({', '.join(scalars)}{',' if len(scalars) == 1 else ''})" if scalars else ""
        made = f"{promote.kind}({', '.join(named)}{extra})"
        if any(p.name == "dtype" for p in self.params):
            # A dtype that the caller passes is the dtype of the result; no kind changes it further.
            given = [f"*(cast(x, dtype) for x in {n})" if n in lists else f"cast({n}, dtype)" for n in promote.names]
            made = f"{made} if dtype is None else DEFAULT({', '.join(given)}{extra})"
        line = f"{INDENT}{target} = {made}"
        if len(line) <= WIDTH:
            return line
        return fit(f"{target} = {promote.kind}(", [*named, extra.removeprefix(", ")] if extra else named, ")", INDENT)

    def _each(self) -> str:
        parsed = call(self.entry.each)
        assert parsed is not None
        target, node = parsed
        inner = ast.unparse(node)
        used = {n.id for n in free_names(inner)}
        lists = [
            p.name for p in self.params if p.is_list and p.name in used and (p.is_tensor or "Scalar[]" in str(p.type))
        ]
        letters = [c for c in "abcdefghij" if c not in used]
        items = dict(zip(lists, letters, strict=False))
        text = self.local(function_name(target) + substitute(inner, items).removeprefix("f"), function_name(target))
        if len(lists) == 1:
            return f"[{text} for {items[lists[0]]} in {lists[0]}]"
        return f"[{text} for {', '.join(items.values())} in zip({', '.join(lists)}, strict=True)]"

    def local(self, expression: str, target: str = "") -> str:
        """The expression with kernels and lowerings of other families qualified by module."""
        hidden = {p.name for p in self.params} | (BUILTINS - {target})
        names = {}
        for name in {n.id for n in free_names(expression)} - hidden:
            entry = self.context.functions.get(name)
            if entry is None:
                continue
            module, function = self.context.target(entry)
            package, _, module = module.partition(".")
            if package == "kernels":
                names[name] = f"{module}_kernels.{function}"
            elif module != self.entry.family:
                names[name] = f"{module}_ops.{function}"
        return substitute(expression, names)


def _lines(head: str, expression: str, tail: str, indent: str = INDENT) -> str:
    """Format a statement; a call that is too long for one line has its arguments on further lines."""
    line = f"{indent}{head}{expression}{tail}"
    node = ast.parse(expression, mode="eval").body
    given = [*node.args, *(k if k.arg else k.value for k in node.keywords)] if isinstance(node, ast.Call) else []
    if len(line) <= WIDTH or not given:
        return line
    given.sort(key=lambda n: n.col_offset)
    function = expression.encode()[: given[0].col_offset].decode()  # including its parenthesis
    items = [str(ast.get_source_segment(expression, n)) for n in given]
    plain = f"{function}{', '.join(items)})" == expression
    return fit(f"{head}{function}", items, f"){tail}", indent) if plain else line


def _wrap(text: str, hang: str = "") -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=INDENT,
        subsequent_indent=INDENT + hang,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _import(module: str, names: Sequence[str]) -> str:
    """Format an import on one line, or with one name per line; nothing without names."""
    line = f"from {module} import {', '.join(names)}"
    if not names or len(line) <= WIDTH:
        return line if names else ""
    return "\n".join([f"from {module} import (", *(f"{INDENT}{name}," for name in names), ")"])


def _order(name: str) -> tuple[int, str]:
    """The sort key of imports: constants, classes, functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def has_functions(entry: Entry, context: Context) -> bool:
    """Whether a function is generated for an entry."""
    return entry.lowered and (bool(entry.conditions) or context.generated(entry))


def module(family: str, entries: Sequence[Entry], context: Context) -> str:
    """The source of generated/<family>.py."""
    own = [e for e in entries if e.family == family and has_functions(e, context)]
    functions = [Function(e, context.schemas[e.name].func, context) for e in own]
    functions.sort(key=lambda f: f.entry.line)
    uses = {name for f in functions for name in f.uses}
    named = {f.name for f in functions}
    words = sorted((uses & (context.words | PREDEFINED)) - named, key=_order)
    kernels = sorted(n.removesuffix("_kernels") for n in uses if n.endswith("_kernels"))
    operators = sorted((uses & OPERATORS) - named)
    conditions = "checks" in uses and "checks" not in named
    families = sorted({e.family for e in context.functions.values() if f"{e.family}_ops" in uses})
    return _TEMPLATES.get_template("module.py.j2").render(
        spec=f"ops_spec/{family}.yaml",
        family=family,
        sequence="Sequence" in uses,
        modules=[m for m in MODULES if m in uses and m not in named],
        array_like="ArrayLike" in uses,
        words=_import("tenax.words", words) if words else "",
        kernels=kernels,
        operators=_import("tenax.kernels.arithmetic", operators),
        conditions=conditions,
        families=families,
        functions=[f.source for f in functions],
    )


def checks(context: Context) -> str:
    """The source of generated/checks.py."""
    functions = []
    uses = {"Array"}
    for c in context.conditions.values():
        uses |= {n.id for n in free_names(c.that)} - {*c.parameters}
        head = fit(f"def {c.name}(", [f"{p}: Any" for p in c.parameters], ") -> Array:")
        functions.append("\n".join([head, _wrap(f'"""{c.error}"""', hang=INDENT), _lines("return ", c.that, "")]))
    return _TEMPLATES.get_template("checks.py.j2").render(
        modules=[m for m in MODULES if m in uses],
        words=_import("tenax.words", sorted(uses & (context.words | PREDEFINED), key=_order)),
        functions=functions,
    )


def table(rows: Sequence[Row], entries: Sequence[Entry], unsupported: dict[str, str], context: Context) -> str:
    """The source of generated/table.py."""
    decomposed = sorted((e.name, e.note) for e in entries if e.body == "decompose")
    named = {e.name: e for e in entries}
    return _TEMPLATES.get_template("table.py.j2").render(
        rows=[_row(r, named, context) for r in rows if not r.derived],
        variants=[
            literal(f"{_quote(r.name)}: ", [_quote(r.entry.name), _quote(r.form)], ",", INDENT)
            for r in rows
            if r.derived
        ],
        dtypes=[
            literal(f"{_quote(word)}: ", [_quote(d) for d in group], ",", INDENT) for word, group in DTYPES.items()
        ],
        decomposed=[_pair(*item) for item in decomposed],
        unsupported=[_pair(n, unsupported[n]) for n in sorted(unsupported)],
    )


def autocast(policies: Sequence[Policy]) -> str:
    """The source of generated/autocast.py."""
    return _TEMPLATES.get_template("autocast.py.j2").render(policies=[_policy(p) for p in policies])


def init() -> str:
    """The source of generated/__init__.py."""
    return _TEMPLATES.get_template("init.py.j2").render()


def _quote(text: str) -> str:
    """Format a string literal like ruff: in double quotes unless that needs more escapes."""
    if '"' in text and "'" not in text:
        return repr(text)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _tuple(items: Sequence[str | Sequence[str]]) -> str:
    texts = [item if isinstance(item, str) else _tuple(item) for item in items]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _taken(entry: Entry, named: dict[str, Entry]) -> tuple[tuple[str, str], ...]:
    """The dtypes of an entry, or of the lowering that it maps if it states none."""
    target = call(entry.each) if entry.each and not entry.dtypes else None
    return entry.dtypes if target is None else _taken(named[target[0]], named)


def _errors(entry: Entry, context: Context) -> list[str]:
    """The errors of the conditions of an entry."""
    return [c.error or context.conditions[c.that.partition("(")[0]].error for c in entry.conditions]


def _row(row: Row, named: dict[str, Entry], context: Context) -> str:
    """The row of an entry."""
    entry = row.entry
    items = [_quote(row.module), _quote(row.function)]
    items += ["random=True"] if entry.random else []
    items += [f"dynamic={_quote(entry.dynamic)}"] if entry.dynamic else []
    items += [f"static={_tuple([_quote(n) for n in entry.static])}"] if entry.static else []
    special = [[_quote(name), _tuple([*map(_value, values)])] for name, values in entry.special]
    items += [f"special={_tuple(special)}"] if special else []
    items += [f"{field}={_names(names)}" for word, field in WRITES.items() if (names := entry.written(word))]
    items += [f"draws_if={_names(entry.random)}"] if isinstance(entry.random, tuple) else []
    items += [f"conditions={_quote(f'{entry.family}.{function_name(entry.name)}__checks')}"] if entry.conditions else []
    for key, called in (("prepare", entry.prepare), ("guard", entry.guard)):
        items += [f"{key}={_names(called.words)}"] if called else []
    items += [f"{key}={_quote(text)}" for key in ("on_host", "results", "grad") if (text := getattr(entry, key))]
    items += [f"form={_quote(row.form)}"] if row.form != "functional" else []
    errors = [error.partition(": ") for error in _errors(entry, context)]
    tables = {
        "renamed=": [[_quote(n) for n in pair] for pair in renamed(entry, context.schemas)],
        "dtypes=": [[_quote(x) for x in pair] for pair in _taken(entry, named)],
        "checks=": [[_quote(kind), _quote(message)] for kind, _, message in errors],
    }
    held = {key: pairs for key, pairs in tables.items() if pairs}
    flat = [f"{key}{_tuple(pairs)}" for key, pairs in held.items()]
    text = fit(f"{_quote(row.name)}: Row(", [*items, *flat], "),", INDENT)
    if max(map(len, text.splitlines())) <= WIDTH:
        return text
    inner = INDENT + INDENT
    lines = [f"{inner}{item}," for item in items]
    lines += [literal(key, pairs, ",", inner) for key, pairs in held.items()]
    return "\n".join([f"{INDENT}{_quote(row.name)}: Row(", *lines, f"{INDENT}),"])


def _value(text: str) -> str:
    """A special value as source."""
    return _quote(text) if text in SPECIAL_WORDS else text.replace("inf", 'float("inf")')


def _names(names: Sequence[str]) -> str:
    """A tuple of strings as source."""
    return _tuple([_quote(name) for name in names])


def _policy(policy: Policy) -> str:
    items = [_quote(policy.kind)]
    for key in ("tensors", "lists"):
        positions: tuple[int, ...] = getattr(policy, key)
        items += [f"{key}={_tuple([str(i) for i in positions])}"] if positions else []
    items += [f"dtype={policy.dtype}"] if policy.dtype is not None else []
    items += [f"calls={_quote(policy.calls)}"] if policy.calls else []
    if policy.error:
        items += ["error=" + f"\n{INDENT * 2}".join(_quote(line) for line in policy.error.splitlines(True))]
    return fit(f"{_quote(policy.name)}: Policy(", items, "),", INDENT)


def _pair(name: str, reason: str) -> str:
    return f"{INDENT}{_quote(name)}: {_quote(reason)},"

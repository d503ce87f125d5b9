"""Check entries for all faults before any code is written."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from torchgen.model import BaseTy, FunctionSchema, SchemaKind

from tenax.codegen import kernel
from tenax.codegen.conditions import Condition
from tenax.codegen.fault import Fault, one_of
from tenax.codegen.schema import Native, Schemas
from tenax.codegen.signature import Parameter, dropped, function_name, parameters, results, written
from tenax.codegen.source import BUILTINS, MODULES, free_names, kinds, unresolved, words
from tenax.codegen.spec import DTYPES, WRITES, Call, Entry, call
from tenax.codegen.tree import Tree


@dataclass(frozen=True)
class Context:
    """The context of the checks: torch's schemas, the words, the kernels and the other entries."""

    schemas: Schemas
    tree: Tree
    words: frozenset[str]
    kinds: frozenset[str]
    functions: dict[str, Entry] = field(default_factory=dict)  # by generated name
    conditions: dict[str, Condition] = field(default_factory=dict)

    @classmethod
    def of(
        cls, schemas: Schemas, tree: Tree, entries: Sequence[Entry], conditions: dict[str, Condition] | None = None
    ) -> Context:
        functions = {function_name(e.name): e for e in entries if e.lowered}
        return cls(schemas, tree, words(tree.words), kinds(tree.words), functions, conditions or {})

    def target(self, entry: Entry) -> tuple[str, str]:
        """The module in `tenax` and the function that compute an entry: its kernel, if no wrapper is needed."""
        if kernel.is_lowering(entry, parameters(self.schemas[entry.name].func), self.tree):
            module, function = kernel.split(entry)
            return f"kernels.{module}", function
        return f"generated.{entry.family}", function_name(entry.name)

    def generated(self, entry: Entry) -> bool:
        """Whether the function of an entry is written to generated/."""
        return self.target(entry)[0].startswith("generated.")


def names(found: Sequence[str]) -> str:
    """Format a list of names for a message."""
    return ", ".join(f"`{n}`" for n in found) or "none"


def check(entries: Sequence[Entry], context: Context) -> tuple[list[Entry], list[Fault]]:
    """Return the entries without a fault, and the faults of the others."""
    good, faults = [], []
    first: dict[str, Entry] = {}
    for entry in entries:
        held = first.setdefault(entry.name, entry)
        if held is not entry:
            place = f"{held.where}:{held.line}"
            found = [entry.fault("func", f"{entry.name} has a second entry; the first is {place}", "one entry")]
        else:
            found = list(schema_faults(entry, context)) or list(entry_faults(entry, context))
        faults += found
        if not found:
            good.append(entry)
    return good, faults


def schema_faults(entry: Entry, context: Context) -> Iterator[Fault]:
    """Check that the schema equals torch's, and that entries may be written for it."""
    name, schemas = entry.name, context.schemas
    if entry.library and name not in schemas:
        yield entry.fault("func", f"`{entry.func}` does not parse", "the operator's schema, as torch.ops prints it")
        return
    if entry.library and any(not f.library for f in schemas.bases[schemas[name].func.name.name.base]):
        yield entry.fault("func", f"{name} has the function name of an op of torch", "a function name of its own")
        return
    if name not in schemas:
        wanted = one_of(name, schemas.functions, many=True)
        yield entry.fault("func", f"torch {schemas.release} has no {name}", wanted)
        return
    theirs = schemas[name].func
    if not entry.lowered and "(...)" in entry.func:
        return
    try:
        ours = Native(entry.func).func
    except (AssertionError, RuntimeError, ValueError) as error:
        yield entry.fault("func", f"`{entry.func}` does not parse: {str(error)[:120]}", f"`{theirs}`")
        return
    if str(ours) != str(theirs):
        yield entry.fault("func", drift(ours, theirs), f"`{theirs}`, the schema of torch {schemas.release}")
    if entry.lowered:
        yield from _earlier(entry, theirs, schemas)


def _earlier(entry: Entry, func: FunctionSchema, schemas: Schemas) -> Iterator[Fault]:
    """Check that the lowering also serves earlier supported releases whose schemas differ, variants included."""
    before = {(f.name, release): old for f in schemas.variants[func.signature()] for release, old in _older(f, schemas)}
    for (name, release), old in before.items():
        if old.composite and not schemas.composite(name) and not entry.grad:
            yield entry.fault("func", f"{name} is CompositeImplicitAutograd in torch {release}", "`grad: vjp`")
        now = schemas[name].func
        broken = [text for text, harmless in differences(old.func, now, renames(old.func, now)) if not harmless]
        if broken:
            wrong = f"since torch {release}, {name}: {'; '.join(broken)}"
            yield entry.fault("func", wrong, "new arguments with defaults")


def _older(native: Native, schemas: Schemas) -> list[tuple[str, Native]]:
    return list(schemas.earlier.get(native.name, {}).items())


def renames(old: FunctionSchema, new: FunctionSchema) -> dict[str, str]:
    """The new names of arguments, and the old ones of those that had their places and types."""
    olds, news = old.arguments.flat_all, new.arguments.flat_all
    kept = {a.name for a in olds} & {b.name for b in news}
    pairs = [(a, b) for a, b in zip(olds, news, strict=False) if a.name != b.name and not kept & {a.name, b.name}]
    return {b.name: a.name for a, b in pairs if (a.type, a.annotation) == (b.type, b.annotation)}


def renamed(entry: Entry, schemas: Schemas) -> tuple[tuple[str, str], ...]:
    """The arguments of an overload and its variants that an earlier release calls otherwise, with these names."""
    variants = schemas.variants[schemas[entry.name].func.signature()]
    found = [renames(old.func, f.func).items() for f in variants for _, old in _older(f, schemas)]
    return tuple(dict.fromkeys(pair for pairs in found for pair in pairs))


def differences(
    old: FunctionSchema, new: FunctionSchema, renamed: Mapping[str, str] = {}
) -> Iterator[tuple[str, bool]]:
    """The differences between two schemas, each with whether a lowering of the new schema serves both.

    Calls by the old schema omit a new argument with a default, and the runtime fills in the default of the installed
    torch. `renamed` maps new names to old names.
    """
    now = {before: name for name, before in renamed.items()}
    olds = {now.get(a.name, a.name): a for a in old.arguments.flat_all}
    news = {a.name: a for a in new.arguments.flat_all}
    yield from ((f"argument `{a}` is gone", False) for name, a in olds.items() if name not in news)
    yield from ((f"argument `{a}` is new", a.default is not None) for name, a in news.items() if name not in olds)
    for name, a in olds.items():
        b = news.get(name)
        if b is not None and (a.type, a.annotation, a.default) != (b.type, b.annotation, b.default):
            yield f"argument `{a}` became `{b}`", (a.type, a.annotation) == (b.type, b.annotation)
    if [n for n in olds if n in news] != [n for n in news if n in olds]:
        yield f"the order of the arguments changed to {names(list(news))}", True
    if str(old.returns) != str(new.returns):
        yield "the return type changed", False


def drift(ours: FunctionSchema, theirs: FunctionSchema) -> str:
    """The argument or result of torch's schema that differs from the entry."""
    found = [text for text, _ in differences(ours, theirs)]
    return f"{theirs.name}: {'; '.join(found) or 'the schema changed'}"


def entry_faults(entry: Entry, context: Context) -> Iterator[Fault]:
    """All faults of an entry with a correct schema."""
    if not entry.lowered:
        if entry.body == "decompose" and entry.decompose != "torch":
            yield entry.fault("decompose", f"`{entry.decompose}`", "torch")
        return
    func = context.schemas[entry.name].func
    try:
        params = parameters(func)
        results(func)
    except TypeError as error:
        yield entry.fault("func", f"{entry.name}: {error}", "an `unsupported:` entry")
        return
    for found in (_variant, _gradient, _derivative, _dtypes, _promotion, _named, _body, _conditions):
        yield from found(entry, func, params, context)
    yield from _functions(entry, func, context)


def _functions(entry: Entry, func: FunctionSchema, context: Context) -> Iterator[Fault]:
    """The faults of the functions of runtime/aten/ that the entry names."""
    correction = Call(entry.results) if entry.results else None
    for key, called in (("prepare", entry.prepare), ("check", entry.guard), ("results", correction)):
        if called is not None:
            yield from kernel.call_faults(entry, key, called, func, context.tree)


def _variant(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    """Reject a variant unless torch has no functional form, or one that calls the variant."""
    if func.kind() is SchemaKind.functional:
        if context.schemas[entry.name].is_view:
            wrong = f"{entry.name} is a view: a lowering would return a copy in its place"
            yield entry.fault("func", wrong, "no entry (runtime/aten/memory.py implements views)")
        return
    for other in context.schemas.variants[func.signature()]:
        name = other.name
        calls = context.schemas.composite(name) or context.schemas.decomposes(name)
        if other.func.kind() is SchemaKind.functional and not calls:
            yield entry.fault("func", f"{entry.name} is derived from {name}", f"an entry for {name}")


def _gradient(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    if entry.grad not in ("", "vjp", "formula"):
        yield entry.fault("grad", f"`{entry.grad}`", "vjp, formula, or no such key")
    if entry.grad == "formula" and not context.schemas[entry.name].differentiated:
        yield entry.fault("grad", f"`formula`, and torch has none for {entry.name}", "vjp, or no such key")
    traced = [p.name for p in params if p.is_number and p.name not in entry.unconverted] if entry.grad else []
    if traced:
        yield entry.fault("grad", f"{traced[0]} is a traced number", f"`static: [{', '.join(traced)}]`")
    if context.schemas.composite(entry.name) and not (entry.grad or context.schemas[entry.name].differentiated):
        yield entry.fault(
            "func",
            f"{entry.name} is CompositeImplicitAutograd: a lowering of it silently loses its gradient",
            "`grad: vjp`, or no entry (torch decomposes it)",
        )


def _derivative(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    tensors = [p.name for p in params if p.is_tensor]
    if entry.derivative and (clash := {"grad", "result"} & {p.name for p in params}):
        wrong = f"`{clash.pop()}` is an argument of {entry.name}"
        yield entry.fault("derivative", wrong, "a kernel that calls `with_derivative`")
    for key, text in entry.derivative:
        for name in key.split(", "):
            if name not in tensors:
                yield entry.fault(
                    "derivative", f"`{name}` is not a Tensor of {entry.name}", f"some of {names(tensors)}"
                )
        yield from name_faults(entry, "derivative", text, params, context, ("grad", "result"))


def _dtypes(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    tensors = [p.name for p in params if p.is_tensor]
    known = [*DTYPES, *(dtype for group in DTYPES.values() for dtype in group)]
    for name, text in entry.dtypes:
        if name and name not in (*tensors, "out"):
            yield entry.fault("dtypes", f"`{name}` is not a Tensor of {entry.name}", f"some of {names(tensors)}")
        words = text.removeprefix("not ").split()
        unknown = [w for w in words if w not in known]
        if unknown or not words:
            wrong = f"`{text}` names no dtype" if not words else f"unknown dtype `{unknown[0]}`"
            near = one_of(unknown[0], known, many=True) if unknown else ""
            groups = f"{names(list(DTYPES))} or single dtypes, optionally after `not`"
            yield entry.fault("dtypes", wrong, near or groups)


def _promotion(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    if entry.promote is None:
        return
    if entry.promote.kind not in context.kinds:
        kind = entry.promote.kind
        yield entry.fault("promote", f"unknown kind `{kind}`", one_of(kind, sorted(context.kinds)))
    held = {p.name: p for p in params}
    for name in entry.promote.names:
        if name not in held:
            yield entry.fault("promote", f"{entry.name} has no argument `{name}`", one_of(name, held))
        elif not (held[name].is_tensor or held[name].is_number):
            yield entry.fault("promote", f"`{name}` is {held[name].type}", "a Tensor or Scalar argument")
    if not entry.promote.names:
        yield entry.fault("promote", "no argument decides the dtype", f"some of {names(list(held))}")
    lists = [n for n in entry.promote.names if n in held and held[n].is_list]
    if len(lists) > 1:
        yield entry.fault("promote", f"{names(lists)} are lists", "at most one list")
    if results(func, entry.written("unmarked")) != ["Array"]:
        yield entry.fault("promote", f"{entry.name} does not have exactly one Tensor as its result", "no `promote`")
    if "dtype" in held and not held["dtype"].optional:
        yield entry.fault(
            "promote", f"`dtype` of {entry.name} is mandatory", "no `promote`, because the caller states the dtype"
        )


def _named(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    numbers = [p.name for p in params if p.is_number]
    for name in entry.static:
        if name not in numbers:
            yield entry.fault(
                "static", f"`{name}` is not a Scalar or float of {entry.name}", f"some of {names(numbers)}"
            )
    special = [p.name for p in params if p.is_number or p.is_int or (p.is_list and p.base is BaseTy.SymInt)]
    for name, _ in entry.special:
        if name not in special or name in entry.static:
            yield entry.fault(
                "special", f"`{name}` is not a traced number of {entry.name}", f"some of {names(special)}"
            )
    yield from _written(entry, func, params, context)
    for name in entry.random if isinstance(entry.random, tuple) else ():
        if name not in (held := [p.name for p in params]):
            yield entry.fault("random", f"{entry.name} has no argument `{name}`", one_of(name, held))
    generator = any(dropped(a) and a.name == "generator" for a in func.arguments.flat_non_out)
    if generator and not entry.random:
        yield entry.fault("func", f"{entry.name} has a generator but no key", "`random: true`")
    tagged = "nondeterministic_seeded" in context.schemas[entry.name].marks
    if entry.random and not generator and not tagged:
        yield entry.fault("random", f"torch does not mark {entry.name} as random", "no such key")


def _written(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    tensors = [p.name for p in params if p.is_tensor]
    marked = [p.name for p in written(func)]
    in_place = {p.name for f in context.schemas.variants[func.signature()] for p in written(f.func)}
    for name, text in entry.writes:
        words = text.split()
        unknown = [w for w in words if w not in WRITES]
        if unknown or not words:
            yield entry.fault("writes", f"unknown word `{text}`", one_of(text, WRITES))
        elif "unmarked" in words and name not in (free := [n for n in tensors if n not in marked]):
            yield entry.fault("writes", f"`{name}` is not an unmarked Tensor of {entry.name}", f"some of {names(free)}")
        elif {"unread", "expanded"} & {*words} and name not in in_place:
            yield entry.fault("writes", f"no in-place form of {entry.name} writes `{name}`", "no such word")
        elif "optional" in words and name not in marked:
            yield entry.fault("writes", f"{entry.name} does not write `{name}`", f"some of {names(marked)}")


def _body(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    check_body: dict[str, Callable[..., Iterator[Fault]]] = {"jnp": _expression, "kernel": _kernel, "each": _each}
    if function_name(entry.name) in context.words:
        yield entry.fault("func", f"{entry.name} would hide the word `{entry.name}`", "another name for the word")
    yield from check_body[entry.body](entry, params, context)
    if entry.on_host:
        if not entry.dynamic:
            yield entry.fault(
                "on_host", f"the result shapes of {entry.name} do not depend on data", "it with `dynamic`"
            )
        yield from kernel.faults(entry, params, context.tree, "on_host")


def known(entry: Entry, params: Sequence[Parameter]) -> list[str]:
    """The names that an expression may use: the local names of its generated function."""
    held = ["rng"] if entry.random else []
    held += [p.name for p in params]
    return held + (["dtype"] if entry.promote and "dtype" not in held else [])


def name_faults(
    entry: Entry, key: str, text: str, params: Sequence[Parameter], context: Context, more: Sequence[str] = ()
) -> Iterator[Fault]:
    """Check that every name of an expression is defined, and that the expression binds no confusing names."""
    try:
        found = list(free_names(text))
    except SyntaxError as error:
        yield entry.fault(key, f"`{text}` does not parse: {error.msg}", "one expression")
        return
    if any(
        isinstance(n, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield)) for n in ast.walk(ast.parse(text, mode="eval"))
    ):
        yield entry.fault(key, f"`{text}` contains a lambda or binds a name", "a function of runtime/kernels/")
    yield from attribute_faults(entry, key, text)
    arguments = [*more, *known(entry, params)]
    for name in dict.fromkeys(n.id for n in found):
        if name in arguments or name in context.words or name in context.functions or name in (*MODULES, *BUILTINS):
            continue
        near = difflib.get_close_matches(name, [*arguments, *context.words, *context.functions], 2)
        hint = f" (did you mean {' or '.join(f'`{n}`' for n in near)}?)" if near else ""
        yield entry.fault(
            key, f"unknown name `{name}`{hint}", f"an argument ({', '.join(arguments)}), a word or a lowering"
        )


def attribute_faults(entry: Entry, key: str, text: str) -> Iterator[Fault]:
    """Check that the installed JAX has every attribute of `jax`, `jnp` and `lax` that an expression uses."""
    for path, near in unresolved(text):
        hint = f" (did you mean `{near}`?)" if near else ""
        yield entry.fault(key, f"JAX has no `{path}`{hint}", "a public function of JAX")


def _expression(entry: Entry, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    faults = list(name_faults(entry, "jnp", entry.jnp, params, context))
    yield from faults
    told = f"{entry.jnp} {entry.check} {entry.note}"
    outs = written(context.schemas[entry.name].func)
    tensors = [p.name for p in params if p.is_tensor and not p.optional and p not in outs]
    unused = [name for name in tensors if not re.search(rf"\b{name}\b", told)]
    if 0 < len(unused) < len(tensors) and not faults:
        yield entry.fault("jnp", f"`{unused[0]}` of {entry.name} is not used", "it in the expression, or why in `note`")


def _kernel(entry: Entry, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    yield from kernel.faults(entry, params, context.tree)


def _each(entry: Entry, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    parsed = call(entry.each)
    if parsed is None:
        yield entry.fault(
            "each", f"`{entry.each}` is not a call", "overload(arguments), such as add.Tensor(self, other)"
        )
        return
    target, node = parsed
    name = function_name(target)
    if name not in context.functions:
        yield entry.fault("each", f"{target} has no lowering", "an overload with a jnp, kernel or each entry")
        return
    # A builtin replaces the overload while parsing, because a name with a dot is not a Python name.
    yield from name_faults(entry, "each", ast.unparse(node).replace("f(", "tuple(", 1), params, context)
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    if not any(p.is_list and p.is_tensor and p.name in used for p in params):
        yield entry.fault("each", f"`{entry.each}` uses no Tensor list", "the Tensor lists to map over")
    takes = [p.name for p in parameters(context.schemas[target].func)] if target in context.schemas else []
    given = [*takes[: len(node.args)], *(k.arg for k in node.keywords if k.arg)]
    unknown = [n for n in given if n not in takes]
    if unknown or len(node.args) > len(takes) or len(set(given)) != len(given):
        yield entry.fault("each", f"`{entry.each}` does not fit {target}", f"its arguments {names(takes)}")
    if context.functions[name].random:
        yield entry.fault("each", f"{target} is random", "a kernel that splits the key")


def _conditions(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    for item in entry.conditions:
        if item.error:
            yield from name_faults(entry, "check", item.that, params, context)
            continue
        parsed = call(item.that)
        if parsed is None or parsed[0] not in context.conditions:
            wrong = f"`{item.that}` is not a named check"
            yield entry.fault("check", wrong, f"one of ops_spec/checks.yaml ({', '.join(sorted(context.conditions))})")
            continue
        # A builtin replaces the name of the check while parsing, because expressions cannot use it.
        yield from name_faults(entry, "check", ast.unparse(parsed[1]).replace("f(", "tuple(", 1), params, context)
        condition, given = context.conditions[parsed[0]], parsed[1]
        if len(given.args) != len(condition.parameters) or given.keywords:
            yield entry.fault("check", f"`{item.that}`", f"the arguments of {condition}")


def condition_faults(entries: Sequence[Entry], context: Context) -> Iterator[Fault]:
    """The faults of named checks: errors in their expressions, and checks that no entry uses."""
    where = context.tree.spec_name(context.tree.checks.stem)
    named = {parsed[0] for e in entries for c in e.conditions if not c.error and (parsed := call(c.that))}
    for condition in context.conditions.values():
        if condition.name in context.words or condition.name in context.functions:
            yield Fault(where, condition.line, f"{condition.name} is also a word or a lowering", "another name")
        if condition.name not in named:
            yield Fault(where, condition.line, f"no entry uses the check {condition.name}", "an entry that uses it")
        try:
            found = {n.id for n in free_names(condition.that)}
        except SyntaxError as error:
            yield Fault(where, condition.line, f"`{condition.that}` does not parse: {error.msg}", "one expression")
            continue
        for path, near in unresolved(condition.that):
            hint = f" (did you mean `{near}`?)" if near else ""
            yield Fault(where, condition.line, f"JAX has no `{path}`{hint}", "a public function of JAX")
        for name in sorted(found - {*condition.parameters, *context.words, *MODULES, *BUILTINS}):
            yield Fault(
                where, condition.line, f"unknown name `{name}`", f"one of {names(condition.parameters)} or a word"
            )

"""Everything that can be wrong with an entry, found before any code is written."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from torchgen.model import FunctionSchema, SchemaKind

from tenax.codegen.fault import Fault
from tenax.codegen.schema import Native, Schemas
from tenax.codegen.signature import Parameter, dropped, function_name, parameters, results, written
from tenax.codegen.source import BUILTINS, MODULES, defined, free_names, kinds, same_default, words
from tenax.codegen.spec import DTYPES, Entry, call
from tenax.codegen.tree import Tree


@dataclass(frozen=True)
class Context:
    """What an entry is checked against: torch, the words, the kernels and the other entries."""

    schemas: Schemas
    tree: Tree
    words: frozenset[str]
    kinds: frozenset[str]
    functions: dict[str, Entry] = field(default_factory=dict)  # by generated name

    @classmethod
    def of(cls, schemas: Schemas, tree: Tree, entries: Sequence[Entry]) -> Context:
        functions = {function_name(e.name): e for e in entries if e.lowered}
        return cls(schemas, tree, words(tree.words), kinds(tree.words), functions)


def names(found: Sequence[str]) -> str:
    """A list of names for a message."""
    return ", ".join(f"`{n}`" for n in found) or "none"


def check(entries: Sequence[Entry], context: Context) -> tuple[list[Entry], list[Fault]]:
    """The entries without a fault, and the faults of the others."""
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
    """The schema is torch's, to the letter, and is one that entries are written for."""
    name, schemas = entry.name, context.schemas
    if entry.library and name not in schemas:
        yield entry.fault("func", f"`{entry.func}` does not parse", "the operator's schema, as torch.ops prints it")
        return
    if entry.library and any(not f.library for f in schemas.bases[schemas[name].func.name.name.base]):
        yield entry.fault("func", f"{name} has the name of an op of torch", "an op whose function has its own name")
        return
    if name not in schemas:
        near = difflib.get_close_matches(name, schemas.functions, 3)
        yield entry.fault("func", f"torch {schemas.release} has no {name}", f"one of {names(near)}" if near else "")
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
    """The lowering also serves the supported releases in which the schema, or that of a variant, was another one."""
    before = {(f.name, release): old for f in schemas.variants[func.signature()] for release, old in _older(f, schemas)}
    for (name, release), old in before.items():
        if old.composite and not schemas.composite(name) and not entry.grad:
            yield entry.fault("func", f"{name} is CompositeImplicitAutograd in torch {release}", "`grad: vjp`")
        broken = [text for text, harmless in differences(old.func, schemas[name].func, entry.renamed) if not harmless]
        if broken:
            wrong = f"since torch {release}, {name}: {'; '.join(broken)}"
            yield entry.fault("func", wrong, "`renamed: {now: before}`, or new arguments with defaults")
    for now, old_name in entry.renamed:
        if not any(old_name in {a.name for a in old.func.arguments.flat_all} for old in before.values()):
            wrong = f"no supported release of torch calls `{now}` of {entry.name} `{old_name}`"
            yield entry.fault("renamed", wrong, "names that differ")


def _older(native: Native, schemas: Schemas) -> list[tuple[str, Native]]:
    return list(schemas.earlier.get(native.name, {}).items())


def differences(
    old: FunctionSchema, new: FunctionSchema, renamed: Sequence[tuple[str, str]] = ()
) -> Iterator[tuple[str, bool]]:
    """How the arguments and results of two schemas differ, each with whether a lowering of the new one serves both.

    A new argument with a default is left out of calls by the old schema, and the runtime fills in the defaults of the
    installed torch. `renamed` has the names that are new, with what they were.
    """
    now = {before: name for name, before in renamed}
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
        yield "what it returns changed", False


def drift(ours: FunctionSchema, theirs: FunctionSchema) -> str:
    """Which argument or result of a schema is no longer what the entry was written against."""
    found = [text for text, _ in differences(ours, theirs)]
    return f"{theirs.name}: {'; '.join(found) or 'the schema changed'}"


def entry_faults(entry: Entry, context: Context) -> Iterator[Fault]:
    """All that is wrong with an entry whose schema is right."""
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
    for found in (_variant, _gradient, _dtypes, _promotion, _named, _body, _conditions):
        yield from found(entry, func, params, context)


def _variant(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    """A variant is written only where torch has no functional form, or one that itself calls the variant."""
    if func.kind() is SchemaKind.functional:
        if context.schemas[entry.name].is_view:
            wrong = f"{entry.name} is a view: a lowering would return a copy in its place"
            yield entry.fault("func", wrong, "no entry (views are runtime/device/memory.py's)")
        return
    for other in context.schemas.variants[func.signature()]:
        name = other.name
        calls = context.schemas.composite(name) or context.schemas.decomposes(name)
        if other.func.kind() is SchemaKind.functional and not calls:
            yield entry.fault("func", f"{entry.name} is derived from {name}", f"an entry for {name}")


def _gradient(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    if entry.grad not in ("", "vjp"):
        yield entry.fault("grad", f"`{entry.grad}`", "vjp, or no such key")
    traced = [p.name for p in params if p.is_number and p.name not in entry.static] if entry.grad else []
    if traced:
        yield entry.fault("grad", f"{traced[0]} is a traced number", f"`static: [{', '.join(traced)}]`")
    if context.schemas.composite(entry.name) and not (entry.grad or context.schemas[entry.name].differentiated):
        yield entry.fault(
            "func",
            f"{entry.name} is CompositeImplicitAutograd: a lowering of it silently loses its gradient",
            "`grad: vjp`, or no entry (torch decomposes it)",
        )


def _dtypes(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    tensors = [p.name for p in params if p.is_tensor]
    known = [*DTYPES, *(dtype for group in DTYPES.values() for dtype in group)]
    for name, text in entry.dtypes:
        if name and name not in tensors:
            yield entry.fault("dtypes", f"`{name}` is no Tensor of {entry.name}", f"some of {names(tensors)}")
        words = text.removeprefix("not ").split()
        unknown = [w for w in words if w not in known]
        if unknown or not words:
            wrong = f"`{text}` names no dtype" if not words else f"unknown dtype `{unknown[0]}`"
            yield entry.fault("dtypes", wrong, f"{names(list(DTYPES))} or single dtypes, perhaps after `not`")


def _promotion(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    if entry.promote is None:
        return
    if entry.promote.kind not in context.kinds:
        yield entry.fault("promote", f"unknown kind `{entry.promote.kind}`", f"one of {names(sorted(context.kinds))}")
    held = {p.name: p for p in params}
    for name in entry.promote.names:
        if name not in held:
            yield entry.fault("promote", f"{entry.name} has no argument `{name}`", f"one of {names(list(held))}")
        elif not (held[name].is_tensor or held[name].is_number):
            yield entry.fault("promote", f"`{name}` is {held[name].type}", "a Tensor or Scalar argument")
    if not entry.promote.names:
        yield entry.fault("promote", "no argument decides the dtype", f"some of {names(list(held))}")
    lists = [n for n in entry.promote.names if n in held and held[n].is_list]
    if len(lists) > 1:
        yield entry.fault("promote", f"{names(lists)} are lists", "one list at most")
    if results(func, entry.writes) != ["Array"]:
        yield entry.fault("promote", f"{entry.name} has not exactly one Tensor as its result", "no `promote` here")
    if "dtype" in held and not held["dtype"].optional:
        yield entry.fault(
            "promote", f"`dtype` of {entry.name} is given", "no `promote` where the caller says the dtype"
        )


def _named(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    numbers = [p.name for p in params if p.is_number]
    for name in entry.static:
        if name not in numbers:
            yield entry.fault("static", f"`{name}` is no Scalar or float of {entry.name}", f"some of {names(numbers)}")
    tensors = [p.name for p in params if p.is_tensor and p not in written(func)]
    for name in entry.writes:
        if name not in tensors:
            yield entry.fault("writes", f"`{name}` is no unmarked Tensor of {entry.name}", f"some of {names(tensors)}")
    generator = any(dropped(a) and a.name == "generator" for a in func.arguments.flat_non_out)
    if generator and not entry.random:
        yield entry.fault("func", f"{entry.name} takes a generator and gets no key", "`random: true`")
    tagged = "nondeterministic_seeded" in context.schemas[entry.name].marks
    if entry.random and not generator and not tagged:
        yield entry.fault("random", f"torch does not mark {entry.name} as random", "no such key")


def _body(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    check_body: dict[str, Callable[..., Iterator[Fault]]] = {"jnp": _expression, "kernel": _kernel, "each": _each}
    if function_name(entry.name) in context.words:
        yield entry.fault("func", f"{entry.name} would hide the word `{entry.name}`", "another name for the word")
    yield from check_body[entry.body](entry, params, context)


def known(entry: Entry, params: Sequence[Parameter]) -> list[str]:
    """The local names of a generated function."""
    held = ["rng"] if entry.random else []
    held += [p.name for p in params]
    return held + (["dtype"] if entry.promote and "dtype" not in held else [])


def name_faults(entry: Entry, key: str, text: str, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    """Every name of an expression means something, and nothing is bound that a reader would have to guess."""
    try:
        found = list(free_names(text))
    except SyntaxError as error:
        yield entry.fault(key, f"`{text}` does not parse: {error.msg}", "one expression")
        return
    if any(
        isinstance(n, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield)) for n in ast.walk(ast.parse(text, mode="eval"))
    ):
        yield entry.fault(key, f"`{text}` holds a lambda or binds a name", "a function of runtime/kernels/")
    arguments = known(entry, params)
    for name in dict.fromkeys(n.id for n in found):
        if name in arguments or name in context.words or name in context.functions or name in (*MODULES, *BUILTINS):
            continue
        near = difflib.get_close_matches(name, [*arguments, *context.words, *context.functions], 2)
        hint = f" (did you mean {' or '.join(f'`{n}`' for n in near)}?)" if near else ""
        yield entry.fault(
            key, f"unknown name `{name}`{hint}", f"an argument ({', '.join(arguments)}), a word or a lowering"
        )


def _expression(entry: Entry, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    yield from name_faults(entry, "jnp", entry.jnp, params, context)


def _kernel(entry: Entry, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    module, _, function = entry.kernel.partition(".")
    if not (module.isidentifier() and function.isidentifier()):
        yield entry.fault("kernel", f"`{entry.kernel}`", "module.function of runtime/kernels/")
        return
    path = context.tree.kernel(module)
    where = f"runtime/kernels/{module}.py"
    if not path.exists():
        yield entry.fault("kernel", f"there is no {where}", f"a module that defines `{function}`")
        return
    try:
        held = defined(path)
    except SyntaxError as error:
        yield Fault(where, error.lineno or 1, f"does not parse: {error.msg}", "Python")
        return
    if function not in held:
        near = difflib.get_close_matches(function, held, 2)
        yield entry.fault(
            "kernel", f"{where} defines no `{function}`", f"one of {names(near)}" if near else "that function"
        )
        return
    signature = held[function]
    if signature is None:  # assigned, as by a table: its signature is not in the source
        return
    wanted = (["rng"] if entry.random else []) + [p.name for p in params]
    place = f"{function} at {where}:{signature.line}"
    have = [n for n in signature.names if n in wanted]
    free = [n for n in signature.names if n not in wanted and n not in signature.defaults and not n.startswith("*")]
    if have != wanted or free:
        yield entry.fault("kernel", f"{place} takes ({', '.join(signature.names)})", f"({', '.join(wanted)})")
        return
    # A kernel need not repeat a default: the generated function passes every argument. One that it gives is torch's.
    stated = {p.name: p.default for p in params if p.default is not None and p.name in signature.defaults}
    other = {name: text for name, text in stated.items() if not same_default(signature.defaults[name], text)}
    if other:
        given = ", ".join(f"{name}={signature.defaults[name]}" for name in other)
        torchs = ", ".join(f"{name}={text}" for name, text in other.items())
        yield entry.fault("kernel", f"{place} has the defaults ({given})", f"({torchs})")


def _each(entry: Entry, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    parsed = call(entry.each)
    if parsed is None:
        yield entry.fault("each", f"`{entry.each}` is no call", "overload(arguments), as add.Tensor(self, other)")
        return
    target, node = parsed
    name = function_name(target)
    if name not in context.functions:
        yield entry.fault("each", f"{target} has no lowering", "an overload with a jnp, kernel or each entry")
        return
    # A builtin stands in for the overload, whose name with its dot is no Python name.
    yield from name_faults(entry, "each", ast.unparse(node).replace("f(", "tuple(", 1), params, context)
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    if not any(p.is_list and p.is_tensor and p.name in used for p in params):
        yield entry.fault("each", f"`{entry.each}` uses no Tensor list", "the lists to go over, in step")
    takes = [p.name for p in parameters(context.schemas[target].func)] if target in context.schemas else []
    given = [*takes[: len(node.args)], *(k.arg for k in node.keywords if k.arg)]
    unknown = [n for n in given if n not in takes]
    if unknown or len(node.args) > len(takes) or len(set(given)) != len(given):
        yield entry.fault("each", f"`{entry.each}` does not fit {target}", f"its arguments {names(takes)}")
    if context.functions[name].random:
        yield entry.fault("each", f"{target} is random", "a kernel that splits the key")


def _conditions(entry: Entry, func: FunctionSchema, params: Sequence[Parameter], context: Context) -> Iterator[Fault]:
    for item in entry.check:
        yield from name_faults(entry, "check", item.that, params, context)

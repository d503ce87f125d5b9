"""Read the definitions of hand-written modules, the words and the kernels, from their source with `ast`."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

# The names that an expression may use besides its arguments, the words and other lowerings.
MODULES = ("jax", "jnp", "lax")
BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "complex", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min"}
    | {"range", "reversed", "round", "sorted", "sum", "tuple", "zip"}
)


@dataclass(frozen=True)
class Signature:
    """The parameters of a kernel, with their defaults as source text."""

    names: tuple[str, ...]
    defaults: dict[str, str]
    line: int
    keyword_only: frozenset[str] = frozenset()
    decorated: bool = False


@lru_cache(maxsize=256)
def definitions(path: Path, stamp: int) -> dict[str, Signature | None]:
    """The top-level names of a module, with the signatures of functions and of partial functions."""
    found: dict[str, Signature | None] = {}
    constants: dict[str, str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _signature(node, constants)
        elif isinstance(node, ast.ClassDef):
            found[node.name] = None
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            held = _partial_signature(node.value, found)
            found |= {n.id: held for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            if isinstance(targets[0], ast.Name) and isinstance(node.value, ast.Constant):
                constants[targets[0].id] = ast.unparse(node.value)
    return found


def defined(path: Path) -> dict[str, Signature | None]:
    """`definitions` of the current content of a file."""
    return definitions(path, path.stat().st_mtime_ns)


def _signature(node: ast.FunctionDef, constants: dict[str, str]) -> Signature:
    a = node.args
    positional = [*a.posonlyargs, *a.args]
    defaults = dict(zip([p.arg for p in positional][::-1], [ast.unparse(d) for d in a.defaults][::-1], strict=False))
    defaults |= {p.arg: ast.unparse(d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None}
    defaults = {name: constants.get(text, text) for name, text in defaults.items()}
    extra = [f"*{p.arg}" for p in (a.vararg,) if p] + [f"**{p.arg}" for p in (a.kwarg,) if p]
    names = (*(p.arg for p in [*positional, *a.kwonlyargs]), *extra)
    return Signature(names, defaults, node.lineno, frozenset(p.arg for p in a.kwonlyargs), bool(node.decorator_list))


def _partial_signature(value: ast.expr | None, found: dict[str, Signature | None]) -> Signature | None:
    """The signature of `partial(function, name=...)`, which binds keyword-only parameters; None for another value."""
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) == "partial" and len(value.args) == 1):
        return None
    whole, bound = found.get(ast.unparse(value.args[0])), {k.arg for k in value.keywords}
    if whole is None or not bound <= whole.keyword_only:
        return None
    return replace(
        whole,
        names=tuple(n for n in whole.names if n not in bound),
        defaults={n: text for n, text in whole.defaults.items() if n not in bound},
        keyword_only=frozenset(n for n in whole.keyword_only if n not in bound),
    )


def words(path: Path) -> frozenset[str]:
    """The public names of words.py, including `Array` and `DType`."""
    return frozenset(name for name in defined(path) if not name.startswith("_"))


def kinds(path: Path) -> frozenset[str]:
    """The promotion kinds: the functions of words.py with upper-case names."""
    return frozenset(name for name, what in defined(path).items() if what is not None and name.isupper())


def table_keys(path: Path, name: str) -> tuple[str, ...]:
    """The literal keys of a dict that is assigned at the top level of a module; empty without such a module."""
    if not path.exists():
        return ()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name):
            continue
        if isinstance(node.value, ast.Dict):
            return tuple(str(k.value) for k in node.value.keys if isinstance(k, ast.Constant))
    return ()


def table_words(path: Path, name: str) -> tuple[str, ...]:
    """The words in the string values of a dict at the top level of a module; empty without such a module."""
    if not path.exists():
        return ()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            assert node.value is not None
            return tuple(word for value in ast.literal_eval(node.value).values() for word in value.split())
    return ()


def free_names(expression: str) -> Iterator[ast.Name]:
    """The names that an expression reads and does not bind, in text order.

    Raises:
        SyntaxError: the text is not an expression.
    """
    tree = ast.parse(expression, mode="eval")
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    bound = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    bound |= {a.arg for n in ast.walk(tree) if isinstance(n, ast.Lambda) for a in n.args.args}
    loaded = [n for n in names if isinstance(n.ctx, ast.Load) and n.id not in bound]
    return iter(sorted(loaded, key=lambda n: (n.lineno, n.col_offset)))


def unresolved(expression: str) -> Iterator[tuple[str, str]]:
    """The attributes of `jax`, `jnp` and `lax` in an expression that do not exist: the attribute's path, and a similar
    name or ""."""
    import jax  # only where a spec is checked

    inner: set[ast.AST] = set()  # the parts of paths that were looked at
    for outer in ast.walk(ast.parse(expression, mode="eval")):
        path: list[str] = []
        node = outer if outer not in inner else None
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
            inner.add(node)
        if not path or not isinstance(node, ast.Name) or node.id not in MODULES:
            continue
        owner: Any = {"jax": jax, "jnp": jax.numpy, "lax": jax.lax}[node.id]
        for i, name in enumerate(path):
            if not hasattr(owner, name):
                near = difflib.get_close_matches(name, dir(owner), 1)
                yield ".".join((node.id, *path[: i + 1])), ".".join((node.id, *path[:i], near[0])) if near else ""
                break
            owner = getattr(owner, name)


def substitute(expression: str, names: dict[str, str]) -> str:
    """Replace some of the free names of an expression, and keep the rest of its text."""
    data = expression.encode()
    for node in reversed(list(free_names(expression))):
        if node.id in names:
            data = data[: node.col_offset] + names[node.id].encode() + data[node.col_offset + len(node.id) :]
    return data.decode()


def same_default(left: str, right: str, names: bool = True) -> bool:
    """Whether the default of a kernel equals torch's, both as source text; a list equals the tuple, and an int a tuple
    of that int.

    With `names`, a default that is the name of a value is accepted, because its value is not in the source.
    """
    if names and left.isidentifier() and left not in ("None", "True", "False"):
        return True
    try:
        a, b = ast.literal_eval(left), ast.literal_eval(right)
    except (SyntaxError, ValueError):
        return left.replace("'", '"') == right.replace("'", '"')
    a, b = (tuple(x) if isinstance(x, list) else x for x in (a, b))
    if isinstance(a, int) and isinstance(b, tuple):
        return set(b) == {a}
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)

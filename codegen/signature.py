"""Convert a schema to the Python signature of its lowering."""

from __future__ import annotations

import ast
import keyword
from dataclasses import dataclass

from torchgen.model import Argument, BaseTy, BaseType, FunctionSchema, ListType, OptionalType, SchemaKind, Type

# Arguments that the runtime handles: they determine where a result is stored, and not its values.
DROPPED_TYPES = {BaseTy.Layout, BaseTy.Device, BaseTy.MemoryFormat, BaseTy.Generator}
DROPPED_NAMES = {"pin_memory", "non_blocking"}

ANNOTATIONS = {
    BaseTy.Tensor: "Array",
    BaseTy.Scalar: "ArrayLike",
    BaseTy.float: "ArrayLike",
    BaseTy.int: "int",
    BaseTy.SymInt: "int",
    BaseTy.bool: "bool",
    BaseTy.SymBool: "bool",
    BaseTy.str: "str",
    BaseTy.ScalarType: "DType",
}
RESULTS = {**ANNOTATIONS, BaseTy.Scalar: "Array", BaseTy.float: "Array", BaseTy.bool: "Array"}

# Names of values in the schema language (ATen/core/Reduction.h, c10/core/ScalarType.h).
CONSTANTS = {"Mean": "1", "Sum": "2", "long": "INT64", "float": "FLOAT32", "inf": 'float("inf")'}
PREDEFINED = {"INT64", "FLOAT32"}


def identifier(name: str) -> str:
    """Convert a name of a schema to a Python identifier: `from` becomes `from_`."""
    return name + "_" if keyword.iskeyword(name) else name


def function_name(overload: str) -> str:
    """The name of a lowering: `add__Tensor` for `add.Tensor`, `relu` for `relu`, `nms` for `torchvision::nms`."""
    return identifier(overload.rpartition("::")[2].replace(".", "__"))


@dataclass(frozen=True)
class Parameter:
    """One parameter of a lowering."""

    name: str
    type: Type
    annotation: str
    default: str | None
    keyword: bool

    def __str__(self) -> str:
        text = f"{self.name}: {self.annotation}"
        return text if self.default is None else f"{text} = {self.default}"

    @property
    def base(self) -> BaseTy:
        return base(self.type)

    @property
    def is_list(self) -> bool:
        return _listed(self.type) is not None

    @property
    def is_number(self) -> bool:
        """Whether it is a `Scalar` or `float`, optional or not, which is traced unless static."""
        return self.base in (BaseTy.Scalar, BaseTy.float) and not self.is_list

    @property
    def is_int(self) -> bool:
        """Whether it is an `int` or `SymInt`, optional or not, which is static unless the spec has special values."""
        return self.base in (BaseTy.int, BaseTy.SymInt) and not self.is_list

    @property
    def is_tensor(self) -> bool:
        return self.base is BaseTy.Tensor

    @property
    def optional(self) -> bool:
        return isinstance(self.type, OptionalType)


def base(type_: Type) -> BaseTy:
    """The type without its list and optional marks."""
    while isinstance(type_, (ListType, OptionalType)):
        type_ = type_.elem
    if not isinstance(type_, BaseType):
        raise TypeError(f"{type_}: a custom class; expected a base type")
    return type_.name


def _listed(type_: Type) -> ListType | None:
    inner = type_.elem if isinstance(type_, OptionalType) else type_
    return inner if isinstance(inner, ListType) else None


def annotation(type_: Type, names: dict[BaseTy, str] = ANNOTATIONS) -> str:
    """The Python type of a schema type."""
    if isinstance(type_, OptionalType):
        return f"{annotation(type_.elem, names)} | None"
    if isinstance(type_, ListType):
        return f"{'list' if names is RESULTS else 'Sequence'}[{annotation(type_.elem, names)}]"
    found = names.get(base(type_))
    if found is None:
        raise TypeError(f"{type_}: no such type in a lowering")
    return found


def default(argument: Argument) -> str | None:
    """The schema's default as a Python expression."""
    text = argument.default
    if text is None:
        return None
    listed = _listed(argument.type)
    if listed is not None and text not in ("None",):
        value = ast.literal_eval(text) if text[0] in "[(" else [ast.literal_eval(_python(text))] * (listed.size or 1)
        return repr(tuple(value))
    return _python(text)


def _python(text: str) -> str:
    if text in CONSTANTS:
        return CONSTANTS[text]
    if text[0] in "'\"":
        return '"' + text[1:-1] + '"'
    return {"true": "True", "false": "False"}.get(text, text)


def dropped(argument: Argument) -> bool:
    """Whether the runtime handles the argument and does not pass it to the lowering."""
    return argument.name in DROPPED_NAMES or base(argument.type) in DROPPED_TYPES


def parameters(func: FunctionSchema) -> list[Parameter]:
    """The parameters of the lowering: those of the schema, without `out` and the arguments that the runtime handles."""
    positional = {a.name for a in func.arguments.flat_positional}
    return [
        Parameter(identifier(a.name), a.type, annotation(a.type), default(a), a.name not in positional)
        for a in func.arguments.flat_non_out
        if not dropped(a)
    ]


def written(func: FunctionSchema) -> list[Parameter]:
    """The arguments that the schema marks as written, except `out`."""
    marked = {identifier(a.name) for a in func.arguments.flat_non_out if a.annotation and a.annotation.is_write}
    return [p for p in parameters(func) if p.name in marked]


def results(func: FunctionSchema, writes: tuple[str, ...] = ()) -> list[str]:
    """The annotations of the results of the lowering: new results, then the new values of written arguments."""
    masks = [a for a in func.arguments.flat_non_out if str(a.type).startswith("bool[")]
    masked = any(a.name in ("output_mask", "mask") for a in masks)
    if func.kind() is SchemaKind.out:
        fresh = [a.type for a in func.arguments.out]
    else:
        fresh = [r.type for r in func.returns if r.annotation is None or not r.annotation.is_write]
    held = [annotation(t, RESULTS) + (" | None" if masked else "") for t in fresh]
    held += [annotation(p.type, RESULTS) for p in written(func)]
    return held + [annotation(p.type, RESULTS) for p in parameters(func) if p.name in writes]


def form(func: FunctionSchema) -> str:
    """How the runtime stores the results of the lowering."""
    kind = func.kind()
    if kind is SchemaKind.out:
        return "out"
    return "inplace" if kind in (SchemaKind.inplace, SchemaKind.mutable) else "functional"

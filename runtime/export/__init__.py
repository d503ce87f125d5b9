"""Convert `torch.export` programs to JAX functions, `jax.export` artifacts and StableHLO."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from os import PathLike
from typing import Any, Literal, overload

import jax
import jax.export
import numpy as np
import sympy
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, OutputKind, TensorArgument

from .._torch import pytree
from .._torch.exported import int_oo, reorder_kwargs
from .._torch.operators import OpOverload, decomposition_table
from ..aten.registration import register_all
from ..compile.captured_writes import lists_that_share, misread_write
from ..compile.nodes import is_random, line_of
from ..dispatch.lowering_trace import with_torch_dtypes
from ..dtypes import numpy_dtype
from ..functional.keys import numbered_keys, refuse_draw
from ..trace.transfer import checked_read
from .evaluate import FUNCTIONS, Evaluator

Weights = dict[str, jax.Array]
Function = Callable[..., tuple[Any, dict[str, jax.Array]]]

_WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_RETURNED = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


def exported_to_jax(program: ExportedProgram) -> tuple[Weights, Function]:
    """Convert an exported program to its weights and a pure JAX function of them.

    Args:
        program: the result of `torch.export.export`, captured on any device.

    Returns:
        weights: parameters, buffers and tensor constants by name, on the default JAX device.
        function: `function(weights, *args, rng=None, **kwargs)` returns `(outputs, mutated)`: the outputs of the
            program, in its structure, and the new values of the buffers and inputs that it writes, by name. Arguments
            are arrays with the exported shapes and dtypes. A program with random operations needs `rng`, a
            `jax.random.key` or its data, uint32[2].

    Raises:
        NotImplementedError: an input is neither a tensor nor a constant; on a call, an op has no lowering, or needs
            the value of a symbolic size. The message names the op.
    """
    program = _lowered(program)
    weights: Weights = {}
    arrays: dict[int, jax.Array] = {}  # tied weights are one array
    for spec in program.graph_signature.input_specs:
        if spec.kind in _WEIGHTS:
            tensor = _tensor(program, spec)
            if id(tensor) not in arrays:
                arrays[id(tensor)] = checked_read(tensor.detach())
            weights[_name(spec)] = arrays[id(tensor)]
        elif spec.kind is InputKind.TOKEN:
            continue
        elif spec.kind is not InputKind.USER_INPUT or not isinstance(spec.arg, (TensorArgument, ConstantArgument)):
            raise NotImplementedError(f"exported_to_jax: input {spec.arg.name!r} is {spec.arg}; expected a tensor")
    return weights, _Function(program)


class _Function:
    """The JAX function of an exported program."""

    def __init__(self, program: ExportedProgram) -> None:
        self.module = program.graph_module
        self.signature = program.graph_signature
        self.tree = program.call_spec.in_spec
        self.fakes = {n.name: n.meta.get("val") for n in self.module.graph.nodes if n.op == "placeholder"}
        self.out_tree = program.call_spec.out_spec
        self.__name__ = self.__qualname__ = "exported"

    @property
    def inputs(self) -> list[InputSpec]:
        """The inputs that the user passes."""
        return [s for s in self.signature.input_specs if s.kind is InputKind.USER_INPUT]

    @property
    def is_random(self) -> bool:
        """Whether the program draws random numbers."""
        return any(map(is_random, self.module.graph.nodes))

    def __call__(self, weights: Weights, *args: Any, rng: Any = None, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        flat, structure = pytree.tree_flatten((args, reorder_kwargs(kwargs, self.tree)))
        if structure != self.tree:
            raise TypeError(f"the exported function: arguments of structure {structure}; expected {self.tree}")
        inputs = iter([self.checked(spec, x) for spec, x in zip(self.inputs, flat, strict=True)])
        operands = [
            next(inputs) if s.kind is InputKind.USER_INPUT else weights[_name(s)] if s.kind in _WEIGHTS else None
            for s in self.signature.input_specs
        ]
        key = None if rng is None else jax.random.wrap_key_data(rng) if rng.dtype == np.uint32 else rng
        evaluator = Evaluator(self.module, refuse_draw if key is None else numbered_keys(key))
        results = with_torch_dtypes(evaluator.run, numpy_dtype(torch.get_default_dtype()))(*operands)
        outputs, mutated = [], {}
        for spec, result in zip(self.signature.output_specs, results, strict=True):
            if spec.kind in _RETURNED:
                outputs.append(result)
            elif spec.kind is not OutputKind.TOKEN:
                assert spec.target is not None
                mutated[spec.target] = result
        return _structured(outputs, self.out_tree), mutated

    def checked(self, spec: InputSpec, x: Any) -> Any:
        """Check an argument against the export and return it; for a constant, return the exported value.

        Raises:
            TypeError: the shape or dtype differs, or a constant argument has another value.
        """
        if isinstance(spec.arg, ConstantArgument):
            if x is not None and not isinstance(x, jax.core.Tracer) and x != spec.arg.value:
                raise TypeError(
                    f"the exported function: {spec.arg.name}={x!r}; expected {spec.arg.value!r}, a constant"
                )
            return spec.arg.value
        fake = self.fakes[spec.arg.name]
        sizes = [n if isinstance(n, int) else None for n in fake.shape]
        shape, dtype = np.shape(x), np.dtype(getattr(x, "dtype", type(x)))
        fits = len(shape) == len(sizes) and all(n is None or n == m for n, m in zip(sizes, shape, strict=True))
        expected = numpy_dtype(fake.dtype)
        if not fits or dtype != expected:
            narrowed = fits and dtype.kind == expected.kind and 2 * dtype.itemsize == expected.itemsize == 8
            hint = ". JAX passes arrays of 64 bits only within `with jax.enable_x64(True)`" if narrowed else ""
            raise TypeError(
                f"the exported function: {spec.arg.name} is {dtype}{list(shape)}; expected "
                f"{expected}[{', '.join(map(str, fake.shape))}]{hint}"
            )
        return x


def to_exported(program: ExportedProgram, *, platforms: Sequence[str] | None = None) -> jax.export.Exported:
    """Convert an exported program to a `jax.export` artifact, a function of `(weights, *args, **kwargs)`.

    Dynamic dimensions of the program become symbolic, with torch's ranges, and are at least 1. Random programs take
    the keyword argument `rng`, uint32[2].

    Args:
        program: the result of `torch.export.export`.
        platforms: a subset of "cpu", "cuda", "rocm", "tpu"; by default that of the default device. The exporting
            machine need not have such devices.

    Raises:
        NotImplementedError: as `exported_to_jax`.
    """
    return _artifact(program, platforms)[1]


def _artifact(program: ExportedProgram, platforms: Sequence[str] | None) -> tuple[Weights, jax.export.Exported]:
    weights, function = exported_to_jax(program)
    assert isinstance(function, _Function)
    with jax.enable_x64(True):  # otherwise an int64 ShapeDtypeStruct becomes int32
        weight_structs = {name: jax.ShapeDtypeStruct(w.shape, w.dtype) for name, w in weights.items()}
        fakes = [None if isinstance(s.arg, ConstantArgument) else function.fakes[s.arg.name] for s in function.inputs]
        flat = _structs(fakes, program.range_constraints)
        args, kwargs = pytree.tree_unflatten(flat, function.tree)
        if function.is_random:
            kwargs["rng"] = jax.ShapeDtypeStruct((2,), np.dtype(np.uint32))
        return weights, jax.export.export(jax.jit(function), platforms=platforms)(weight_structs, *args, **kwargs)


def _structs(inputs: Iterable[Any], ranges: dict[sympy.Symbol, Any]) -> list[Any]:
    """Shapes and dtypes of a graph's inputs, with all symbolic sizes in one scope, constrained to their ranges.

    Args:
        inputs: fake tensors, and other values, which are returned unchanged.
        ranges: torch's range of each symbol.
    """
    inputs = list(inputs)
    names: dict[str, sympy.Symbol] = {}
    for n in (n for x in inputs if isinstance(x, torch.Tensor) for n in _sizes(x)):
        if isinstance(n, torch.SymInt):
            names |= {str(s): s for s in n.node.expr.free_symbols}
    constraints = [c for name, s in sorted(names.items()) for c in _bounds(name, ranges.get(s))]
    scope = jax.export.SymbolicScope(constraints)

    def struct(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        text = ", ".join(str(n.node.expr) if isinstance(n, torch.SymInt) else str(n) for n in _sizes(x))
        return jax.ShapeDtypeStruct(jax.export.symbolic_shape(_spelled(text), scope=scope), numpy_dtype(x.dtype))

    return [struct(x) for x in inputs]


def _sizes(x: torch.Tensor) -> tuple[Any, ...]:
    return tuple(x.shape)


def _bounds(name: str, limits: Any) -> list[str]:
    """The range of a size as JAX constraints; JAX assumes that every symbolic dimension is at least 1."""
    lower = max(int(limits.lower), 1) if limits is not None and limits.lower != -int_oo else 1
    upper = [f"{name} <= {int(limits.upper)}"] if limits is not None and limits.upper != int_oo else []
    return [*([f"{name} >= {lower}"] if lower > 1 else []), *upper]


def _spelled(text: str) -> str:
    """Rewrite a shape in JAX's syntax."""
    return text.replace("FloorDiv", "floordiv").replace("Mod", "mod").replace("Max", "max").replace("Min", "min")


@overload
def to_stablehlo(
    program: ExportedProgram, *, platforms: Sequence[str] | None = ..., bytecode: Literal[False] = ...
) -> str: ...


@overload
def to_stablehlo(
    program: ExportedProgram, *, platforms: Sequence[str] | None = ..., bytecode: Literal[True]
) -> bytes: ...


def to_stablehlo(
    program: ExportedProgram, *, platforms: Sequence[str] | None = None, bytecode: bool = False
) -> str | bytes:
    """Convert an exported program to a StableHLO module, as text or as portable bytecode; else as `to_exported`.

    Raises:
        NotImplementedError: as `exported_to_jax`.
    """
    exported = to_exported(program, platforms=platforms)
    return exported.mlir_module_serialized if bytecode else exported.mlir_module()


def save(program: ExportedProgram, path: str | PathLike[str], *, platforms: Sequence[str] | None = None) -> None:
    """Write the program and its weights to one file, which can be run with JAX alone (docs/export.md).

    The file is a zip archive: `program` is a serialized `jax.export.Exported`, `weights/<name>.npy` has the bytes of
    each weight, and `weights.json` their dtypes and shapes. `platforms` are as for `to_exported`.

    Raises:
        NotImplementedError: as `exported_to_jax`.
        ImportError: flatbuffers, which JAX needs to serialize, is missing.
    """
    weights, exported = _artifact(program, platforms)
    described = {name: [w.dtype.name, list(w.shape)] for name, w in weights.items()}
    try:
        serialized = bytes(exported.serialize())  # before there is a file
    except ImportError as error:
        text = "tenax.export: the package flatbuffers is missing; expected pip install 'tenax[export]'"
        raise ImportError(text) from error
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("program", serialized)
        archive.writestr("weights.json", json.dumps(described))
        for name, w in weights.items():
            stream = BytesIO()
            np.save(stream, np.frombuffer(np.asarray(w).tobytes(), np.uint8))
            archive.writestr(f"weights/{name}.npy", stream.getvalue())


def load(path: str | PathLike[str]) -> tuple[Weights, jax.export.Exported]:
    """Read the weights and the artifact from a file of `save`. `exported.call(weights, *args)` runs it."""
    weights = {}
    with zipfile.ZipFile(path) as archive:
        exported = jax.export.deserialize(bytearray(archive.read("program")))
        for name, (dtype, shape) in json.loads(archive.read("weights.json")).items():
            array = np.load(BytesIO(archive.read(f"weights/{name}.npy"))).view(jax.numpy.dtype(dtype)).reshape(shape)
            with jax.enable_x64(True):
                weights[name] = jax.numpy.asarray(array)
    return weights, exported


def _lowered(program: ExportedProgram) -> ExportedProgram:
    """Decompose the program to functional ops that have lowerings; composites with a lowering are not decomposed.

    Raises:
        NotImplementedError: torch's functional form of a write has other values.
    """
    module = program.graph_module
    if wrong := [*lists_that_share(module), *filter(None, [misread_write(module)])]:
        raise NotImplementedError(
            f"tenax.export: {wrong[0].target}{line_of(wrong[0])} writes through an expanded view or windows, beside a "
            "view that reaches outside of its base, or to a list of tensors that share memory, for which torch's "
            "functional form has other values; write to clones"
        )
    register_all()
    from tenax.generated.table import ROWS

    from ..aten.custom_ops import registered

    table = torch.export.default_decompositions()
    for op in list(table):
        if isinstance(op, OpOverload) and (
            op.name().removeprefix("aten::") in ROWS or registered(op.name()) is not None
        ):
            del table[op]
    for op in {n.target for n in program.graph.nodes} & decomposition_table.keys() - table.keys():
        name = op.name().removeprefix("aten::")
        if name not in ROWS and name not in FUNCTIONS:  # a composite that torch treats as a core op
            table[op] = decomposition_table[op]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`isinstance", FutureWarning)  # torch 2.13 raises it for its own tree copy
        return program.run_decompositions(table)


def _name(spec: InputSpec) -> str:
    assert spec.target is not None
    return spec.target


def _tensor(program: ExportedProgram, spec: InputSpec) -> torch.Tensor:
    name = _name(spec)
    tensor = program.state_dict.get(name)
    return program.constants[name] if tensor is None else tensor


def _structured(outputs: list[Any], tree: Any) -> Any:
    """Restore the outputs' structure. A container unknown to JAX becomes a dict if its parts are named, or a tuple."""
    if tree.is_leaf():
        return outputs[0]
    parts, at = [], 0
    for child in tree.children():
        parts.append(_structured(outputs[at : at + child.num_leaves], child))
        at += child.num_leaves
    if tree.type in (tuple, list):
        return tree.type(parts)
    names = tree.context[0] if tree.context and isinstance(tree.context[0], (list, tuple)) else tree.context
    if isinstance(names, (list, tuple)) and len(names) == len(parts):
        return dict(zip(names, parts, strict=True))
    return tuple(parts)

"""Programs of `torch.export` as JAX functions, `jax.export` artifacts and StableHLO."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Callable, Sequence
from io import BytesIO
from os import PathLike
from typing import Any, Literal, overload

import jax
import jax.export
import numpy as np
import torch
from torch._decomp import decomposition_table
from torch.export import ExportedProgram
from torch.export._tree_utils import reorder_kwargs
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, OutputKind, TensorArgument
from torch.utils import _pytree as pytree

from .device.convert import read
from .dispatch.register import register_all
from .dtypes import numpy_dtype
from .graphs import dims
from .graphs.aten import FUNCTIONS
from .graphs.evaluate import evaluate
from .graphs.graph import is_random
from .tracing.pure import draws, no_draw

Weights = dict[str, jax.Array]
Function = Callable[..., tuple[Any, dict[str, jax.Array]]]

_HELD = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_RETURNED = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


def exported_to_jax(program: ExportedProgram) -> tuple[Weights, Function]:
    """A program that `torch.export.export` gave, as its weights and a pure JAX function of them.

    Args:
        program: captured on any device.

    Returns:
        weights: parameters, buffers and tensor constants by their names, on the default JAX device.
        function: `function(weights, *args, rng=None, **kwargs)` gives `(outputs, mutated)`: the program's outputs, in
            its structure, and the new values of the buffers and inputs that it writes, by name. Arguments are arrays
            of the shapes and dtypes that the program was exported for. A program with random operations wants `rng`,
            a `jax.random.key` or its data, uint32[2].

    Raises:
        NotImplementedError: an input is neither tensor nor constant; on a call, an op has no lowering, or needs sizes
            that are symbolic. Names the op.
    """
    program = _lowered(program)
    weights: Weights = {}
    arrays: dict[int, jax.Array] = {}  # tied weights are one array
    for spec in program.graph_signature.input_specs:
        if spec.kind in _HELD:
            tensor = _tensor(program, spec)
            if id(tensor) not in arrays:
                arrays[id(tensor)] = read(tensor.detach())
            weights[_name(spec)] = arrays[id(tensor)]
        elif spec.kind is InputKind.TOKEN:
            continue
        elif spec.kind is not InputKind.USER_INPUT or not isinstance(spec.arg, (TensorArgument, ConstantArgument)):
            raise NotImplementedError(f"exported_to_jax: input {spec.arg.name!r} is {spec.arg}; expected a tensor")
    return weights, _Function(program)


class _Function:
    """The function of a program."""

    def __init__(self, program: ExportedProgram) -> None:
        self.module = program.graph_module
        self.signature = program.graph_signature
        self.tree = program.call_spec.in_spec
        self.fakes = {n.name: n.meta.get("val") for n in self.module.graph.nodes if n.op == "placeholder"}
        self.out_tree = program.call_spec.out_spec
        self.__name__ = self.__qualname__ = "exported"

    @property
    def inputs(self) -> list[InputSpec]:
        """The program's own inputs."""
        return [s for s in self.signature.input_specs if s.kind is InputKind.USER_INPUT]

    @property
    def is_random(self) -> bool:
        """Whether it draws."""
        return any(map(is_random, self.module.graph.nodes))

    def __call__(self, weights: Weights, *args: Any, rng: Any = None, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        flat, found = pytree.tree_flatten((args, reorder_kwargs(kwargs, self.tree)))
        if found != self.tree:
            raise TypeError(f"the exported function: arguments of structure {found}; expected {self.tree}")
        given = iter([self.checked(spec, x) for spec, x in zip(self.inputs, flat, strict=True)])
        operands = [
            next(given) if s.kind is InputKind.USER_INPUT else weights[_name(s)] if s.kind in _HELD else None
            for s in self.signature.input_specs
        ]
        key = None if rng is None else jax.random.wrap_key_data(rng) if rng.dtype == np.uint32 else rng
        results = evaluate(self.module, operands, no_draw if key is None else draws(key))
        outputs, mutated = [], {}
        for spec, result in zip(self.signature.output_specs, results, strict=True):
            if spec.kind in _RETURNED:
                outputs.append(result)
            elif spec.kind is not OutputKind.TOKEN:
                assert spec.target is not None
                mutated[spec.target] = result
        return _structured(outputs, self.out_tree), mutated

    def checked(self, spec: InputSpec, x: Any) -> Any:
        """An argument of the shape and dtype that the program was exported for.

        Raises:
            TypeError: it has not; or it is not the constant that the program was exported with.
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
        if not fits or dtype != numpy_dtype(fake.dtype):
            wanted = [str(n) for n in fake.shape]
            raise TypeError(
                f"the exported function: {spec.arg.name} is {dtype}{list(shape)}; expected "
                f"{numpy_dtype(fake.dtype)}[{', '.join(wanted)}]"
            )
        return x


def to_exported(program: ExportedProgram, *, platforms: Sequence[str] | None = None) -> jax.export.Exported:
    """The program as a `jax.export` artifact, a function of `(weights, *args, **kwargs)`.

    Dimensions that torch left open are symbolic, within torch's ranges; an empty one is not possible. Random programs
    take `rng`, uint32[2].

    Args:
        program: from `torch.export.export`.
        platforms: some of "cpu", "cuda", "rocm", "tpu"; by default that of the default device. They need not be there.

    Raises:
        NotImplementedError: as `exported_to_jax`.
    """
    return _artifact(program, platforms)[1]


def _artifact(program: ExportedProgram, platforms: Sequence[str] | None) -> tuple[Weights, jax.export.Exported]:
    weights, function = exported_to_jax(program)
    assert isinstance(function, _Function)
    with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
        held = {name: jax.ShapeDtypeStruct(w.shape, w.dtype) for name, w in weights.items()}
        fakes = [None if isinstance(s.arg, ConstantArgument) else function.fakes[s.arg.name] for s in function.inputs]
        flat = dims.structs(fakes, program.range_constraints)
        args, kwargs = pytree.tree_unflatten(flat, function.tree)
        if function.is_random:
            kwargs["rng"] = jax.ShapeDtypeStruct((2,), np.dtype(np.uint32))
        return weights, jax.export.export(jax.jit(function), platforms=platforms)(held, *args, **kwargs)


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
    """The StableHLO module of `to_exported`, as text or as portable bytecode.

    Raises:
        NotImplementedError: as `exported_to_jax`.
    """
    exported = to_exported(program, platforms=platforms)
    return exported.mlir_module_serialized if bytecode else exported.mlir_module()


def save(program: ExportedProgram, path: str | PathLike[str], *, platforms: Sequence[str] | None = None) -> None:
    """Write the program and its weights to one file, which needs only JAX to be run (docs/export.md).

    A zip archive: `program` is a serialized `jax.export.Exported`, `weights/<name>.npy` the bytes of each weight, and
    `weights.json` their dtypes and shapes.

    Raises:
        NotImplementedError: as `exported_to_jax`.
        ImportError: flatbuffers is missing, by which JAX serializes.
    """
    weights, exported = _artifact(program, platforms)
    described = {name: [w.dtype.name, list(w.shape)] for name, w in weights.items()}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("program", bytes(exported.serialize()))
        archive.writestr("weights.json", json.dumps(described))
        for name, w in weights.items():
            stream = BytesIO()
            np.save(stream, np.frombuffer(np.ascontiguousarray(np.asarray(w)).tobytes(), np.uint8))
            archive.writestr(f"weights/{name}.npy", stream.getvalue())


def load(path: str | PathLike[str]) -> tuple[Weights, jax.export.Exported]:
    """What `save` wrote: the weights, and the artifact; `exported.call(weights, *args)` runs it."""
    with zipfile.ZipFile(path) as archive:
        exported = jax.export.deserialize(bytearray(archive.read("program")))
        weights = {}
        for name, (dtype, shape) in json.loads(archive.read("weights.json")).items():
            held = np.load(BytesIO(archive.read(f"weights/{name}.npy"))).view(jax.numpy.dtype(dtype)).reshape(shape)
            weights[name] = _put(held)
    return weights, exported


def _put(array: np.ndarray) -> jax.Array:
    with jax.enable_x64(True):
        return jax.numpy.asarray(array)


def _lowered(program: ExportedProgram) -> ExportedProgram:
    """The program in functional ops that have lowerings; composites that have one stay whole."""
    register_all()
    from tenax.generated.table import ROWS

    from .dispatch.lowering import registered

    table = torch.export.default_decompositions()
    for op in list(table):
        if isinstance(op, torch._ops.OpOverload) and (
            op.name().removeprefix("aten::") in ROWS or registered(op.name()) is not None
        ):
            del table[op]
    for op in {n.target for n in program.graph.nodes} & decomposition_table.keys() - table.keys():
        name = op.name().removeprefix("aten::")
        if name not in ROWS and name not in FUNCTIONS:  # a composite that torch counts among its core operations
            table[op] = decomposition_table[op]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`isinstance", FutureWarning)  # of torch 2.13 about its own copy of a tree
        return program.run_decompositions(table)


def _name(spec: InputSpec) -> str:
    assert spec.target is not None
    return spec.target


def _tensor(program: ExportedProgram, spec: InputSpec) -> torch.Tensor:
    name = _name(spec)
    found = program.state_dict.get(name)
    return program.constants[name] if found is None else found


def _structured(outputs: list[Any], tree: Any) -> Any:
    """Outputs in their structure; what JAX does not know as a container becomes a dict, where it names its parts."""
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

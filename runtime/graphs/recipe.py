"""How the results of a traced graph are made: of the arrays that its program gives, and of the graph's arguments.

A result that is an argument must be that very tensor, and one that shares memory with an argument or another result
must go on to share it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import torch

from ..device.cell import Cell, Fill, Kind, cell_of, contiguous, new_tensor, tensor_kind
from ..device.cell import Result as Known
from ..dtypes import torch_dtype

_META = torch._C.DispatchKey.Meta
_restride = torch.ops.aten.as_strided.default._op_dk


class Geometry(NamedTuple):
    """How a tensor lies on its storage."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    dtype: torch.dtype
    bits: int  # 1: conjugated, 2: negated

    @classmethod
    def of(cls, x: torch.Tensor) -> Geometry:
        """That of a tensor."""
        bits = x.is_conj() + 2 * x.is_neg()
        return cls(tuple(x.size()), tuple(x.stride()), int(x.storage_offset()), x.dtype, bits)

    def on(self, base: torch.Tensor) -> torch.Tensor:
        """Another tensor on the storage of `base`."""
        if base.dtype is not self.dtype:
            base = torch.empty(0, dtype=self.dtype, device=base.device).set_(base.untyped_storage())
        if base.device.type != "jax":
            out = base.detach().as_strided(self.size, self.stride, self.offset)
        else:
            out = _restride(_META, base, self.size, self.stride, self.offset)
        out = torch.ops.aten._conj.default(out) if self.bits & 1 else out
        return torch.ops.aten._neg_view.default(out) if self.bits & 2 else out


class Source(NamedTuple):
    """Where an array comes from: an output of the program, an operand as it was, or nowhere yet."""

    output: int | None = None
    operand: int | None = None
    fill: Fill | None = None

    def of(self, outputs: Sequence[jax.Array], operands: Sequence[jax.Array]) -> Any:
        """The array, or the fill."""
        if self.output is not None:
            return outputs[self.output]
        return self.fill if self.operand is None else operands[self.operand]


class Fresh(NamedTuple):
    """A storage that the graph made."""

    source: Source
    kind: Kind
    mixed: bool

    def cell(self, held: jax.Array | Fill, index: int) -> Cell:
        """The cell of one call."""
        return Cell(held, index) if index or held.__class__ is Fill else Known(held, self.kind)  # type: ignore[arg-type]


class Result(NamedTuple):
    """A Python value, an argument (with `geometry`, a view of it), or a tensor on a fresh storage."""

    value: Any = None
    argument: int | None = None
    fresh: int | None = None
    geometry: Geometry | None = None
    whole: bool = False  # no other result is on the fresh storage, and this is all of it
    host: bool = False  # belongs on the CPU


class Recipe:
    """What one trace of a graph found."""

    def __init__(self) -> None:
        self.fresh: list[Fresh] = []
        self.written: list[tuple[int, Source, Kind]] = []  # operands whose cell gets another array, and of what kind
        self.results: list[Result] = []

    def record(
        self,
        given: Sequence[Any],
        places: Sequence[int | None],
        cells: Sequence[Cell],
        operands: Sequence[jax.Array],
        results: Sequence[Any],
        hosts: Sequence[bool],
    ) -> tuple[jax.Array, ...]:
        """Note what a graph did, anew; returns the outputs of the program.

        Args:
            given: the arguments, tensors on `cells` among them.
            places: the number of each argument's cell.
            cells: of the operands, after the graph ran.
            operands: what they held before.
            results: what the graph returned.
            hosts: whether each belongs on the CPU.
        """
        self.__init__()  # type: ignore[misc]
        outputs: list[jax.Array] = []
        known = {id(x): Source(operand=k) for k, x in enumerate(operands)}

        def source(held: Any) -> Source:
            if held.__class__ is Fill:
                return Source(fill=held)
            if id(held) not in known:
                known[id(held)] = Source(output=len(outputs))
                outputs.append(held)
            return known[id(held)]

        self.written = [
            (k, source(c.held), c.kind) for k, (c, x) in enumerate(zip(cells, operands, strict=True)) if c.held is not x
        ]
        arguments = {id(x): i for i, x in enumerate(given) if isinstance(x, torch.Tensor)}
        ours = {c: k for k, c in enumerate(cells)}
        ons = [cell_of(r) if isinstance(r, torch.Tensor) and id(r) not in arguments else None for r in results]
        count, born = Counter(ons), dict[Cell, int]()
        for r, cell, host in zip(results, ons, hosts, strict=True):
            if cell is None:
                found = Result(argument=arguments[id(r)]) if id(r) in arguments else Result(r)
            elif cell in ours:
                found = Result(argument=places.index(ours[cell]), geometry=Geometry.of(r), host=host)
            else:
                geometry = Geometry.of(r)
                whole = count[cell] == 1 and not geometry.bits and not cell.mixed
                whole = whole and geometry.stride == contiguous(geometry.size)
                whole = whole and math.prod(geometry.size) == math.prod(cell.shape)
                if cell not in born:
                    held: Any = cell.held
                    kind = cell.kind
                    if whole and geometry.size != kind.shape:  # nobody sees the shape that it was computed in
                        kind = tensor_kind(geometry.size, geometry.dtype)
                        held = Fill(kind, held.value) if held.__class__ is Fill else held.reshape(kind.shape)
                    born[cell] = len(self.fresh)
                    self.fresh.append(Fresh(source(held), kind, cell.mixed))
                found = Result(fresh=born[cell], geometry=geometry, whole=whole, host=host)
            self.results.append(found)
        return tuple(outputs)

    def apply(
        self, args: Sequence[Any], cells: Sequence[Cell], outputs: Sequence[jax.Array], operands: Any, index: int
    ) -> list[Any]:
        """Write the cells, and make the results of a call."""
        for k, source, kind in self.written:
            cells[k].replace(source.of(outputs, operands))
            cells[k].kind = kind
        fresh = [f.cell(f.source.of(outputs, operands), index) for f in self.fresh]
        bases: dict[int, torch.Tensor] = {}
        results = []
        for r in self.results:
            geometry = r.geometry
            if geometry is None:
                results.append(r.value if r.argument is None else args[r.argument])
                continue
            if r.fresh is None:
                out = geometry.on(args[r.argument])  # type: ignore[index]
            elif r.whole:
                out = new_tensor(fresh[r.fresh], geometry.size, geometry.dtype)
            else:
                f = self.fresh[r.fresh]
                if r.fresh not in bases:
                    bases[r.fresh] = new_tensor(fresh[r.fresh], f.kind.shape, torch_dtype(f.kind.dtype))
                    if f.mixed:
                        fresh[r.fresh].mix()
                out = geometry.on(bases[r.fresh])
            results.append(out.cpu() if r.host else out)
        return results

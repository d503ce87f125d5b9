"""The first calls of an operator that writes long lists of tensors, executed by programs for single tensors.

An optimizer step is one program for all parameters. XLA needs seconds to compile it, but milliseconds for the update of
one parameter, and most of a hundred parameters share their shapes with others. So the first calls run one such program
for each tensor whose shape occurs often, and one program for the remaining tensors, in good code if that repays. The
program for the whole list is compiled meanwhile and takes over at a fixed call number, so that results are
reproducible. Where every call of an operator must return the same bits, it is used from the first call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ..storage.placement import no_jax_trace
from ..storage.recording import recording
from ..xla.ahead import PendingExecutable
from ..xla.memory import code_memory
from ..xla.options import Tiers, has_one_tier, has_quick_tier
from .dispatcher import Dispatcher
from .encode import EncodedCall
from .executable import Executable, build_executable, is_on_mesh
from .foreach import part
from .list_path import ListKernel

_OFTEN = 4  # minimum number of tensors of one shape that justifies a program for it
_REPAID = 1 << 20  # elements per call of the list, for each tensor of a program, from which good code repays
COMPILED, SERVES = 4, 16  # the call that starts compiling the whole program, and the first call that runs it
_MOST = 64  # keys per operator whose calls are counted; a full table is cleared


class _Start:
    """The state of one key during its first calls."""

    __slots__ = ("calls", "executable")

    def __init__(self) -> None:
        self.calls = 0
        self.executable: Executable | None = None  # for the whole list, once its compilation has started


class ListStarts:
    """The first calls of one operator."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        tiers: tuple[Tiers, ...] = ("first", "good")
        self.kernels = [ListKernel(Dispatcher(dispatcher.signature, tier)) for tier in tiers]  # execute the parts
        self.starts: dict[Any, _Start] = {}

    def __call__(self, values: list[Any], call: EncodedCall) -> Executable | None:
        """Return the executable for a call that has none yet, or None if the call was executed in parts."""
        parts = _parts(self.dispatcher, values, call)
        if not parts:
            return self._build(values, call, self.dispatcher.tiers)
        if len(self.starts) >= _MOST:
            self.starts.clear()
        start = self.starts.setdefault(call.key, _Start())
        start.calls += 1
        if start.calls >= SERVES:
            del self.starts[call.key]
            return start.executable or self._build(values, call)
        if start.calls >= COMPILED and start.executable is None and recording.tape is None:
            start.executable = self._begun(values, call)
        call.operands.clear()  # these references would prevent donation
        for good, indices in parts:
            arguments, kernel = part(self.dispatcher.signature, values, indices), self.kernels[good]
            prepared = kernel.prepared(arguments)
            if prepared is None:
                kernel.dispatcher.run(arguments)
            else:
                prepared()
        return None

    def _build(self, values: list[Any], call: EncodedCall, tiers: Tiers = "good") -> Executable:
        code_memory.make_room(self.dispatcher.signature.name, call.key)
        return build_executable(self.dispatcher.signature, values, call, tiers)

    def _begun(self, values: list[Any], call: EncodedCall) -> Executable:
        """An executable whose compilation has started on another thread."""
        executable = self._build(values, call)
        donates = self.dispatcher.donatable(executable, call)
        run: Any = executable.donor() if donates else executable.run
        PendingExecutable.begin(run.program, (*call.operands, *call.starts))
        return executable


def _parts(dispatcher: Dispatcher, values: list[Any], call: EncodedCall) -> list[tuple[bool, Sequence[int]]]:
    """Whether each part runs good code, and its indices into the lists; empty if the call should be one program."""
    tape = recording.tape
    usual = (tape is None or tape.ahead) and no_jax_trace() and has_quick_tier() and not has_one_tier()
    if not usual or call.shared or call.index or is_on_mesh(call):
        return []
    slots = dispatcher.signature.arguments
    lists = [v for s, v in zip(slots, values, strict=True) if s.kind in ("tensors", "numbers") and v]
    count = len(lists[0])
    if any(len(v) != count for v in lists):
        return []  # the call as a whole raises
    alike = defaultdict[Any, list[int]](list)
    for i, elements in enumerate(zip(*lists, strict=True)):
        alike[tuple(_looks(elements))].append(i)
    often = [indices for indices in alike.values() if len(indices) >= _OFTEN]
    rest = [i for indices in alike.values() if len(indices) < _OFTEN for i in indices]
    if len(rest) > count // 2:
        return []
    parts: list[tuple[bool, Sequence[int]]] = []
    for indices in often:
        good = lists[0][indices[0]].numel() * len(indices) >= _REPAID
        parts += [(good, (i,)) for i in indices]
    if rest:
        parts.append((sum(lists[0][i].numel() for i in rest) >= _REPAID * len(rest), rest))
    return parts


def _looks(elements: Sequence[Any]) -> Iterator[Any]:
    for x in elements:
        yield (x.dtype, x.shape, x.stride()) if isinstance(x, torch.Tensor) else x.__class__

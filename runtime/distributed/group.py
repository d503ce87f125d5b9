"""The process group of the backend "tenax": torch's calls, implemented by `collectives`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..dtypes import numpy_dtype
from ..storage.placement import put
from ..trace.core import current_trace
from .collectives import describe
from .group_base import Finish, GroupBase
from .tensors import (
    SparsePart,
    array_of,
    expect,
    expect_dtypes,
    expect_list,
    expect_rank,
    padded,
    refuse_in_trace,
    rows_of,
    split_counts,
    unpadded,
    write,
    write_all,
    zeros,
)
from .work import CollectiveWork, finished

dist: Any = torch.distributed
Tensor = torch.Tensor


_INSTEAD = "use permute_tensor of the functional collectives"


def _first(value: Any) -> Any:
    while isinstance(value, list | tuple):
        if not value:
            return None
        value = value[0]
    return value


def _of_device(method: Callable[..., Any]) -> Callable[..., Any]:
    """Use torch's own gloo for CPU tensors, as with the backend "cpu:gloo,jax:tenax"."""

    @functools.wraps(method)
    def call(self: JaxProcessGroup, *args: Any, **kwargs: Any) -> Any:
        tensor = next((t for t in map(_first, args) if isinstance(t, Tensor)), None)
        if tensor is not None and tensor.device.type == "cpu":
            refuse_in_trace(f"{method.__name__} of a tensor on the CPU", "expected tensors on the device")
            return getattr(self.host, method.__name__)(*args, **kwargs)
        return method(self, *args, **kwargs)

    return call


def _reduction(opts: Any) -> dict[str, Any]:
    op = opts.reduceOp
    kind, factor = dist.ReduceOp(op).__getstate__() if not hasattr(op, "__getstate__") else op.__getstate__()
    return {"op": kind.name, "factor": factor} if factor is not None else {"op": kind.name}


class JaxProcessGroup(GroupBase):
    """The ranks of a group, each with one device, and torch's collectives among them."""

    @_of_device
    def allreduce(self, tensors: list[Tensor], opts: Any = None) -> CollectiveWork:
        details = _reduction(opts or dist.AllreduceOptions())
        if any(t.layout is torch.sparse_coo for t in tensors):
            return self._allreduce_sparse(tensors, **details)
        arrays = [array_of(t, "all_reduce", details["op"]) for t in tensors]
        return self._start("all_reduce", arrays, tensors, **details)

    def _allreduce_sparse(self, tensors: list[Tensor], op: str, factor: Any = None) -> CollectiveWork:
        refuse_in_trace("all_reduce of sparse tensors", "expected dense ones: convert with .to_dense()")
        if op != "SUM":
            raise RuntimeError(
                f"all_reduce: {op} of sparse tensors is an unsupported reduction operation; expected SUM"
            )
        for tensor in tensors:
            if tensor.layout is not torch.sparse_coo:
                raise ValueError(f"all_reduce: tensors of {tensor.layout} and torch.sparse_coo; expected one layout")
        parts = [SparsePart(t) for t in tensors]

        def job() -> Callable[[], object]:
            sums = [part.summed(self._run, self.agreement.failed) for part in parts]
            return lambda: [tensor.copy_(total) for tensor, total in zip(tensors, sums, strict=True)]

        return self._submit(job, tensors, lambda: describe("all_reduce", [p.values for p in parts], op=op, sparse=True))

    @_of_device
    def allreduce_coalesced(self, tensors: list[Tensor], opts: Any = None) -> CollectiveWork:
        return self.allreduce(tensors, opts)

    @_of_device
    def broadcast(self, tensors: list[Tensor], opts: Any) -> CollectiveWork:
        expect_rank("broadcast", opts.rootRank, self.size())
        arrays = [array_of(t, "broadcast") for t in tensors]
        finish = writing(tensors, self._rank != opts.rootRank)
        return self._start("broadcast", arrays, tensors, finish, root=opts.rootRank)

    @_of_device
    def reduce(self, tensors: list[Tensor], opts: Any) -> CollectiveWork:
        details = _reduction(opts)
        expect_rank("reduce", opts.rootRank, self.size())
        arrays = [array_of(t, "reduce", details["op"]) for t in tensors]
        finish = writing(tensors, self._rank == opts.rootRank)
        return self._start("reduce", arrays, tensors, finish, root=opts.rootRank, **details)

    @_of_device
    def allgather(self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any = None) -> CollectiveWork:
        for output, value in zip(outputs, inputs, strict=True):
            expect_list("all_gather", output, value, self.size())
        if any(t.shape != value.shape for output, value in zip(outputs, inputs, strict=True) for t in output):
            return self._allgather_uneven(outputs, inputs)
        return self._start("all_gather_list", [array_of(t, "all_gather") for t in inputs], outputs)

    def _allgather_uneven(self, outputs: list[list[Tensor]], inputs: list[Tensor]) -> CollectiveWork:
        refuse_in_trace("all_gather of different shapes", "expected one shape on every rank: pad the tensors")
        widths = [max(t.numel() for t in output) for output in outputs]
        for output, value in zip(outputs, inputs, strict=True):
            expect(output[self._rank].shape == value.shape, "all_gather", output[self._rank], value.shape)
        arrays = [
            padded(array_of(t, "all_gather").reshape(-1), (t.numel(),), width)[0]
            for t, width in zip(inputs, widths, strict=True)
        ]
        return self._start("all_gather_list", arrays, outputs)

    @_of_device
    def allgather_coalesced(
        self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any = None
    ) -> CollectiveWork:
        by_input = [[rank[i] for rank in outputs] for i in range(len(inputs))]
        return self.allgather(by_input, inputs, opts)

    @_of_device
    def _allgather_base(self, output: Tensor, value: Tensor, opts: Any = None) -> CollectiveWork:
        return self.allgather_into_tensor_coalesced([output], [value], opts)

    @_of_device
    def allgather_into_tensor_coalesced(
        self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None
    ) -> CollectiveWork:
        for output, value in zip(outputs, inputs, strict=True):
            expect_dtypes("all_gather_into_tensor", [output], value)
            expect(
                output.numel() == value.numel() * self.size(),
                "all_gather_into_tensor",
                output,
                f"{self.size()} times {list(value.shape)}",
            )
        return self._start("all_gather", [array_of(t, "all_gather_into_tensor") for t in inputs], outputs)

    @_of_device
    def reduce_scatter(self, outputs: list[Tensor], inputs: list[list[Tensor]], opts: Any) -> CollectiveWork:
        details = _reduction(opts)
        arrays = []
        for output, values in zip(outputs, inputs, strict=True):
            expect_list("reduce_scatter", values, output, self.size())
            expect(values[self._rank].shape == output.shape, "reduce_scatter", output, values[self._rank].shape)
            if any(t.shape != output.shape for t in values):
                refuse_in_trace(
                    "reduce_scatter of different shapes", "expected one shape on every rank: pad the tensors"
                )
            parts = [array_of(t, "reduce_scatter", details["op"]).reshape(-1) for t in values]
            arrays.append(rows_of(parts, max(p.size for p in parts)))
        return self._start("reduce_scatter", arrays, outputs, **details)

    @_of_device
    def _reduce_scatter_base(self, output: Tensor, value: Tensor, opts: Any = None) -> CollectiveWork:
        return self.reduce_scatter_tensor_coalesced([output], [value], opts)

    @_of_device
    def reduce_scatter_tensor_coalesced(
        self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None
    ) -> CollectiveWork:
        details = _reduction(opts or dist.ReduceScatterOptions())
        for output, value in zip(outputs, inputs, strict=True):
            expect_dtypes("reduce_scatter_tensor", [value], output)
            expect(
                output.numel() * self.size() == value.numel(),
                "reduce_scatter_tensor",
                output,
                f"1/{self.size()} of {list(value.shape)}",
            )
        arrays = [array_of(t, "reduce_scatter_tensor", details["op"]) for t in inputs]
        return self._start("reduce_scatter", arrays, outputs, **details)

    @_of_device
    def gather(self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any) -> CollectiveWork:
        refuse_in_trace("gather", "use all_gather: every rank computes the same")
        expect_rank("gather", opts.rootRank, self.size())
        value = inputs[0]
        if self._rank == opts.rootRank:
            expect_list("gather", outputs[0], value, self.size())
            for output in outputs[0]:
                expect(output.shape == value.shape, "gather", output, value.shape)
        finish = None if self._rank == opts.rootRank else discard
        return self._start("gather", [array_of(value, "gather")], outputs, finish)

    @_of_device
    def scatter(self, outputs: list[Tensor], inputs: list[list[Tensor]], opts: Any) -> CollectiveWork:
        refuse_in_trace("scatter", "use all_to_all_single or broadcast: every rank computes the same")
        expect_rank("scatter", opts.rootRank, self.size())
        output = outputs[0]
        array_of(output, "scatter")
        if self._rank == opts.rootRank:
            expect_list("scatter", inputs[0], output, self.size())
            for value in inputs[0]:
                expect(value.shape == output.shape, "scatter", value, output.shape)
            rows = rows_of([array_of(t, "scatter").reshape(-1) for t in inputs[0]], output.numel())
        else:
            rows = zeros((self.size(), output.numel()), numpy_dtype(output.dtype))
        return self._start("scatter", [rows], outputs, root=opts.rootRank)

    @_of_device
    def alltoall_base(
        self, output: Tensor, value: Tensor, output_splits: list[int], input_splits: list[int], opts: Any = None
    ) -> CollectiveWork:
        expect_dtypes("all_to_all_single", [output], value)
        array = array_of(value, "all_to_all_single")
        if not output_splits and not input_splits:
            expect(output.numel() == value.numel(), "all_to_all_single", output, value.shape)
            if value.shape[0] % self.size():
                raise ValueError(
                    f"all_to_all_single: Tensor's dim 0 ({value.shape[0]}) does not divide equally across group size "
                    f"{self.size()}"
                )
            return self._start("all_to_all", [array], output)
        sent = split_counts("input", value, input_splits, self.size())
        received = split_counts("output", output, output_splits, self.size())
        return self._exchange(array.reshape(-1), sent, received, output, lambda flat: write(output, flat))

    @_of_device
    def alltoall(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> CollectiveWork:
        for tensors in (outputs, inputs):
            expect_list("all_to_all", tensors, inputs[0], self.size())
        sent, received = [t.numel() for t in inputs], [t.numel() for t in outputs]
        flat = jnp.concatenate([array_of(t, "all_to_all").reshape(-1) for t in inputs])

        def finish(whole: jax.Array) -> None:
            start = 0
            for tensor in outputs:
                write(tensor, whole[start : start + tensor.numel()])
                start += tensor.numel()

        return self._exchange(flat, sent, received, outputs, finish)

    def _exchange(
        self, flat: jax.Array, sent: list[int], received: list[int], result: Any, finish: Callable[[jax.Array], None]
    ) -> CollectiveWork:
        """An all-to-all of parts of different sizes: the ranks exchange the sizes, then rows of equal width.

        Widths are rounded up to powers of two, so that few programs are compiled.
        """

        if current_trace() is not None:
            return self._exchange_in_trace(flat, sent, received, result, finish)

        def job() -> Callable[[], None]:
            sizes = put(np.array(sent, np.int32), 0)
            announced = np.asarray(self._run("all_gather", [sizes])[0]).reshape(self.size(), self.size())
            expected = announced[:, self._rank].tolist()
            if expected != received:
                raise self.agreement.failed(
                    f"rank {self.agreement.name(self._rank)} expects {received} elements from the ranks, which send "
                    f"{expected}"
                )
            width = 1 << max(int(announced.max()) - 1, 0).bit_length()
            rows = self._run("all_to_all", [padded(flat, tuple(sent), width)])[0].reshape(self.size(), width)
            return functools.partial(finish, unpadded(rows, tuple(received)))

        return self._submit(job, result, lambda: describe("all_to_all", [flat], sent=sent, received=received))

    def _exchange_in_trace(
        self, flat: jax.Array, sent: list[int], received: list[int], result: Any, finish: Callable[[jax.Array], None]
    ) -> CollectiveWork:
        """An all-to-all within a program: of equal parts, or a permutation in which each rank sends to one other.

        Raises:
            NotImplementedError: the parts differ in another way, so that the ranks would need different programs.
        """
        sizes = put(np.array([*sent, *received], np.int32), 0)
        table = self.in_order("all_to_all: sizes", lambda: np.asarray(self._run("all_gather", [sizes])[0]))
        every, expected = table.reshape(self.size(), 2, self.size()).swapaxes(0, 1)
        if not (expected == every.T).all():
            raise RuntimeError(f"all_to_all_single: ranks send {every.tolist()} and expect {expected.T.tolist()}")
        if (every == every[0, 0]).all():
            finish(self._trace("all_to_all", [flat])[0].reshape(-1))
        elif ((every > 0).sum(0) == 1).all() and (every[every > 0] == flat.size).all():
            pairs = tuple((s, int(row.argmax())) for s, row in enumerate(every))
            finish(self._trace("permute", [flat], pairs=pairs)[0])
        else:
            refuse_in_trace("all_to_all_single of parts of different sizes", "expected parts of one size: pad them")
        return finished(result)

    def barrier(self, opts: Any = None) -> CollectiveWork:
        refuse_in_trace("barrier")
        return self._start("barrier", [zeros((1,), np.dtype(np.int32))], [], discard, op="SUM")

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
        """A barrier whose error names the ranks that do not arrive in time."""
        refuse_in_trace("monitored_barrier")
        self._monitored.meet(self._timeout if timeout is None else timeout, wait_all_ranks)

    @_of_device
    def send(self, tensors: list[Tensor], destination: int, tag: int) -> CollectiveWork:
        refuse_in_trace("send", _INSTEAD)
        expect_rank("send", destination, self.size())
        return self._collected(self._messages.send(array_of(tensors[0], "send"), destination, tag, tensors))

    @_of_device
    def recv(self, tensors: list[Tensor], source: int, tag: int) -> CollectiveWork:
        refuse_in_trace("recv", _INSTEAD)
        expect_rank("recv", source, self.size())
        return self._collected(self._messages.receive(tensors, [source], tag))

    @_of_device
    def recv_anysource(self, tensors: list[Tensor], tag: int) -> CollectiveWork:
        refuse_in_trace("recv", _INSTEAD)
        others = [r for r in range(self.size()) if r != self._rank]
        return self._collected(self._messages.receive(tensors, others, tag))

    all_gather_single = _allgather_base
    all_gather_single_coalesced = allgather_into_tensor_coalesced
    reduce_scatter_single = _reduce_scatter_base
    reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced
    all_to_all_single = alltoall_base

    def _start_coalescing(self, device: Any) -> None:
        self._coalesced = []

    def _end_coalescing(self, device: Any) -> CollectiveWork:
        works, self._coalesced = self._coalesced or [], None

        def job() -> None:
            for work in works:
                work.join()

        return self._submit(job, [], lambda: "the end of coalesced collectives")


def writing(tensors: list[Tensor], receives: bool) -> Finish:
    """A function that writes results into tensors if this rank receives any. In a trace all ranks write, because they
    run the same program; those that receive nothing write their own values."""
    return functools.partial(write_all, tensors) if receives or current_trace() is not None else discard


def discard(results: list[jax.Array]) -> None:
    """Ignore the results, on ranks that receive none."""

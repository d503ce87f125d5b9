"""What each rank of two checks about the collectives of the backend "tenax"; CPU torch computes what is expected."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

import tenax
from tests.helpers.agreement import close

SIZE = 2
coalescing = dist.distributed_c10d._coalescing_manager
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
COMPLEX = [torch.complex64, torch.complex128]
DTYPES = [*FLOATS, *INTEGERS, *COMPLEX, torch.bool]


def values(rank: int, dtype: torch.dtype = torch.float32, shape: Sequence[int] = (3, 4), seed: int = 0) -> torch.Tensor:
    """What a rank puts in, which every rank can compute."""
    generator = torch.Generator().manual_seed(100 * seed + rank + 1)
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, dtype=torch.complex64 if dtype.is_complex else torch.float32, generator=generator).to(
            dtype
        )
    return torch.randint(0, 6, shape, generator=generator).to(dtype)


def same(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert found.device.type == "jax", found.device
    close(found.cpu(), expected)


def all_values(dtype: torch.dtype = torch.float32, shape: Sequence[int] = (3, 4), seed: int = 0) -> list[torch.Tensor]:
    return [values(r, dtype, shape, seed) for r in range(SIZE)]


_EXPECTED: dict[Any, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    ReduceOp.SUM: torch.add,
    ReduceOp.AVG: lambda a, b: (a + b) / 2 if a.is_floating_point() or a.is_complex() else (a + b) // 2,
    ReduceOp.PRODUCT: torch.mul,
    ReduceOp.MIN: torch.minimum,
    ReduceOp.MAX: torch.maximum,
    ReduceOp.BAND: torch.bitwise_and,
    ReduceOp.BOR: torch.bitwise_or,
    ReduceOp.BXOR: torch.bitwise_xor,
}


def dtypes_of(op: Any) -> list[torch.dtype]:
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        return [*INTEGERS, torch.bool]
    if op in (ReduceOp.MIN, ReduceOp.MAX):
        return [*FLOATS, *INTEGERS]
    return [*FLOATS, *INTEGERS, *([] if op is ReduceOp.PRODUCT else COMPLEX)]


def check_all_reduce_of_every_operation_and_dtype(rank: int) -> None:
    for op, expected in _EXPECTED.items():
        tensors = [values(rank, dtype).to("jax") for dtype in dtypes_of(op)]
        with coalescing():
            for tensor in tensors:
                dist.all_reduce(tensor, op)
        for tensor in tensors:
            same(tensor, expected(*all_values(tensor.dtype)))


def check_all_reduce_of_bool(rank: int) -> None:
    a, b = all_values(torch.bool)
    for op, expected in (
        (ReduceOp.SUM, a | b),
        (ReduceOp.MAX, a | b),
        (ReduceOp.MIN, a & b),
        (ReduceOp.PRODUCT, a & b),
    ):
        tensor = values(rank, torch.bool).to("jax")
        dist.all_reduce(tensor, op)
        same(tensor, expected)


def check_sums_of_scaled_values(rank: int) -> None:
    tensor = values(rank).to("jax")
    dist.all_reduce(tensor, torch._C._distributed_c10d._make_nccl_premul_sum(0.5))
    same(tensor, 0.5 * sum(all_values()))


def check_reductions_that_do_not_exist_raise(rank: int) -> None:
    for op, dtype in ((ReduceOp.MAX, torch.complex64), (ReduceOp.BAND, torch.float32), (ReduceOp.AVG, torch.bool)):
        with pytest.raises((RuntimeError, ValueError), match=op.name):
            dist.all_reduce(torch.zeros(2, dtype=dtype, device="jax"), op)


def check_all_reduce_of_scalars_views_and_empty_tensors(rank: int) -> None:
    scalar = torch.tensor(rank + 1.0, device="jax")
    dist.all_reduce(scalar)
    same(scalar, torch.tensor(3.0))
    base = values(rank).to("jax")
    column = base[:, 1]
    dist.all_reduce(base.t()[2:])
    expected = values(rank)
    expected.t()[2:] = sum(all_values()).t()[2:]
    same(base, expected)
    same(column, expected[:, 1])
    empty = torch.zeros(0, 3, device="jax")
    dist.all_reduce(empty)
    same(empty, torch.zeros(0, 3))


def check_all_reduce_of_sparse_tensors(rank: int) -> None:
    gloo = dist.new_group(backend="gloo")
    for shape, indices, dense in (
        ((4,), [[rank, 1, 1]], ()),
        ((4, 3), [[0, rank + 1]], (3,)),
        ((3, 4), [[0, 1], [rank, rank]], ()),
        ((4,), [[1] * rank], ()),  # none on the first rank
        ((4,), [[]], ()),
    ):
        values = (torch.arange(1.0, len(indices[0]) + 1) * (rank + 1)).reshape(-1, *[1 for _ in dense])
        given = torch.sparse_coo_tensor(
            torch.tensor(indices, dtype=torch.int64), values.expand(-1, *dense), shape, check_invariants=True
        )
        ours, expected = given.to("jax"), given.clone()
        dist.all_reduce(expected, group=gloo)
        work = dist.all_reduce(ours, async_op=True)
        work.wait()
        assert ours.is_coalesced() == expected.is_coalesced()
        close(ours.cpu().indices(), expected.indices())
        close(ours.cpu().values(), expected.values())
    with pytest.raises(RuntimeError, match="unsupported reduction operation"):
        dist.all_reduce(torch.eye(2).to_sparse().to("jax"), dist.ReduceOp.MAX)


def check_async_all_reduce(rank: int) -> None:
    tensors = [values(rank, seed=s).to("jax") for s in range(3)]
    works = [dist.all_reduce(t, async_op=True) for t in tensors]
    future = works[1].get_future()
    for s in (2, 0):
        works[s].wait()
        same(tensors[s], sum(all_values(seed=s)))
    assert works[0].is_completed()
    assert works[0].is_success()
    same(future.wait()[0], sum(all_values(seed=1)))
    chained = dist.all_reduce(tensors[0], async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    same(chained.wait(), 4 * sum(all_values(seed=0)))


def check_rows_of_one_tensor_beside_writes_of_other_rows(rank: int) -> None:
    for _ in range(20):
        table = torch.zeros(10, 1000, device="jax")
        works = []
        for i in range(10):
            table[i] = rank + i
            work = dist.all_reduce(table[i], async_op=True)
            works.append(work.get_future() if i == 3 else work)
        for work in works:
            work.wait()
        same(table[:, 0], torch.tensor([2.0 * i + 1 for i in range(10)]))


def check_the_results_of_a_call_are_there_after_a_later_one_has_ended(rank: int) -> None:
    tensor, other = values(rank).to("jax"), values(rank, seed=1).to("jax")
    dist.all_reduce(tensor, async_op=True)
    dist.barrier()
    same(tensor, sum(all_values()))
    work = dist.all_reduce(other, async_op=True)
    with pytest.raises(NotImplementedError, match=r"wait\(\) \(.*collective_checks.py:.*in a compiled function"):
        tenax.jit(lambda x: (work.wait(), x + 1)[1])(tensor)
    while not work.is_completed():
        time.sleep(0.001)
    same(other, sum(all_values(seed=1)))


def check_broadcast_bit_for_bit(rank: int) -> None:
    for root in range(SIZE):
        for dtype in DTYPES:
            tensor = values(rank, dtype).to("jax")
            dist.broadcast(tensor, root)
            assert torch.equal(tensor.cpu(), values(root, dtype))
    special = torch.tensor([-0.0, float("nan"), float("inf"), 5e-324], dtype=torch.float64)
    tensor = (special if rank == 1 else torch.ones(4, dtype=torch.float64)).to("jax")
    dist.broadcast(tensor, 1)
    assert torch.equal(tensor.cpu().view(torch.int64), special.view(torch.int64)), tensor


def check_reduce_leaves_other_ranks_alone(rank: int) -> None:
    tensor = values(rank).to("jax")
    dist.reduce(tensor, 1, ReduceOp.MAX)
    same(tensor, torch.maximum(*all_values()) if rank == 1 else values(rank))


def check_gather_and_scatter(rank: int) -> None:
    for dtype in DTYPES:
        tensor = values(rank, dtype).to("jax")
        rows = [torch.zeros_like(tensor) for _ in range(SIZE)] if rank == 1 else None
        dist.gather(tensor, rows, 1)
        for row, expected in zip(rows or [], all_values(dtype), strict=False):
            same(row, expected)
        output = torch.zeros(4, 3, dtype=dtype, device="jax").t()
        dist.scatter(output, [v.to("jax") for v in all_values(dtype, seed=7)] if rank == 0 else None, 0)
        same(output, values(rank, dtype, seed=7))


def check_all_gather(rank: int) -> None:
    for dtype in DTYPES:
        tensor = values(rank, dtype).to("jax")
        whole = torch.zeros(SIZE, 4, 3, dtype=dtype, device="jax")
        dist.all_gather([part.t() for part in whole], tensor)
        same(whole.transpose(1, 2), torch.stack(all_values(dtype)))
        flat = torch.zeros(3 * SIZE, 4, dtype=dtype, device="jax")
        dist.all_gather_into_tensor(flat, tensor)
        same(flat, torch.cat(all_values(dtype)))
    stacked = torch.zeros(SIZE, 3, 4, device="jax")
    work = dist.all_gather_into_tensor(stacked, values(rank).to("jax"), async_op=True)
    work.wait()
    same(stacked, torch.stack(all_values()))
    scalars = [torch.zeros((), device="jax") for _ in range(SIZE)]
    dist.all_gather(scalars, torch.tensor(float(rank), device="jax"))
    assert [s.item() for s in scalars] == [0.0, 1.0]


def check_all_gather_of_uneven_tensors(rank: int) -> None:
    shapes = [(2, 3), (5,)]
    outputs = [torch.zeros(shape, device="jax") for shape in shapes]
    dist.all_gather(outputs, values(rank, shape=shapes[rank]).to("jax"))
    for r, output in enumerate(outputs):
        same(output, values(r, shape=shapes[r]))


def check_coalesced_collectives(rank: int) -> None:
    tensors = [values(rank, seed=s).to("jax") for s in range(3)]
    with coalescing():
        for tensor in tensors:
            dist.all_reduce(tensor)
    for s, tensor in enumerate(tensors):
        same(tensor, sum(all_values(seed=s)))
    outputs = [torch.zeros(6, 4, device="jax") for _ in range(2)]
    with coalescing(async_ops=True) as manager:
        for s, output in enumerate(outputs):
            dist.all_gather_into_tensor(output, values(rank, seed=s).to("jax"))
    manager.wait()
    for s, output in enumerate(outputs):
        same(output, torch.cat(all_values(seed=s)))
    parts = [torch.zeros(2, 4, device="jax") for _ in range(2)]
    with coalescing():
        for s, part in enumerate(parts):
            dist.reduce_scatter_tensor(part, values(rank, shape=(4, 4), seed=s).to("jax"))
    for s, part in enumerate(parts):
        same(part, sum(all_values(shape=(4, 4), seed=s))[2 * rank : 2 * rank + 2])


def check_reduce_scatter(rank: int) -> None:
    for op in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MAX, ReduceOp.PRODUCT):
        for dtype in (torch.float32, torch.int64):
            whole = _EXPECTED[op](*all_values(dtype, (4, 3)))
            part = torch.zeros(2, 3, dtype=dtype, device="jax")
            dist.reduce_scatter_tensor(part, values(rank, dtype, (4, 3)).to("jax"), op)
            same(part, whole[2 * rank : 2 * rank + 2])
            part.zero_()
            dist.reduce_scatter(part, list(values(rank, dtype, (4, 3)).to("jax").split(2)), op)
            same(part, whole[2 * rank : 2 * rank + 2])
    shapes = [(2,), (3, 2)]
    uneven = torch.zeros(shapes[rank], device="jax")
    dist.reduce_scatter(uneven, [values(rank, shape=s).to("jax") for s in shapes])
    same(uneven, sum(all_values(shape=shapes[rank])))


def check_all_to_all(rank: int) -> None:
    for dtype in DTYPES:
        output = torch.zeros(4, 3, dtype=dtype, device="jax")
        dist.all_to_all_single(output, values(rank, dtype, (4, 3)).to("jax"))
        same(output, torch.cat([v[2 * rank : 2 * rank + 2] for v in all_values(dtype, (4, 3))]))
    counts = [[1, 3], [2, 0]]  # from, to
    inputs = [values(r, shape=(sum(counts[r]), 3)) for r in range(SIZE)]
    received = [counts[r][rank] for r in range(SIZE)]
    output = torch.zeros(sum(received), 3, device="jax")
    dist.all_to_all_single(output, inputs[rank].to("jax"), received, counts[rank])
    same(output, torch.cat([inputs[r].split(counts[r])[rank] for r in range(SIZE)]))
    outputs = [torch.zeros(n, 3, device="jax") for n in received]
    dist.all_to_all(outputs, list(inputs[rank].to("jax").split(counts[rank])))
    for r in range(SIZE):
        same(outputs[r], inputs[r].split(counts[r])[rank])


def check_send_and_receive(rank: int) -> None:
    for dtype in DTYPES:
        buffer = torch.zeros(4, 3, dtype=dtype, device="jax").t()
        if rank == 0:
            dist.send(values(0, dtype).to("jax"), 1)
        else:
            assert dist.recv(buffer, 0) == 0
            same(buffer, values(0, dtype))


def check_messages_of_both_directions_and_tags_in_any_order(rank: int) -> None:
    other = 1 - rank
    sent = [values(rank, seed=s).to("jax") for s in range(3)]
    received = [torch.zeros(3, 4, device="jax") for _ in range(3)]
    works = [dist.isend(sent[s], other, tag=s) for s in range(3)]
    works += [dist.irecv(received[s], other, tag=s) for s in (2, 0, 1)]
    for work in works:
        work.wait()
    for s in range(3):
        same(received[s], values(other, seed=s))
    if rank == 0:
        anybody = torch.zeros(3, 4, device="jax")
        assert dist.recv(anybody) == 1
        same(anybody, values(1))
    else:
        dist.send(values(1).to("jax"), 0)


def check_a_batch_of_messages(rank: int) -> None:
    other = 1 - rank
    received = torch.zeros(3, 4, device="jax")
    operations = [dist.P2POp(dist.isend, values(rank).to("jax"), other), dist.P2POp(dist.irecv, received, other)]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    same(received, values(other))


def check_object_collectives(rank: int) -> None:
    found: list[Any] = [None, None]
    dist.all_gather_object(found, {"rank": rank, "text": "x" * (1 + 50 * rank)})
    assert [f["rank"] for f in found] == [0, 1]
    listed = [rank, "of", rank] if rank == 1 else [None] * 3
    dist.broadcast_object_list(listed, 1)
    assert listed == [1, "of", 1]
    gathered: list[Any] | None = [None, None] if rank == 0 else None
    dist.gather_object(("r", rank), gathered, 0)
    assert rank or gathered == [("r", 0), ("r", 1)]
    scattered: list[Any] = [None]
    dist.scatter_object_list(scattered, [{0: "a"}, {1: "b"}] if rank == 0 else [None, None], 0)
    assert scattered == [{rank: "ab"[rank]}]
    if rank == 0:
        dist.send_object_list([rank, "sent"], 1)
    else:
        objects: list[Any] = [None, None]
        dist.recv_object_list(objects, 0)
        assert objects == [0, "sent"]


def check_subgroups_in_any_order(rank: int) -> None:
    pair, again, alone = dist.new_group([0, 1]), dist.new_group([1, 0]), dist.new_group([1])
    works = []
    tensors = [values(rank, seed=s).to("jax") for s in range(4)]
    for tensor, group in zip(tensors, (again, pair, dist.group.WORLD, again), strict=True):
        works.append(dist.all_reduce(tensor, group=group, async_op=True))
    for s, work in enumerate(works):
        work.wait()
        same(tensors[s], sum(all_values(seed=s)))
    if rank == 1:
        tensor = values(1).to("jax")
        dist.all_reduce(tensor, group=alone)
        same(tensor, values(1))
        assert dist.get_rank(alone) == 0
        assert dist.get_process_group_ranks(alone) == [1]
    assert dist.get_backend(pair) == "tenax"


def check_tensors_of_the_cpu_take_gloo(rank: int) -> None:
    tensor = values(rank)
    dist.all_reduce(tensor)
    close(tensor, sum(all_values()))


def check_wrong_arguments_raise_before_anything_is_sent(rank: int) -> None:
    jax = functools.partial(torch.zeros, device="jax")
    wrong: list[Callable[[], Any]] = [
        lambda: dist.all_gather_into_tensor(jax(5), jax(2)),
        lambda: dist.all_gather([jax(2)], jax(2)),
        lambda: dist.all_gather([jax(2), jax(2, dtype=torch.int32)], jax(2)),
        lambda: dist.reduce_scatter_tensor(jax(3), jax(5)),
        lambda: dist.all_to_all_single(jax(3), jax(3)),
        lambda: dist.all_to_all_single(jax(4), jax(4), [1, 1], [2, 2]),
    ]
    for call in wrong:
        with pytest.raises((ValueError, RuntimeError)):
            call()


def check_a_rank_that_the_group_does_not_have_is_named(rank: int) -> None:
    x = torch.ones(3, device="jax")
    parts = [torch.ones(3, device="jax") for _ in range(SIZE)]
    calls: dict[str, Callable[[int], Any]] = {
        "broadcast": lambda other: dist.broadcast(x, other),
        "reduce": lambda other: dist.reduce(x, other),
        "gather": lambda other: dist.gather(x, parts if other == rank else None, other),
        "scatter": lambda other: dist.scatter(x, parts if other == rank else None, other),
        "send": lambda other: dist.send(x, other),
        "recv": lambda other: dist.recv(x, other),
    }
    for name, call in calls.items():
        for other in (SIZE, -2):
            with pytest.raises(RuntimeError, match=rf"^{name}: invalid rank {other} in the group; expected 0 to 1"):
                call(other)


def check_dtypes_that_only_travel(rank: int) -> None:
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.uint32):
        sent = torch.arange(8).to(dtype)
        tensor = (sent if rank == 0 else torch.zeros(8).to(dtype)).to("jax")
        dist.broadcast(tensor, 0)
        assert torch.equal(tensor.cpu().view(torch.uint8), sent.view(torch.uint8))

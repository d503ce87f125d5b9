"""What dispatch promises beyond values: what is computed, kept, reused and raised."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

import tenax
from tenax.dispatch.dispatcher import Dispatcher
from tenax.dispatch.overlap import overlaps
from tenax.storage.avals import LazyFill
from tenax.storage.tensors import cell_of
from tenax.xla.totals import totals
from tests.helpers.agreement import close
from tests.helpers.traced import compilations


def test_creation_computes_nothing():
    for x in (torch.zeros(1000, device="jax"), torch.full((3, 4), 2.5, device="jax"), torch.ones(3, device="jax")):
        assert isinstance(cell_of(x).content, LazyFill) and isinstance(cell_of(torch.zeros_like(x)).content, LazyFill)
    x = torch.randn(3, device="jax")
    x.fill_(2)
    assert isinstance(cell_of(x).content, LazyFill) and x.tolist() == [2, 2, 2]


def test_negative_zero_survives():
    x = torch.full((2,), -0.0, device="jax")
    assert torch.signbit(x).all()
    assert not torch.signbit(x + 0.0).any() and torch.signbit(x * 1.0).all()
    assert torch.signbit(x + -0.0).all()


def test_a_clone_shares_its_array_until_written():
    x = torch.randn(4, device="jax")
    y, z = x.clone(), torch.empty(4, device="jax").copy_(x)
    assert cell_of(y).content is cell_of(x).content is cell_of(z).content
    y.add_(1)
    z[0] = 7
    assert torch.equal(y.cpu(), x.cpu() + 1) and z[0].item() == 7 != x[0].item()


def test_a_large_array_is_reused_by_a_write():
    x = torch.zeros(1 << 18, device="jax") + 1
    for write in (lambda: x.add_(1), lambda: x.__setitem__(slice(1, 3), 0), lambda: torch._foreach_mul_([x], 2)):
        before = weakref.ref(cell_of(x).content)
        array = before()
        assert array is not None
        pointer = array.unsafe_buffer_pointer()
        del array
        write()
        assert cell_of(x).content.unsafe_buffer_pointer() == pointer
    assert x[:4].tolist() == [4, 0, 0, 4]


def test_an_array_that_somebody_holds_is_not_reused():
    x = torch.zeros(1 << 18, device="jax") + 1
    held, twin = x.jax(), x.clone()
    x.add_(1)
    x.mul_(x)
    assert not held.is_deleted() and held[0] == 1 and twin[0].item() == 1 and x[0].item() == 4


def test_an_operand_that_is_written_and_unchanged_stays():
    """`grads` of a fused optimizer is written, in its schema, and changed only by a gradient scaler."""
    p = torch.ones(1 << 16, device="jax", requires_grad=True)
    p.grad = torch.ones_like(p) * 0.5
    optimizer = torch.optim.AdamW([p], fused=True)
    array = p.grad.jax()
    for _ in range(3):
        optimizer.step()
    assert p.grad.jax() is array and not array.is_deleted()


def test_a_second_call_neither_traces_nor_compiles():
    x, y = torch.randn(5, 31, device="jax"), torch.randn(31, device="jax")  # shapes that no other test uses
    with compilations() as first:
        x + y
    for _ in range(2):
        with compilations() as again:
            x + y
            x.clone() + y * 2
    assert first and not again


def test_a_tensor_seen_through_another_dtype_leaves_no_trace_in_the_fast_path():
    sub = torch.ops.aten.sub.Tensor  # of a shape that no other test uses: the first call of it decides
    x = torch.full((3, 17), 1.0, device="jax")
    y = x.view(torch.int32)
    assert sub(y, y).tolist() == [[0] * 17] * 3
    z = torch.full((3, 17), 2.5, device="jax") * 1
    assert sub(z, x * 1).tolist() == [[1.5] * 17] * 3


def test_a_changing_number_compiles_once():
    x = torch.ones(7, 2, device="jax")
    (x * 0.25)[0, 0].item()
    with compilations() as seen:
        assert [(x * (i + 0.5))[0, 0].item() for i in range(5)] == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert not seen


def test_a_call_keeps_no_tensor_alive():
    x, y = (torch.randn(11, 13, device="jax") for _ in range(2))
    arrays = [weakref.ref(t.jax()) for t in (x, y)]
    (x + y[:, :1]).mul_(2)
    torch.cat([x, y]).sum()
    torch.add(x, y, out=torch.empty(11, 13, device="jax"))
    del x, y
    torch.jax.synchronize()  # a call holds its operands until it has run
    gc.collect()
    assert [a() for a in arrays] == [None, None]


def test_backward_runs_on_the_callers_thread():
    seen = []
    x = torch.ones(3, device="jax", requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: seen.append(threading.get_ident()))
    y.sum().backward()
    assert seen == [threading.get_ident()]


def test_integer_results_follow_the_default_dtype():
    x = torch.arange(1, 4, device="jax")
    assert (x / 2).dtype == torch.float32 and torch.fft.fft(x).dtype == torch.complex64
    torch.set_default_dtype(torch.float64)
    try:
        assert (x / 2).dtype == torch.float64 and torch.exp(x).dtype == torch.float64
        assert torch.fft.fft(x).dtype == torch.complex128
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.exp(x).dtype == torch.float32


OUT_OF_RANGE = {
    "select": lambda x, i: x[4],
    "index": lambda x, i: x[i + 3],
    "index_put": lambda x, i: x.index_put((i + 3,), torch.zeros((), device=x.device)),
    "gather": lambda x, i: x.gather(0, (i + 3)[:, None]),
    "scatter": lambda x, i: x.scatter(0, (i + 3)[:, None], 1.0),
    "index_select": lambda x, i: x.index_select(0, i - 5),
    "index_add": lambda x, i: x.index_add(0, i + 3, x[:2]),
    "take": lambda x, i: x.take(i + 100),
    "embedding": lambda x, i: torch.nn.functional.embedding(i + 3, x),
    "cross_entropy": lambda x, i: torch.nn.functional.cross_entropy(x[:2], i + 3),
    "one_hot": lambda x, i: torch.nn.functional.one_hot(i + 3, 2),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_an_index_out_of_range_raises_as_on_the_cpu(name):
    call, indices = OUT_OF_RANGE[name], torch.tensor([0, 1])
    with pytest.raises(Exception) as expected:  # noqa: PT011 (whatever torch raises)
        call(torch.zeros(4, 3), indices)
    with pytest.raises(type(expected.value)):
        call(torch.zeros(4, 3, device="jax"), indices.to("jax"))


def put(x, value, *indices, **options):
    return x.clone().index_put_(indices, torch.tensor(value, device=x.device), **options)


MISFITS = {
    "short mask": lambda x, i: x[i[:2] > 0],
    "long mask": lambda x, i: x[:, i > 0],
    "mask after an index": lambda x, i: x[i[:1], i[:2] > 0],
    "mask of bytes": lambda x, i: x[i[:2].to(torch.uint8)],
    "mask on the CPU": lambda x, i: x[torch.tensor([True, False])],
    "write by a short mask": lambda x, i: put(x, 1.0, i[:2] > 0),
    "write by a short mask of several values": lambda x, i: put(x, [1.0, 2, 3], i[:2] > 0),
    "write by an index of a narrow dtype": lambda x, i: put(x, 1.0, i.to(torch.int16)),
    "write by an index that is no integer": lambda x, i: put(x, 1.0, i.float()),
    "write by too many indices": lambda x, i: put(x, 1.0, i, i, i),
    "write of another dtype": lambda x, i: put(x, 1, i),
    "sum of another dtype": lambda x, i: put(x.long(), 1.5, i[:2], accumulate=True),
}


MIXED = {
    "addmm": lambda x, y: torch.addmm(y, x, x),
    "linear": lambda x, y: torch.nn.functional.linear(x, x, y[0]),
    "index_add": lambda x, y: x.index_add(0, (x[0] * 0).long(), y),
    "index_copy": lambda x, y: x.index_copy(0, (x[0] * 0).long(), y),
    "index_reduce": lambda x, y: x.index_reduce(0, (x[0] * 0).long(), y, "prod"),
    "put": lambda x, y: x.put((x[0] * 0).long(), y[0]),
    "heaviside": torch.heaviside,
    "layer_norm": lambda x, y: torch.nn.functional.layer_norm(x, (2,), y[0]),
    "binary_cross_entropy": torch.nn.functional.binary_cross_entropy,
    "cdist": torch.cdist,
    "var of integers": lambda x, y: x.long().var(),
    "std of integers": lambda x, y: x.long().std(0),
}


@pytest.mark.parametrize("name", MIXED)
def test_dtypes_that_are_not_promoted_raise_as_on_the_cpu(name):
    x = torch.ones(2, 2)
    with pytest.raises(RuntimeError) as expected:
        MIXED[name](x, x.double())
    with pytest.raises(RuntimeError) as found:
        MIXED[name](x.to("jax"), x.to("jax", torch.float64))
    assert str(found.value)[:40] == str(expected.value)[:40]


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("name", MISFITS)
def test_indices_and_values_that_do_not_fit_raise_as_on_the_cpu(name):
    call, x, i = MISFITS[name], torch.zeros(4, 3), torch.tensor([0, 1, 1, 0])
    with pytest.raises((IndexError, RuntimeError)) as expected:
        call(x, i)
    with pytest.raises(type(expected.value)) as found:
        call(x.to("jax"), i.to("jax"))
    assert str(found.value)[:60] == str(expected.value)[:60]


def test_one_value_of_any_dtype_is_filled_in_where_a_mask_says():
    x = torch.arange(6).reshape(2, 3)
    y = put(x.to("jax"), 7.0, x.to("jax") > 2)
    assert torch.equal(y.cpu(), put(x, 7.0, x > 2))


def test_negative_indices_count_from_the_end():
    x, i = torch.arange(4.0), torch.tensor([-1, -4])
    assert torch.equal(x.to("jax")[i.to("jax")].cpu(), x[i])
    y = x.to("jax")
    y[i.to("jax")] = torch.tensor([9.0, 8.0], device="jax")
    assert y.tolist() == [8, 1, 2, 9]


def test_what_overlaps_a_written_tensor_is_told_in_bytes():
    x = torch.zeros(8, device="jax")
    assert [*overlaps([x[2:6]], [x[4:8], x[:2], torch.zeros(8, device="jax"), 3])] == [(8, True)]
    assert [*overlaps([x[2:6]], [x.view(torch.int16)[6:8]])] == [(4, True)]
    assert [*overlaps([x[2:6]], [x[4:4]])] == []  # which has no elements
    assert [*overlaps([x[4:4]], [x])] == []


def test_what_torch_refuses_is_refused_after_a_call_that_differs_in_strides_of_one_element():
    x = torch.ones(1, 2, 2, device="jax") + 0
    for seen in (x + 0, x, x[:]):
        for _ in range(3):
            torch.eq(seen, x, out=x)
    assert x[::2].stride() != x.stride()
    for _ in range(3):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            torch.eq(x[::2], x, out=x)
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            x.add_(x[::2])


def test_storages_have_pointers_of_their_own():
    x, y = torch.ones(3, device="jax"), torch.ones(3, device="jax")
    assert x.data_ptr() == x[:].data_ptr() != y.data_ptr() != 0
    others = [torch.ones(1, device="jax") for _ in range(100)]
    assert len({t.data_ptr() >> 36 for t in others}) == 100  # no view of one storage seems to begin another
    model = torch.nn.Linear(3, 3, device="jax")
    tied = torch.nn.ModuleList([model, torch.nn.Linear(3, 3, device="jax")])
    tied[1].weight = model.weight
    assert len({p.data_ptr() for p in tied.parameters()}) == 3


@pytest.mark.filterwarnings("ignore:The argument 'device':DeprecationWarning")
def test_pinned_memory_is_ordinary_memory_of_the_host():
    x = torch.ones(2)
    for device in ([], ["jax"], ["jax:0"]):
        pinned = x.pin_memory(*device)
        assert pinned.tolist() == [1, 1]
        assert pinned.data_ptr() != x.data_ptr()
        assert x.untyped_storage().pin_memory(*device).nbytes() == 8
        assert not pinned.is_pinned()
    assert torch.empty(3, pin_memory=True).resize_(1000).fill_(2).sum() == 2000
    assert torch.tensor([1.0, 2.0], pin_memory=True).tolist() == [1, 2]
    for make in (torch.zeros_like, torch.ones_like, torch.empty_like, torch.rand_like):
        assert make(x, pin_memory=True).device.type == "cpu"
    assert x.new_full((2,), 3, pin_memory=True).tolist() == [3, 3]


def test_host_tensors_are_left_alone():
    for make in (
        torch.empty,
        torch.rand,
        torch.arange,
        lambda n, **options: torch.empty_strided((n,), (1,), **options),
    ):
        with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
            make(3, device="jax", pin_memory=True)
    batches = DataLoader([torch.ones(2)], pin_memory=True)
    assert [x.tolist() for x in batches] == [[[1, 1]]]
    assert torch.ones(2).to("cpu", torch.float64).dtype == torch.float64
    assert torch.ones(2, device="jax").to("jax", torch.int32).dtype == torch.int32


@pytest.mark.parametrize(("primal", "tangent"), [("jax", "cpu"), ("cpu", "jax"), ("jax", "jax")])
def test_a_tangent_may_lie_on_another_device_than_its_primal(primal, tangent):
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(3, device=primal), torch.arange(3.0, device=tangent))
        ahead = forward_ad.unpack_dual(dual).tangent
    assert ahead.device.type == tangent
    assert ahead.tolist() == [0, 1, 2]


def test_a_call_that_checks_its_values_is_one_program_and_keeps_checking():
    table = torch.arange(24.0, device="jax").view(8, 3)
    torch.jax.synchronize()
    before = totals.compiled
    good, bad = (torch.tensor(i).to("jax") for i in ([1, 7, 2], [1, 8, 2]))
    functions = [lambda i: torch.nn.functional.embedding(i, table), lambda i: table.index_select(0, i)]
    for function in functions:
        for _ in range(3):
            close(function(good).cpu(), table.cpu()[good.cpu()])
            with pytest.raises(IndexError, match="index out of range"):
                function(bad)
    assert totals.compiled - before == len(functions)
    compiled = tenax.jit(functions[0])
    close(compiled(good).cpu(), table.cpu()[good.cpu()])
    with pytest.raises(IndexError, match="index out of range"):
        (compiled(bad), tenax.synchronize())


@pytest.mark.parametrize("size", [4, 1 << 20])
def test_a_write_that_is_refused_writes_nothing(size):
    x = torch.zeros(size, device="jax")
    value = torch.ones(2, device="jax")
    view = x[:2]
    for index in ([0, 1], [1, size]):
        i = torch.tensor(index).to("jax")
        if size in index:
            with pytest.raises(IndexError):
                x.index_put_((i,), value * 2)
        else:
            x.index_put_((i,), value)
    close(view.cpu(), torch.ones(2))
    close(x.sum().cpu(), torch.tensor(2.0))


def test_a_conversion_is_one_program():
    x = torch.arange(6.0, device="jax")
    torch.jax.synchronize()
    before = totals.compiled
    for _ in range(3):
        close(x.long().cpu(), torch.arange(6))
    assert totals.compiled - before == 1


def test_a_random_operator_is_on_the_fast_path_only_while_it_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(2, 3, 8, 4, device="jax")
    attention = torch.nn.functional.scaled_dot_product_attention
    slow = []

    original = Dispatcher.run

    def run(self: Dispatcher, *arguments: Any) -> Any:
        slow.append(self.signature.name)
        return original(self, *arguments)

    monkeypatch.setattr(Dispatcher, "run", run)
    with torch.no_grad():
        for dropout in (0.0, 0.5):
            calls = [attention(x, x, x, dropout_p=dropout).cpu() for _ in range(4)]
            del slow[:]
            calls += [attention(x, x, x, dropout_p=dropout).cpu() for _ in range(2)]
            assert slow == (["scaled_dot_product_attention"] * 2 if dropout else [])
            assert all(torch.equal(calls[0], y) == (not dropout) for y in calls[1:])
        close(attention(x, x, x), attention(*(x.cpu(),) * 3))
        x.add_(1)  # after calls that drew numbers, too, one without a dropout draws none
        close(attention(x, x, x), attention(*(x.cpu(),) * 3))

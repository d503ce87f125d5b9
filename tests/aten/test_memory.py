"""Storages, views and in-place writes: value, strides and aliasing are CPU torch's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.agreement import close, same
from tests.helpers.tolerances import COMPOSED, ROUNDED

pytestmark = pytest.mark.gpu

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def both(shape, dtype=torch.float32):
    """The same values on the CPU and on the device."""
    cpu = torch.arange(math.prod(shape)).reshape(shape).to(dtype)
    return cpu, cpu.to("jax")


def random_view(draw, t):
    """A view op that is legal for `t`, as a function to apply to both tensors."""
    kind = draw(
        st.sampled_from(["unsqueeze", "transpose", "narrow", "slice", "select", "expand", "diagonal", "unflatten"])
    )
    if t.dim() == 0 or kind == "unsqueeze":
        return lambda x: x.unsqueeze(0)
    d = draw(st.integers(0, t.dim() - 1))
    n = t.size(d)
    if kind == "transpose":
        e = draw(st.integers(0, t.dim() - 1))
        return lambda x: x.transpose(d, e)
    if kind == "narrow" and n:
        start = draw(st.integers(0, n - 1))
        length = draw(st.integers(1, n - start))
        return lambda x: x.narrow(d, start, length)
    if kind == "slice" and n:
        start, step = draw(st.integers(0, n - 1)), draw(st.integers(1, 3))
        return lambda x: x[(slice(None),) * d + (slice(start, None, step),)]
    if kind == "select" and n:
        i = draw(st.integers(0, n - 1))
        return lambda x: x.select(d, i)
    if kind == "expand" and n == 1:
        sizes = [3 if i == d else -1 for i in range(t.dim())]
        return lambda x: x.expand(sizes)
    if kind == "diagonal" and t.dim() > 1:
        return lambda x: x.diagonal(0, 0, 1)
    factor = draw(st.sampled_from([f for f in range(1, max(n, 1) + 1) if n % f == 0]))
    return lambda x: x.unflatten(d, (factor, -1)) if n else x


@given(st.data())
@settings(max_examples=30, deadline=None, print_blob=True)
def test_chains_of_views_and_writes_agree(data):
    base_cpu, base = both(data.draw(SIZES))
    cpu, ours = base_cpu, base
    for _ in range(data.draw(st.integers(1, 5))):
        view = random_view(data.draw, cpu)
        cpu, ours = view(cpu), view(ours)
        same(ours, cpu)
    if 0 not in cpu.stride() or cpu.numel() <= 1:
        for t in (cpu, ours):
            t.mul_(-1).add_(7)
        same(ours, cpu)
        same(base, base_cpu)
        for t in (cpu, ours):
            t.copy_(torch.arange(t.numel()).reshape(t.shape).to(t.dtype).to(t.device))
            t.zero_() if t.numel() > 3 else t.fill_(5)
        same(base, base_cpu)


def test_a_loop_over_slices_compiles_once_per_geometry():
    from tenax.aten.registry import dispatcher_of

    x = torch.ones(17, 3, device="jax")
    x[0] + x[1]
    x[1] + x[2]
    entries = len(dispatcher_of("neg").entries)
    for i in range(17):
        torch.neg(x[i])
    assert len(dispatcher_of("neg").entries) <= entries + 2


def test_storage_is_shared_by_views_and_not_by_clones():
    x = torch.ones(4, device="jax")
    v, c = x[1:], x.clone()
    v.mul_(3)
    assert x.tolist() == [1, 3, 3, 3]
    assert c.tolist() == [1, 1, 1, 1]
    assert v.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() != c.untyped_storage().data_ptr()
    assert x.data_ptr() != 0


def test_dtype_views_share_bytes():
    for source, target in [
        (torch.float32, torch.int32),
        (torch.float32, torch.uint8),
        (torch.int16, torch.int64),
        (torch.float64, torch.int32),
        (torch.complex64, torch.float32),
        (torch.bool, torch.uint8),
    ]:
        cpu, ours = both([4, 8], source)
        same(ours.view(target), cpu.view(target))
        for t in (cpu, ours):
            t.view(target)[0].zero_()
        same(ours, cpu)


def test_complex_views_share_bytes():
    cpu = torch.randn(3, 4, dtype=torch.complex64)
    ours = cpu.to("jax")
    for name in ("real", "imag"):
        same(getattr(ours, name), getattr(cpu, name))
    same(torch.view_as_real(ours), torch.view_as_real(cpu))
    for t in (cpu, ours):
        t.imag.mul_(2)
        t.real[1] = 0
    same(ours, cpu)
    same(torch.view_as_complex(torch.view_as_real(ours)), torch.view_as_complex(torch.view_as_real(cpu)))


def test_lazily_conjugated_and_negated_tensors():
    cpu = torch.randn(3, 3, dtype=torch.complex64)
    ours = cpu.to("jax")
    for f in (
        lambda z: z.conj() * 1j,
        lambda z: z.conj() @ z,
        lambda z: torch.dot(z[0].conj(), z[1]),
        lambda z: z.conj().imag.clone(),
        lambda z: z.conj().imag.abs(),
        lambda z: torch.addmm(z, z.conj(), z.t().conj()),
        lambda z: z.mH.clone(),
        lambda z: z.conj().resolve_conj(),
    ):
        close(f(ours), f(cpu), ROUNDED)
    for z in (cpu, ours):
        z.conj().mul_(2j)
        z.conj().imag.neg_()
        z.conj()[0] = 1 + 1j
        z.conj().copy_(z.clone())
    close(ours, cpu, ROUNDED)
    close(ours.conj(), cpu.conj(), ROUNDED)


def test_as_strided_reads_overlapping_windows():
    cpu, ours = both([10])
    same(ours.as_strided((4, 3), (2, 1), 1), cpu.as_strided((4, 3), (2, 1), 1))
    same(ours.unfold(0, 4, 2), cpu.unfold(0, 4, 2))


@pytest.mark.parametrize("arguments", [((11,), (1,)), ((3, 4), (4, 1)), ((2,), (1,), 9), ((2,), (-1,)), ((2, 2), (1,))])
def test_as_strided_out_of_bounds_raises(arguments):
    cpu, ours = both([10])
    with pytest.raises(RuntimeError):
        cpu.as_strided(*arguments)
    with pytest.raises(RuntimeError):
        ours.as_strided(*arguments)


def test_set_and_resize():
    cpu, ours = both([2, 3])
    for t in (cpu, ours):
        other = torch.empty(0, device=t.device).set_(t.untyped_storage(), 1, (2, 2), (3, 1))
        other.add_(10)
    same(ours, cpu)
    for t in (cpu, ours):
        t.resize_(2, 2)
    same(ours, cpu)
    for t in (cpu, ours):
        t.resize_(3, 3).fill_(1)
    assert torch.equal(ours.cpu(), cpu)


@pytest.mark.parametrize("device", ["cpu", "jax"])
def test_set_grows_the_storage_for_all_who_share_it(device):
    x = torch.ones(2, device=device)
    y = torch.zeros(1, device=device).set_(x.untyped_storage(), 1, (4,), (1,))
    y[0], y[3] = 5, 6
    assert x.tolist() == [1, 5] and y[[0, 3]].tolist() == [5, 6]
    assert x.untyped_storage().nbytes() == y.untyped_storage().nbytes() == 20


@pytest.fixture
def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True


UNINITIALIZED = {
    "empty": lambda x: torch.empty(2, dtype=x.dtype, device=x.device),
    "empty_strided": lambda x: torch.empty_strided((2, 2), (3, 1), dtype=x.dtype, device=x.device),
    "channels last": lambda x: torch.empty(
        (1, 2, 2, 2), dtype=x.dtype, device=x.device, memory_format=torch.channels_last
    ),
    "empty_like": lambda x: torch.empty_like(x.t()),
    "new_empty": lambda x: x.new_empty(2),
    "resize_": lambda x: x.clone().resize_(3, 3),
    "resize_ of a part": lambda x: x.clone()[1:].resize_(3, 3),
    "zeros": lambda x: torch.zeros(2, dtype=x.dtype, device=x.device),
    "zeros_like": lambda x: torch.zeros_like(x.t()),
    "full": lambda x: torch.full((2,), 0, dtype=x.dtype, device=x.device),
}


@pytest.mark.usefixtures("deterministic")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", UNINITIALIZED.values(), ids=list(UNINITIALIZED))
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.bool, torch.uint8, torch.int64], ids=str)
def test_uninitialized_memory_is_filled_in_deterministic_mode(make, dtype):
    cpu, ours = both([2, 3], dtype)
    close(make(ours).cpu(), make(cpu), nan=True)


@pytest.mark.usefixtures("deterministic")
def test_uninitialized_memory_is_left_alone_on_request():
    torch.utils.deterministic.fill_uninitialized_memory = False
    assert torch.empty(2, device="jax").tolist() == torch.ones(0, device="jax").resize_(2).tolist() == [0, 0]


def test_data_can_be_replaced():
    p = torch.nn.Parameter(torch.ones(2, device="jax"))
    p.data = p.data * 3
    assert p.tolist() == [3, 3] and type(p) is torch.nn.Parameter


def test_a_view_that_was_seen_before_is_like_the_first():
    def run(device):
        x = torch.arange(24.0, device=device).view(4, 6)
        with torch.inference_mode():
            inferred = torch.arange(24.0, device=device).view(4, 6)
        found = []
        for _ in range(2):
            with torch.inference_mode():
                views = [x.t(), x.view(24), x[1:3], inferred.t(), inferred.view(24)]
            views += [x.t(), x.view(24), x[1:3], x[1:].view(18), inferred.t(), inferred.view(24), inferred[1:3]]
            with torch.no_grad():
                views += [x.t(), x.view(24)]
            x.add_(1)
            found += [
                (v.tolist(), v.stride(), v.storage_offset(), v.is_inference(), v._is_view(), v.requires_grad)
                for v in views
            ]
            found += [v._version for v in views if not v.is_inference()]
        for size in ((5, 5), (-1, 7), (4, 7)):
            for _ in range(2):
                with pytest.raises(RuntimeError) as error:
                    x.view(size)
                found.append(str(error.value))
        return found

    assert run("jax") == run("cpu")


def test_sizes_and_strides_of_different_lengths_are_refused_after_views_of_the_same_numbers():
    x = torch.zeros(24, device="jax")
    x.as_strided((2, 3), (1, 4), 0)
    with pytest.raises(RuntimeError, match="mismatch in length of strides and shape"):
        x.as_strided((2, 3, 1), (4,), 0)


def test_data_can_be_replaced_by_a_tensor_of_inference_mode():
    p = torch.nn.Parameter(torch.ones(2, device="jax"))
    with torch.inference_mode():
        p.data = p.data * 3
    (p * 2).sum().backward()
    assert (p.tolist(), p.grad.tolist()) == ([3, 3], [2, 2])


@pytest.mark.parametrize("bit", [torch.Tensor.conj, lambda x: x.conj().imag], ids=["conjugate", "negative"])
def test_data_with_lazy_bits_can_be_replaced_and_replaces(bit):
    cpu = torch.tensor([1 + 2j, 3 - 4j])
    results = []
    for x in (cpu, cpu.to("jax")):
        lazy, plain = bit(x), bit(x).resolve_conj().resolve_neg()
        lazy.data, plain.data = plain.clone(), bit(x * 2)
        results.append([(t.is_conj(), t.is_neg(), t.cpu()) for t in (lazy, plain)])
    close(results[1], results[0])


@pytest.mark.parametrize("memory_format", [torch.channels_last, torch.contiguous_format])
def test_pointwise_results_keep_the_layout(memory_format):
    cpu = torch.randn(2, 3, 4, 5).contiguous(memory_format=memory_format)
    ours = cpu.to("jax")
    assert ours.stride() == cpu.stride()
    for f in (lambda x: x + 1, lambda x: x * x, torch.neg, torch.empty_like, lambda x: x.permute(1, 0, 3, 2).exp()):
        assert f(ours).stride() == f(cpu).stride()
    assert torch.equal((ours * 2).cpu(), cpu * 2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [(2, 3, 6, 5), (2, 3, 4, 4, 4), (1, 3, 1, 1)])
@pytest.mark.parametrize("last", ["input", "weight", "both", "none"])
@pytest.mark.parametrize("channels", [4, 1])
def test_convolutions_keep_the_layout(shape, last, channels):
    rank = len(shape) - 2
    memory_format = torch.channels_last if rank == 2 else torch.channels_last_3d
    cpu, weight = torch.randn(shape), torch.randn(channels, 3, *[min(2, shape[-1])] * rank)
    if last in ("input", "both"):
        cpu = cpu.contiguous(memory_format=memory_format)
    if last in ("weight", "both"):
        weight = weight.contiguous(memory_format=memory_format)
    results = []
    for device in ("cpu", "jax"):
        x, w = (t.detach().to(device).requires_grad_() for t in (cpu, weight))
        y = torch.nn.functional.conv2d(x, w) if rank == 2 else torch.nn.functional.conv3d(x, w)
        results.append([y, *torch.autograd.grad(y.sum(), (x, w))])
    for ours, reference in zip(*reversed(results), strict=True):
        assert ours.stride() == reference.stride()
        close(ours, reference, COMPOSED)


def test_the_gradient_of_dropout_keeps_the_layout():
    gradient, mask = torch.randn(2, 4, 3, 3).transpose(1, 2), torch.rand(2, 3, 4, 3) > 0.5
    expected = torch.ops.aten.native_dropout_backward(gradient, mask, 2.0)
    found = torch.ops.aten.native_dropout_backward(gradient.to("jax"), mask.to("jax"), 2.0)
    assert found.stride() == expected.stride() and torch.equal(found.cpu(), expected)


@pytest.mark.parametrize("size", [(5, 0), (5, 0, 3), (0, 4), (2, 0, 0)])
def test_tensors_of_no_elements_are_strided_as_on_the_cpu(size):
    for f in (torch.clone, torch.exp, torch.zeros_like, lambda x: x + 1, lambda x: x.new_full(size, 2)):
        same(f(torch.zeros(size, device="jax")), f(torch.zeros(size)))


@pytest.mark.parametrize("fill", [lambda x: x.fill_(2), torch.zero_, lambda x: torch._foreach_zero_([x])])
def test_an_expanded_tensor_is_filled(fill):
    cpu, ours = both([4])
    for x in (cpu, ours):
        fill(x[1:3].expand(2, 2))
    same(ours, cpu)


EXPANDED_PUTS = {
    "indexed": lambda x, put: put(x[:1].expand(2, 3), ([0],), x[1]),
    "without an index": lambda x, put: put(x[:2, None].expand(2, 3), ([0, 1],), x.repeat(2)[:6].view(2, 3)),
    "one of three": lambda x, put: put(x.view(2, 2, 1).expand(2, 2, 3), ([0, 0],), x.repeat(3).view(2, 2, 3)),
    "apart": lambda x, put: put(x.view(2, 1, 2).expand(2, 3, 2), ([1, 0], None, [0, 1]), x.repeat(2)[:6].view(2, 3)),
    "before": lambda x, put: put(x.view(2, 1, 2).expand(2, 3, 2), (None, None, [1, 1]), x.repeat(3).view(2, 3, 2)),
    "broadcast": lambda x, put: put(x[:2, None].expand(2, 3), ([1, 1],), x[:1]),
    "mask": lambda x, put: put(x[:2, None].expand(2, 3), ([True, False],), x[:3].view(1, 3)),
}


@pytest.mark.filterwarnings("ignore:Use of index_put_ on expanded tensors is deprecated")
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("case", EXPANDED_PUTS.values(), ids=list(EXPANDED_PUTS))
def test_a_part_of_an_expanded_tensor_is_put_or_added_to(case, accumulate):
    cpu, ours = both([4])
    for x in (cpu, ours):

        def put(target, indices, values, x=x):
            indices = [None if i is None else torch.tensor(i, device=x.device) for i in indices]
            torch.ops.aten.index_put_(target, indices, values.clone(), accumulate)

        case(x, put)
    close(ours, cpu)


ILLEGAL = {
    "expanded": lambda x: x[:1].expand(4, 3).add_(1),
    "leaf": lambda x: x.clone().requires_grad_().add_(1),
    "result type": lambda x: x.long().add_(1.5),
    "shape": lambda x: x.add_(torch.ones(7, device=x.device)),
    "bool minus": lambda x: (x > 0) - (x > 0),
    "view": lambda x: x.t().view(-1),
    "broadcast": lambda x: x + torch.ones(7, device=x.device),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_operations_raise_as_on_the_cpu(name):
    cpu, ours = both([2, 3])
    with pytest.raises(Exception) as expected:  # noqa: PT011 (whatever torch raises)
        ILLEGAL[name](cpu)
    with pytest.raises(type(expected.value)) as found:
        ILLEGAL[name](ours)
    assert str(found.value)[:30] == str(expected.value)[:30]


def test_mixed_devices_raise_and_name_both():
    cpu, ours = both([3])
    for f in (lambda: cpu + ours, lambda: ours + cpu, lambda: cpu.add_(ours), lambda: torch.cat([cpu, ours])):
        with pytest.raises(RuntimeError, match=r"same device.*(jax:0.*cpu|cpu.*jax:0)"):
            f()
    assert (ours + torch.tensor(2.0)).tolist() == [2, 3, 4]


def test_version_counters_of_list_ops():
    x = torch.ones(3, device="jax", requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    with torch.no_grad():
        torch._foreach_add_([y], 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


@pytest.mark.parametrize(
    "make",
    [lambda v, **o: torch.full((2,), v, **o), torch.scalar_tensor, lambda v, **o: torch.zeros(3, **o)[1:].fill_(v)],
)
@pytest.mark.parametrize("value", [-5, 300, -300, 2.7, 1e40, 1e10, float("inf"), float("nan"), 1 + 0j, 1 + 2j, True])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.bool, torch.float32, torch.float64])
def test_a_number_that_a_dtype_cannot_hold(
    make: Callable[..., torch.Tensor], value: complex, dtype: torch.dtype
) -> None:
    try:
        want = make(value, dtype=dtype, device="cpu")
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=re.escape(str(error))):
            make(value, dtype=dtype, device="jax")
    else:
        close(make(value, dtype=dtype, device="jax"), want, nan=True)


def test_parts_of_complex_rows_at_several_offsets() -> None:
    """The starts of a view become an operand at its second offset, but not where a storage has several dtypes."""
    z = torch.arange(16.0).reshape(4, 4).to(torch.complex64) * (1 + 2j)
    ours = z.to("jax")
    for i in range(4):
        for part in ("real", "imag"):
            same((getattr(ours[i], part) + 0).cpu(), getattr(z[i], part) + 0)
            getattr(ours, part)[i].add_(i)
            getattr(z, part)[i].add_(i)
        same((ours[i].expand(2, 4).imag * 2).cpu(), z[i].expand(2, 4).imag * 2)
        same((ours[i, :1].expand(3).imag * 2).cpu(), z[i, :1].expand(3).imag * 2)
    close(ours, z)
    bits = torch.arange(16.0).reshape(4, 4)
    for i in range(4):
        same((bits.to("jax").view(torch.int32)[i] + 0).cpu(), bits.view(torch.int32)[i] + 0)


@pytest.mark.parametrize(
    "bias", [lambda b: b, lambda b: b[:1].expand(3), lambda b: b[1:2].expand(3), lambda b: b.conj()]
)
def test_a_complex_convolution_with_a_repeated_bias(bias: Callable[[torch.Tensor], torch.Tensor]) -> None:
    generator = torch.Generator().manual_seed(0)
    x, w, b = (torch.randn(n, dtype=torch.complex64, generator=generator) for n in ((1, 3, 4), (3, 3, 3), (3,)))
    want = torch.nn.functional.conv1d(x, w, bias(b), stride=2, padding=2)
    ours = torch.nn.functional.conv1d(x.to("jax"), w.to("jax"), bias(b.to("jax")), stride=2, padding=2)
    close(ours, want)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        *((torch.float32, v) for v in (0.0, -0.0, math.nan)),
        (torch.bfloat16, 1.5),
        (torch.float64, math.pi),
        (torch.int64, 2**40 + 1),
        (torch.complex64, complex(1, -0.0)),
        (torch.bool, True),
        (torch.float8_e5m2, 1.5),
    ],
)
def test_large_constants_that_are_made_often_are_those_of_the_cpu(dtype: torch.dtype, value: complex) -> None:
    """After some uploads a program makes them: they have the same bytes, and are as free to move."""
    bits = torch.full((300, 128), value, dtype=dtype).view(torch.uint8)
    for _ in range(20):
        found = torch.full((300, 128), value, dtype=dtype, device="jax")
        assert not found.jax().committed
        assert torch.equal(found.cpu().view(torch.uint8), bits)
    written, other = (torch.full((300, 128), value, dtype=dtype, device="jax") for _ in range(2))
    written[1:3] = 0
    assert torch.equal(other.cpu().view(torch.uint8), bits)

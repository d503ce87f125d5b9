"""`out=` arguments: strides, resizing and what is refused are CPU torch's."""

from __future__ import annotations

import warnings

import pytest
import torch

from tenax.aten.registry import dispatcher_of
from tests.helpers.agreement import agree, close, same
from tests.helpers.tolerances import LAST_DIGITS

pytestmark = pytest.mark.gpu


def on(device: str) -> torch.Tensor:
    return torch.arange(1.0, 7.0, device=device)


def raised(run, device: str) -> str:
    try:
        run(device)
    except RuntimeError as error:
        return str(error)
    return ""


OVERLAPPING = {
    "take": lambda x: torch.take(x, torch.tensor([0, 1], device=x.device), out=x[1:3]),
    "gather": lambda x: torch.gather(x, 0, torch.arange(6, device=x.device), out=x),
    "cat": lambda x: torch.cat([x[:3], x[3:]], out=x),
    "masked_select": lambda x: torch.masked_select(x, x > 0, out=x),
    "a shifted part": lambda x: torch.cumsum(x[:3], 0, out=x[1:4]),
    "another part": lambda x: torch.cumsum(x[:3], 0, out=x[3:]),
    "the input itself": lambda x: torch.cumsum(x, 0, out=x),
    "another order of a fill": lambda x: torch.mul(x.fill_(2).view(2, 3), 2, out=x[:4].view(2, 2).t()),
    "an input that would be resized": lambda x: (y := x[:1].clone(), torch.add(y, x.view(6, 1), out=y)),
    "a choice that would be resized": lambda x: (y := x[:1].clone(), torch.where(y == 1, x.view(6, 1), y, out=y)),
    "a fill with other strides": lambda x: torch.add(x[:1].view(1, 1), 1, out=x.zero_()[0].view(1)),
}


@pytest.mark.parametrize("run", OVERLAPPING.values(), ids=OVERLAPPING.keys())
def test_shared_memory_is_refused_where_the_cpu_refuses_it(run):
    assert raised(lambda d: run(on(d)), "jax") == raised(lambda d: run(on(d)), "cpu")


def test_a_call_that_was_allowed_does_not_allow_one_that_overlaps():
    x, apart = on("jax"), torch.empty(3, device="jax")
    torch.cumsum(x[:3], 0, out=apart)
    with pytest.raises(RuntimeError, match="unsupported operation"):
        torch.cumsum(x[:3], 0, out=x[1:4])


IN_PLACE = {
    "add of what lies one before": lambda x: x[1:].add_(x[:-1]),
    "add of what lies apart": lambda x: x[3:].add_(x[:3]),
    "add of itself": lambda x: x.add_(x),
    "add of every other": lambda x: x[::2].add_(x[1::2]),
    "add of a number of it": lambda x: x.add_(x[2]),
    "copy": lambda x: x[1:].copy_(x[:-1]),
    "copy of itself": lambda x: x.copy_(x),
    "copy of the transposed": lambda x: x[:4].view(2, 2).copy_(x[:4].view(2, 2).t()),
    "item": lambda x: x.__setitem__(slice(1, None), x[:-1]),
    "index_add": lambda x: x.index_add_(0, torch.tensor([0, 1], device=x.device), x[:2]),
    "scatter": lambda x: x.scatter_(0, torch.tensor([0, 1], device=x.device), x[:2]),
    "index_put": lambda x: x.index_put_((torch.tensor([0, 1], device=x.device),), x[1:3]),
    "addcmul": lambda x: x[1:].addcmul_(x[:-1], x[:-1]),
    "masked_fill": lambda x: x[1:].masked_fill_(x[:-1] > 1, 2),
}


@pytest.mark.parametrize("run", IN_PLACE.values(), ids=IN_PLACE.keys())
def test_a_write_in_place_reads_no_part_of_what_it_writes(run):
    def after(device):
        x = on(device)
        for _ in range(2):  # the second call is the fast path's
            run(x)
        return x.tolist()

    assert raised(after, "jax") == raised(after, "cpu")
    if not raised(after, "cpu"):
        assert after("jax") == after("cpu")


def test_a_write_that_was_allowed_does_not_allow_one_that_overlaps():
    x, apart = on("jax"), torch.ones(5, device="jax")
    for _ in range(2):
        x[1:].add_(apart)
    with pytest.raises(RuntimeError, match="unsupported operation"):
        x[1:].add_(x[:-1])


def test_rows_that_are_added_to_rows_share_a_program():
    x, programs = torch.ones(9, 7, device="jax"), []
    for i in range(1, 9):
        x[i].add_(x[i - 1])
        programs.append(len(dispatcher_of("add_.Tensor").entries))
    assert programs[2] == programs[-1]


RESIZED = {
    "add": lambda x, out: torch.add(x, x, out=out),
    "inv": lambda x, out: torch.linalg.inv(torch.diag(x), out=out),
    "logsigmoid": lambda x, out: torch._C._nn.log_sigmoid(x, out=out),
    "softmax": lambda x, out: torch.softmax(x, 0, out=out),
}


@pytest.mark.parametrize("run", RESIZED.values(), ids=RESIZED.keys())
@pytest.mark.parametrize("shape", [(0,), (7, 2)])
def test_a_resized_out_has_the_strides_and_the_warning_of_the_cpu(run, shape):
    found = []
    for device in ("cpu", "jax"):
        out = torch.empty(shape, device=device)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(on(device), out)
        found.append((out.shape, out.stride(), any("was resized" in str(w.message) for w in caught)))
    assert found[0] == found[1]


PERMUTED = {
    "mul": lambda x, out: torch.mul(x, 2, out=out),
    "exp": lambda x, out: torch.exp(x, out=out),
    "cat": lambda x, out: torch.cat([x, x], out=out),
    "where": lambda x, out: torch.where(x > 0, x, x, out=out),
    "sum": lambda x, out: torch.sum(x, 0, out=out),
    "cumsum": lambda x, out: torch.cumsum(x, 0, out=out),
    "bmm": lambda x, out: torch.bmm(x, x.transpose(1, 2), out=out),
    "sort": lambda x, out: torch.sort(x, out=(out, torch.empty(0, dtype=torch.int64, device=x.device)))[0],
}


@pytest.mark.parametrize("run", PERMUTED.values(), ids=list(PERMUTED))
@pytest.mark.parametrize("size", [0, 40])
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_a_resized_out_lies_as_a_permuted_input_does(run, size):
    ours, cpu = (
        run(torch.arange(36.0, device=d).view(4, 3, 3).transpose(0, 2), torch.empty(size, device=d))
        for d in ("jax", "cpu")
    )
    assert ours.stride() == cpu.stride()
    close(ours.cpu(), cpu)


def test_an_out_of_the_right_shape_keeps_its_strides():
    out = torch.empty(6, 2, device="jax")[:, 0]
    torch.softmax(on("jax"), 0, out=out)
    assert out.stride() == (2,)
    assert torch.equal(out.cpu(), torch.softmax(on("jax"), 0).cpu())


def test_results_with_gaps_keep_them():
    strided = [torch.arange(12.0, device=d).reshape(2, 6)[:, ::2] for d in ("cpu", "jax")]
    cpu, ours = (torch.select_scatter(x, torch.ones(2, device=x.device), 1, 0) for x in strided)
    assert ours.stride() == cpu.stride() == (6, 2)
    assert torch.equal(ours.cpu(), cpu)


def test_a_tensor_of_more_than_64_axes_travels():
    x = torch.arange(2.0).reshape((1,) * 64 + (2,))
    assert x.to("jax").cpu().flatten().tolist() == [0.0, 1.0]
    with pytest.raises(RuntimeError, match="only tensors with up to 64 dims are supported"):
        x.to("jax").amax(-1)


DTYPES_OF_OUT = {
    "cumsum": lambda x, out: torch.cumsum(x, 0, out=out),
    "cumprod": lambda x, out: torch.cumprod(x, 0, out=out),
    "sum": lambda x, out: torch.sum(x, 0, out=out),
    "prod": lambda x, out: torch.prod(x, 0, out=out),
    "a dtype of its own": lambda x, out: torch.cumsum(x, 0, dtype=torch.float64, out=out),
    "all": lambda x, out: torch.all(x, 0, out=out),
    "median": lambda x, out: torch.median(x, 0, out=(out, out.long()))[0],
    "logcumsumexp": lambda x, out: torch.logcumsumexp(x, 0, out=out),
}


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.bool], ids=str)
@pytest.mark.parametrize("run", DTYPES_OF_OUT.values(), ids=list(DTYPES_OF_OUT))
def test_an_out_of_another_dtype_is_computed_in_or_refused_as_on_the_cpu(run, dtype):
    def outcome(device):
        try:
            return run(torch.tensor([1.5, 1.5, 2.0], device=device), torch.zeros(3, dtype=dtype, device=device)).cpu()
        except RuntimeError as error:
            return type(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = outcome("jax"), outcome("cpu")
    if isinstance(theirs, torch.Tensor):
        close(ours, theirs)
    else:
        assert ours is theirs


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.bool, torch.float16], ids=str)
def test_a_cumulative_sum_in_place_keeps_its_dtype(dtype):
    def outcome(device):
        try:
            return torch.tensor([1, 200, 100], device=device).to(dtype).cumsum_(0).tolist()
        except RuntimeError as error:
            return type(error)

    assert outcome("jax") == outcome("cpu")


NARROWED = {
    "mean of complex": lambda d: torch.mean(torch.ones(3, dtype=torch.complex64, device=d), 0, out=zero(d)),
    "mean of integers": lambda d: torch.mean(torch.ones(3, dtype=torch.int32, device=d), 0, out=zero(d)),
    "mean into integers": lambda d: torch.mean(torch.ones(3, device=d), 0, out=zero(d, torch.int32)),
    "mean in double": lambda d: torch.mean(torch.tensor([1e8, 1.0], device=d), 0, out=zero(d, torch.float64)),
    "all of bytes": lambda d: torch.all(bytes_on(d), 0, out=zero(d, torch.bool)),
    "all of bytes, of all axes": lambda d: torch.all(bytes_on(d), out=zero(d, torch.bool)),
    "any of bytes, of some axes": lambda d: torch.any(bytes_on(d), (0,), out=zero(d, torch.bool)),
    "any of bytes": lambda d: torch.any(bytes_on(d), 0, out=zero(d, torch.bool)),
    "any of bytes as bytes": lambda d: torch.any(bytes_on(d), 0, out=zero(d, torch.uint8)),
    "any of bytes as numbers": lambda d: torch.any(bytes_on(d), 0, out=zero(d)),
    "all of numbers as bytes": lambda d: torch.all(fractions_on(d), 0, out=zero(d, torch.uint8)),
    "any of numbers as bytes": lambda d: torch.any(fractions_on(d)[:2], out=zero(d, torch.uint8)),
    "any of integers as bytes": lambda d: torch.any(bytes_on(d).int() * 64, (0,), out=zero(d, torch.uint8)),
    "any of one number as bytes": lambda d: torch.any(fractions_on(d)[:1], 0, out=zero(d, torch.uint8)),
}


def fractions_on(device: str) -> torch.Tensor:
    return torch.tensor([0.5, 0.25, 3.0], device=device)


def zero(device: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros((), dtype=dtype, device=device)


def bytes_on(device: str) -> torch.Tensor:
    return torch.tensor([0, 4, 2], dtype=torch.uint8, device=device)


@pytest.mark.parametrize("run", NARROWED.values(), ids=list(NARROWED))
@pytest.mark.filterwarnings("ignore:Casting complex values to real discards the imaginary part")
def test_a_reduction_is_written_to_a_narrower_dtype_where_the_cpu_writes_it(run):
    assert raised(run, "jax") == raised(run, "cpu")
    if not raised(run, "cpu"):
        close(run("jax").cpu(), run("cpu"))


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("reduce", [torch.sum, torch.amax, torch.all, torch.cumsum], ids=lambda f: f.__name__)
def test_an_expanded_out_of_another_shape_is_resized_before_it_is_written(reduce):
    def run(device):
        x = torch.arange(6.0, device=device).view(3, 2)
        out = torch.zeros(1, dtype=torch.bool if reduce is torch.all else torch.float32, device=device)
        return reduce(x, 1, out=out.expand(5))

    agree(run("jax"), run("cpu"))


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, torch.float32], ids=str)
@pytest.mark.parametrize("out", [torch.bool, torch.int32, torch.uint8, torch.float64], ids=str)
def test_nansum_of_integers_is_computed_in_the_dtype_of_out(dtype, out):
    def outcome(device):
        x = torch.tensor([[1, 2], [0, 0]], device=device).to(dtype)
        try:
            return torch.nansum(x, 1, out=torch.empty(0, dtype=out, device=device)).tolist()
        except RuntimeError as error:
            return str(error)

    assert outcome("jax") == outcome("cpu")


@pytest.mark.parametrize("name", ["std", "var", "nansum"])
def test_reductions_that_have_no_complex_kernel_refuse_a_complex_out(name: str) -> None:
    for device in ("cpu", "jax"):
        out = torch.zeros(2, dtype=torch.complex64, device=device)
        with pytest.raises(NotImplementedError, match="not implemented for 'ComplexFloat'"):
            getattr(torch, name)(torch.ones(2, 2, device=device), 0, out=out)
        assert not out.any()


@pytest.mark.parametrize("size", [(2, 6), (3, 2)])
def test_an_expanded_tensor_is_neither_filled_nor_resized(size: tuple[int, int]) -> None:
    for device in ("cpu", "jax"):
        out = torch.zeros(1, size[1], device=device).expand(size)
        index = torch.tensor([0, 1], device=device)
        with pytest.raises(RuntimeError, match="unsupported operation"):
            torch.index_select(torch.zeros(3, 6, device=device), 1, index, out=out)


WIDER = {
    "logsumexp": lambda x, out: torch.logsumexp(x, 0, out=out),
    "nansum": lambda x, out: torch.nansum(x, 0, out=out),
    "std": lambda x, out: torch.std(x, 0, out=out),
    "var": lambda x, out: torch.var(x, 0, out=out),
}


@pytest.mark.parametrize("reduce", WIDER.values(), ids=list(WIDER))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_reduction_is_computed_in_the_precision_of_a_wider_out(reduce, dtype):
    x = torch.tensor([1.3, 2.1, -0.7, 0.4], dtype=torch.bfloat16 if dtype is torch.float32 else torch.float32)
    exact = reduce(x.double(), torch.empty((), dtype=torch.float64))
    found = reduce(x.to("jax"), torch.empty((), dtype=dtype, device="jax"))
    close(found, exact.to(dtype), LAST_DIGITS)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_a_spread_of_integers_is_refused_also_into_a_wider_out(dtype):
    for device in ("cpu", "jax"):
        with pytest.raises(RuntimeError, match="std and var only support floating point and complex"):
            torch.std(torch.ones(3, dtype=dtype, device=device), 0, out=torch.empty((), device=device))


@pytest.mark.parametrize("shape", [(3, 4), (0, 4)])
def test_logsumexp_of_complex_numbers_into_a_real_out_is_that_of_the_real_sum(shape):
    x = torch.view_as_complex(torch.arange(2.0 * 3 * 4).view(3, 4, 2).sin())[: shape[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "Casting complex values to real", of the CPU
        cpu = torch.logsumexp(x, 0, out=torch.empty(4))
    close(torch.logsumexp(x.to("jax"), 0, out=torch.empty(4, device="jax")).cpu(), cpu)


def test_heaviside_refuses_a_complex_out():
    for device in ("cpu", "jax"):
        x = torch.ones(2, device=device)
        with pytest.raises(RuntimeError, match="heaviside is not yet implemented for complex tensors"):
            torch.heaviside(x, x, out=torch.empty(2, dtype=torch.complex64, device=device))


@pytest.mark.parametrize("divide", [torch.floor_divide, torch.remainder, torch.fmod])
def test_division_of_booleans_by_integers_is_no_division_by_zero(divide):
    """The CPU is asked of zeros whether it takes the dtypes: that it cannot divide by these says nothing of them."""
    x = torch.tensor([True, False])
    same(divide(x.to("jax"), torch.tensor([2, 3], device="jax")).cpu(), divide(x, torch.tensor([2, 3])))


@pytest.mark.parametrize("scan", ["cumsum_", "cumprod_"])
@pytest.mark.parametrize("dtype", [torch.bool, torch.int32])
def test_a_dtype_is_refused_before_an_expanded_tensor_is(scan, dtype):
    def refusal(device):
        with pytest.raises(RuntimeError) as error:
            getattr(torch.ones(3, dtype=dtype, device=device).expand(2, 3), scan)(1)
        return error.type, str(error.value)

    assert refusal("jax") == refusal("cpu")


def test_a_resized_out_is_contiguous_where_the_result_would_not_be():
    x, factor = torch.ones(5, 6, 7), torch.eye(5).repeat(2, 1, 1).mT
    programs = {
        torch.fft.fft: ((x,), {"dim": 1}, torch.complex64),
        torch.fft.rfft: ((x,), {"dim": 1}, torch.complex64),
        torch.fft.irfft: ((x.to(torch.complex64),), {"dim": 1}, torch.float32),
        torch.cholesky_solve: ((torch.ones(2, 5, 3), factor), {}, torch.float32),
    }
    for function, (arguments, options, dtype) in programs.items():
        expected = function(*arguments, **options, out=torch.empty(0, dtype=dtype))
        found = function(*(a.to("jax") for a in arguments), **options, out=torch.empty(0, dtype=dtype, device="jax"))
        assert found.stride() == expected.stride()
        close(found.cpu(), expected)


@pytest.mark.parametrize("size", [0, 3])
def test_the_strides_of_a_resized_product_of_reflectors_depend_on_what_was_there(size):
    reflectors, factors = torch.ones(5, 5), torch.ones(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an `out=` that has elements and is resized
        strides = [
            torch.linalg.householder_product(
                reflectors.to(device), factors.to(device), out=torch.empty(size, device=device)
            ).stride()
            for device in ("cpu", "jax")
        ]
    assert strides[0] == strides[1]


RANGES = {
    "arange": lambda out: torch.arange(1, 9, 2, out=out),
    "range": lambda out: torch.range(0, 3, out=out),
    "linspace": lambda out: torch.linspace(0, 3, 4, out=out),
    "linspace of a tensor": lambda out: torch.linspace(torch.tensor(0.0, device=out.device), 3, 4, out=out),
    "logspace": lambda out: torch.logspace(0, 3, 4, out=out),
}
PLACES = {
    "rows of a part": lambda x: x.narrow(1, 1, 2),
    "columns": lambda x: x[:, :2].t(),
    "every other": lambda x: x[:, ::2],
    "a list": lambda x: x.view(-1)[1:5],
    "another length": lambda x: x.view(-1)[:0],
}


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize("fill", RANGES.values(), ids=RANGES.keys())
def test_a_range_fills_a_tensor_of_as_many_elements_in_its_shape(fill, place):
    def run(device: str) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.full((2, 3), -1.0, device=device)
        return fill(place(x)), x

    agree(run("jax"), run("cpu"))


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.uint8])
def test_random_integers_fill_a_tensor(dtype):
    out = torch.zeros(2, 4, dtype=dtype, device="jax")
    torch.randint(3, 4, (2, 2), out=out[:, ::2])
    assert out.tolist() == [[3, 0, 3, 0]] * 2


def test_places_of_samples_are_int64():
    for device in "cpu", "jax":
        with pytest.raises(RuntimeError, match="multinomial expects Long tensor out"):
            torch.multinomial(torch.ones(4, device=device), 2, out=torch.empty(2, device=device))

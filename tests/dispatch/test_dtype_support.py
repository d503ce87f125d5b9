"""What CPU torch refuses for its dtype is refused in its words; what only CUDA takes is computed."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from functools import partial

import jax
import pytest
import torch
from torch.nn import functional as F  # noqa: N812
from torch.utils._python_dispatch import TorchDispatchMode

import tenax
from tenax.coverage.agree import caught
from tenax.coverage.entries import Entry, suite
from tenax.coverage.samples import Sample
from tenax.dispatch.dtype_support import dtypes_named
from tenax.dispatch.signature import Signature
from tenax.generated.table import DTYPES, ROWS
from tenax.words import TORCH
from tests.helpers.agreement import close
from tests.helpers.tolerances import IN_BFLOAT16, IN_FLOAT32, ROUNDED

NAMED = {
    "c": torch.tensor([1 + 2j, 3j, 0j, 1]),
    "b": torch.tensor([True, False, True, True]),
    "f": torch.tensor([1.0, 0.5, 2.0, 3.0]),
    "i": torch.tensor([0, 1, 3, 2], dtype=torch.int32),
    "l": torch.tensor([0, 1, 3, 2]),
    "s": torch.tensor([0, 1, 3, 2], dtype=torch.int16),
    "h": torch.tensor([1, 0.5, 2, 3], dtype=torch.float16),
    "u": torch.tensor([0, 1, 3, 2], dtype=torch.uint16),
    "q": torch.tensor([0.0, 1, 3, 2]).to(torch.float8_e4m3fn),
}

REFUSED = """
c.sort() | c.max() | c.max(0) | c.aminmax() | c.amax() | c.argmax() | c.cummax(0) | c.median() | c.mode() | c.topk(2)
c.kthvalue(1) | c < c | c.lt(1) | f < 1j | c.maximum(c) | c.fmax(c) | c.clamp(0) | c.clamp_(0) | c.relu() | c.sign()
c.floor() | c.round_() | c // c | c % c | c.remainder(2) | c.fmod(2) | c.erf() | c.lgamma() | c.atan2(c) | c.hypot(c)
c.histc() | c.bincount() | c.unique() | torch.searchsorted(c, c) | c.nextafter(c) | c.heaviside(c) | c.copysign(c)
b.topk(2) | b.argmax() | b.median() | b.neg() | b - b | b.reshape(2, 2) @ b.reshape(2, 2) | b.dot(b) | b.floor()
i.softmax(0) | i.log_softmax(0) | i.lerp(i, 0.5) | i.lerp_(i, 0.5) | F.gelu(i) | F.silu(i) | F.elu(i) | F.celu(i)
F.softplus(i) | F.leaky_relu(i) | F.glu(i) | F.hardswish(i) | F.logsigmoid(i) | F.mse_loss(i, i) | i.mean() | i.std()
F.avg_pool1d(i.reshape(1, 1, 4), 2) | F.adaptive_max_pool2d(i.reshape(1, 2, 2), 1) | F.layer_norm(i, [4])
F.interpolate(i.reshape(1, 1, 4), 8) | torch.cdist(i[None], i[None])
F.scaled_dot_product_attention(i.reshape(1, 1, 2, 2), i.reshape(1, 1, 2, 2), i.reshape(1, 1, 2, 2)) | i.uniform_()
i.reshape(2, 2).inverse() | torch.linalg.svd(i.reshape(2, 2)) | i.reshape(2, 2).cholesky() | i.normal_()
f & f | f & 1 | l & 1.5 | f.bitwise_not() | f << f | f.bincount() | f.gcd(f) | f.lcm(f) | f.bitwise_and_(f)
f.index_select(0, f) | f.index_select(0, s) | f.take(i) | f.gather(0, s) | f.scatter(0, s, f) | f.index_add(0, s, f)
f.index_copy(0, i, f) | f.index_fill(0, i, 1.0) | f.scatter_add(0, s, f) | f.index_reduce(0, s, f, "prod")
f.masked_fill(i, 0.0) | f.masked_select(i) | f.where(i, f) | F.embedding(f, f[:, None]) | F.embedding(s, f[:, None])
F.nll_loss(f[None], s[:1]) | F.multi_margin_loss(f[None], i[:1])
h & h | h.bitwise_not() | h << h | h.gcd(h) | h.lcm(h) | h.bincount() | F.embedding(b, f[:, None], max_norm=1.0)
f.index_add(0, l, h) | f.index_add_(0, l, i) | f.index_copy(0, l, i) | f.put(l, h) | f.index_reduce(0, l, c, "prod")
f.heaviside(i) | f[:3].cross(l[:3], 0) | l.reshape(2, 2).addmm(f.reshape(2, 2), f.reshape(2, 2))
l.view(2, 2).baddbmm(f.view(1, 2, 2), f.view(1, 2, 2)) | l.view(2, 2).addbmm(f.view(1, 2, 2), f.view(1, 2, 2))
f.view(2, 2).addmm(f.view(2, 2), f.view(2, 2), alpha=1j) | f.addcmul(f, f, value=1j) | f.addcdiv(f, f, value=1j)
f[:2].addmv(f.view(2, 2), f[:2], beta=1j) | f.lerp(f, 1j)
f.view(1, 2, 2).baddbmm(f.view(1, 2, 2), f.view(1, 2, 2), beta=1j)
u + u | u.amax() | u.neg() | u.gather(0, l) | q + q | q.exp() | q.sum() | q * 2 | q.sqrt()
torch._foreach_floor([c]) | torch._foreach_lerp([i], [i], 0.5) | torch.add(u, u, out=u) | torch.poisson(i)
torch.sort(c, out=(c, l)) | f - True | f.sub_(True) | torch.rsub(f, True) | torch._foreach_sub([f], True)
torch.add(i, i, alpha=1.5) | i.add_(i, alpha=1.5) | i.add_(2, alpha=1.5) | torch.add(i, 2, alpha=True)
i.sub_(i, alpha=1j) | torch.add(f, f, alpha=True) | f.add_(f, alpha=1j) | torch.rsub(f, f, alpha=1j)
torch.rsub(i, i, alpha=True)
torch._foreach_add([i], [i], alpha=1.5) | torch._foreach_sub_([f], [f], alpha=True)
"""
ACCEPTED = {"u.gather(0, l)"}  # by torch 2.15
CALLS = [call.strip() for call in REFUSED.replace("\n", " | ").split(" | ") if call.strip()]


def called(call: str, device: str) -> torch.Tensor:
    return eval(call, {"torch": torch, "F": F}, {n: x.clone().to(device) for n, x in NAMED.items()})


@pytest.mark.parametrize("call", CALLS)
def test_what_cpu_torch_refuses_is_refused_in_its_words(call: str) -> None:
    expected, found = (caught(partial(called, call), device) for device in ("cpu", "jax"))
    if call in ACCEPTED and TORCH >= (2, 15):
        assert torch.equal(called(call, "jax").cpu(), called(call, "cpu"))
    else:
        assert isinstance(expected, (RuntimeError, IndexError, TypeError))  # NotImplementedError is a RuntimeError
        assert type(found) is type(expected)
        assert str(found).splitlines()[0] == str(expected).splitlines()[0]


def test_a_number_that_is_a_truth_value_is_taken_where_torch_takes_it() -> None:
    for call in ("f.pow(True)", "f.clamp(False)", "f.mean(0, True)", "f + True", "torch._foreach_add([f], [True])[0]"):
        assert torch.equal(called(call, "jax").cpu(), called(call, "cpu")), call


def test_a_large_argument_is_refused_as_a_small_one() -> None:
    with pytest.raises((RuntimeError, TypeError), match="Sort does not support complex dtypes on CPU"):
        torch.zeros(2000, 500, dtype=torch.complex64, device="jax").sort()


def test_the_cpu_is_asked_about_dtypes_of_large_arguments_with_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    call = Signature.call
    monkeypatch.setattr(Signature, "call", lambda s, values: (asked.append(values), call(s, values))[1])
    x, y = torch.ones(300, 301, device="jax"), torch.ones((), dtype=torch.float64, device="jax")
    assert (x * y).dtype is torch.float32
    torch._foreach_mul_([x.clone(), x], y)
    tensors = [t for values in asked for v in values for t in (v if isinstance(v, list) else [v])]
    sizes = [t.numel() for t in tensors if isinstance(t, torch.Tensor) and t.device.type == "cpu"]
    assert len(sizes) >= 5 and max(sizes) == 8 * 16
    with pytest.raises(RuntimeError, match="to have the same dtype"):
        x @ torch.ones(301, 300, dtype=torch.float64, device="jax")


def test_a_compiled_function_raises_the_same() -> None:
    x = NAMED["c"].to("jax")
    with pytest.raises(NotImplementedError, match='"max_values_cpu" not implemented for'):
        tenax.jit(lambda x: x.amax())(x)


def test_a_call_that_records_a_gradient_raises_the_same() -> None:
    lstm, x = torch.nn.LSTM(2, 2), torch.ones(3, 2).to(torch.float8_e4m3fn)
    weights = [w.detach().to(torch.float8_e4m3fn) for w in lstm.parameters()]
    words = []
    for device in ("cpu", "jax"):
        given = [w.to(device).requires_grad_() for w in weights]
        state = torch.zeros(1, 1, 2).to(torch.float8_e4m3fn).to(device)
        with pytest.raises(NotImplementedError) as found:
            torch.lstm(x[:, None].to(device), (state, state), given, True, 1, 0.0, False, False, False)
        words.append(str(found.value))
    assert words[0] == words[1]


ON_CUDA = {
    "abs": (lambda b, c, i: b.abs(), [True, False, True, True]),
    "softsign": (lambda b, c, i: F.softsign(b), [0.5, 0, 0.5, 0.5]),
    "trace": (lambda b, c, i: b.reshape(2, 2).trace(), 2),
    "nansum": (lambda b, c, i: c.nansum(), 2 + 5j),
    "nanmean": (lambda b, c, i: c.nanmean(), 0.5 + 1.25j),
    "histc": (lambda b, c, i: i.histc(4, 0, 3), [1, 1, 1, 1]),
}


@pytest.mark.parametrize("name", ON_CUDA)
def test_what_only_cuda_takes_is_computed(name: str) -> None:
    run, expected = ON_CUDA[name]
    with pytest.raises(RuntimeError):
        run(*(NAMED[n] for n in "bci"))
    assert run(*(NAMED[n].to("jax") for n in "bci")).tolist() == expected


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.uint16, torch.uint32, torch.uint64])
@pytest.mark.parametrize("source", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_float_wraps_around_in_an_integer_that_does_not_hold_it(source: torch.dtype, dtype: torch.dtype) -> None:
    x = torch.tensor([-8.9, -1, -0.5, 255, 256, 300.7, -300.7, 1e4, 6e4, 0, 128, -129]).to(source)
    if dtype.itemsize < 4:  # the CPU's way to wider ones depends on the dtype
        x = torch.cat([x, torch.tensor([65536, 1e6, 3e9, -3e9, 1e20, torch.inf, -torch.inf, torch.nan]).to(source)])
    converts_as_on_the_cpu(x, dtype)


def converts_as_on_the_cpu(x: torch.Tensor, dtype: torch.dtype) -> None:
    device, part = x.to("jax"), torch.zeros(2 * len(x), dtype=dtype, device="jax")
    part[::2] = device
    for found in device.to(dtype), tenax.jit(lambda x: x.to(dtype))(device), part[::2]:
        assert found.dtype == dtype
        assert repr(found.tolist()) == repr(x.to(dtype).tolist())  # NaN is not equal to itself


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_a_complex_number_is_true_unless_both_parts_are_zero(dtype: torch.dtype) -> None:
    z = torch.tensor([1j, -1j, 1, 0, complex(-0.0, -0.0), complex(0, torch.nan)], dtype=dtype)
    converts_as_on_the_cpu(z, torch.bool)


@pytest.mark.parametrize("source", [torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.float8_e5m2])
def test_a_number_that_float8_e4m3fn_does_not_hold_becomes_its_largest(source: torch.dtype) -> None:
    numbers = [448, 464, 465, -1e6, -0.0, 1e-9, *([torch.inf, -torch.inf, torch.nan] * source.is_floating_point)]
    x = torch.tensor(numbers).to(source)
    converts_as_on_the_cpu(x, torch.float8_e4m3fn)


@pytest.mark.parametrize("source", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
def test_float8_e8m0fnu_has_no_sign_and_no_zero(source: torch.dtype) -> None:
    x = torch.tensor([0, -0.0, 1.5, -1.3, -6, 1e6, *([-1e-30, torch.inf, torch.nan] * source.is_floating_point)])
    converts_as_on_the_cpu(x.to(source), torch.float8_e8m0fnu)
    assert torch.full((2,), 0, dtype=torch.float8_e8m0fnu, device="jax").tolist() == [2.0**-127] * 2


def test_labels_of_jax_are_targets() -> None:
    logits, labels = torch.randn(2, 3), jax.numpy.array([2, 0])
    loss = jax.jit(tenax.interop.t2j(F.cross_entropy))(logits.numpy(), labels)
    assert labels.dtype == "int32"
    close(loss, F.cross_entropy(logits, torch.tensor([2, 0])), ROUNDED)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_taken_everywhere(dtype: torch.dtype) -> None:
    for words in {words for row in ROWS.values() for _, words in row.dtypes}:
        assert dtype in dtypes_named(words) or torch.float32 not in dtypes_named(words), words


@pytest.mark.parametrize("word", DTYPES)
def test_not_names_all_other_dtypes(word: str) -> None:
    every = frozenset().union(*map(dtypes_named, DTYPES))
    assert dtypes_named(f"not {word}") == every - dtypes_named(word)


class Watch(TorchDispatchMode):
    """Which lowered overloads CPU torch carries out, and which it refuses in a dtype that the specs let pass."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: set[str] = set()
        self.unknown: set[tuple[str, torch.dtype]] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name, given = str(func).removeprefix("aten.").removesuffix(".default"), kwargs or {}
        known = name in ROWS and "_backward" not in name and "dtype" not in given
        try:
            result = func(*args, **given)
        except NotImplementedError as error:
            first = next((i for i, a in enumerate(args) if isinstance(a, torch.Tensor)), None)
            if known and first is not None and "not implemented for" in str(error):
                words = dict(ROWS[name].dtypes)
                listed = words.get("") or words.get(func._schema.arguments[first].name) or " ".join(DTYPES)
                if args[first].dtype in dtypes_named(listed):
                    self.unknown.add((name, args[first].dtype))
            raise
        if known:
            self.taken.add(name)
        return result


# Some of what the watch must have seen, so that what it does not refuse says something.
SEEN = {"add.Tensor", "bmm", "cumsum", "gather", "index.Tensor", "sort", "sum.dim_IntList", "where.self"}
CAST = (torch.bool, torch.int32, torch.uint16, torch.complex64, torch.float8_e4m3fn)


def samples(entry: Entry) -> Iterator[Sample]:
    """The entry's first sample of some size, with its tensors in other dtypes than theirs too."""
    primary, *_ = entry.dtypes()
    given = itertools.islice(entry.info.sample_inputs("cpu", primary, requires_grad=False), 4)
    sample = next((s for s in map(Sample.of, given) if any(t.dim() and t.numel() for t in s.tensors())), None)
    if sample is None:
        return
    yield sample
    for dtype in CAST:
        if dtype not in entry.info.supported_dtypes("cuda"):
            yield sample.map(lambda t, dtype=dtype: t.abs().to(dtype) if t.dtype == primary else t)


@pytest.mark.filterwarnings("ignore")
def test_the_specs_know_what_cpu_torch_refuses() -> None:
    with Watch() as watch, torch.no_grad():
        for entry in suite("op_db"):
            for sample in samples(entry):
                with contextlib.suppress(Exception):  # of an entry of CUDA, or of the values in another dtype
                    entry.info.op(sample.input, *sample.args, **sample.kwargs)
    assert watch.taken >= SEEN
    assert not watch.unknown, "CPU torch refuses these; expected other `dtypes:` in the specs"


@pytest.mark.parametrize("weights", [{}, {"pos_weight": torch.tensor([2.0, 1.0], dtype=torch.float64)}])
def test_a_binary_loss_of_logits_has_the_dtype_of_its_target(weights: dict[str, torch.Tensor]) -> None:
    for ours, theirs in itertools.product((torch.float64, torch.float32, torch.bfloat16), repeat=2):
        found = []
        for device in ("jax", "cpu"):
            x = torch.tensor([0.5, -1.0], dtype=ours, device=device, requires_grad=True)
            y = torch.tensor([1.0, 0.25], dtype=theirs, device=device)
            given = {name: weight.to(device) for name, weight in weights.items()}
            loss = F.binary_cross_entropy_with_logits(x, y, **given)
            loss.backward()
            found.append((loss.detach().cpu(), x.grad.cpu()))
        close(*found, IN_BFLOAT16 if torch.bfloat16 in (ours, theirs) else IN_FLOAT32)

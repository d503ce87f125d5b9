"""Composites kept whole give the values and derivatives of CPU torch, in every way that torch differentiates."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from tenax.generated.table import ROWS
from tests.helpers.agreement import agree, close, leaves
from tests.helpers.tolerances import QUOTIENT

KINDS = {"lstm": nn.LSTM, "gru": nn.GRU, "tanh": nn.RNN, "relu": lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k)}


def moved(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().to("jax").requires_grad_(value.requires_grad)
    return value if value is None else tuple(moved(v) for v in value)


def wave(outputs: Any) -> torch.Tensor:
    return sum((t * t.sin()).sum() for t in leaves(outputs))


def pair(kind: str, dtype: torch.dtype = torch.float64, **options: Any) -> tuple[nn.Module, nn.Module]:
    net = KINDS[kind](3, 4, dtype=dtype, **options)
    return net, copy.deepcopy(net).to("jax")


def state(net: Any, batch: tuple[int, ...], dtype: torch.dtype = torch.float64) -> Any:
    count = net.num_layers * (2 if net.bidirectional else 1)
    h = torch.randn(count, *batch, net.proj_size or net.hidden_size, dtype=dtype, requires_grad=True)
    if not isinstance(net, nn.LSTM):
        return h
    return h, torch.randn(count, *batch, net.hidden_size, dtype=dtype, requires_grad=True)


OPTIONS = [
    {},
    {"num_layers": 2, "bidirectional": True},
    {"bias": False, "batch_first": True},
    {"num_layers": 2, "bias": False, "bidirectional": True, "batch_first": True},
]


CASES = [
    *((kind, options, (2,), torch.float64) for kind, options in product(KINDS, OPTIONS)),
    *((kind, OPTIONS[1], (), torch.float32) for kind in KINDS),
    ("lstm", {"proj_size": 2, "num_layers": 2}, (2,), torch.float64),
    ("lstm", {"proj_size": 2, "bias": False, "bidirectional": True, "batch_first": True}, (), torch.float32),
]


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kind", "options", "batch", "dtype"), CASES)
def test_a_network_has_the_values_and_gradients_of_the_cpu(
    kind: str, options: dict[str, Any], batch: tuple[int, ...], dtype: torch.dtype
) -> None:
    net, ours = pair(kind, dtype, **options)
    x = torch.randn(*((*batch, 5) if net.batch_first else (5, *batch)), 3, dtype=dtype, requires_grad=True)
    hx = state(net, batch, dtype)
    x2, hx2 = moved((x, hx))
    theirs, results = net(x, hx), ours(x2, hx2)
    agree(results, theirs)
    wave(theirs).backward()
    wave(results).backward()
    agree(
        [p.grad for p in (x2, *leaves(hx2), *ours.parameters())], [p.grad for p in (x, *leaves(hx), *net.parameters())]
    )
    with torch.no_grad():
        agree(ours(x2), net(x))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("options", "lengths"), [({}, (3,)), (OPTIONS[3], (4, 2, 2, 1))])
def test_packed_sequences_too(kind: str, options: dict[str, Any], lengths: tuple[int, ...]) -> None:
    net, ours = pair(kind, **options)
    xs = [torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in lengths]
    xs2 = list(moved(xs))
    hx = state(net, (len(lengths),))
    theirs, results = net(pack_sequence(xs), hx), ours(pack_sequence(xs2), moved(hx))
    agree((results[0].data, results[1]), (theirs[0].data, theirs[1]))
    wave((pad_packed_sequence(theirs[0])[0], theirs[1])).backward()
    wave((pad_packed_sequence(results[0])[0], results[1])).backward()
    agree([p.grad for p in (*xs2, *ours.parameters())], [p.grad for p in (*xs, *net.parameters())])


@pytest.mark.parametrize("kind", ["lstm", "relu"])
def test_second_and_third_derivatives(kind: str) -> None:
    net, ours = pair(kind)
    x = torch.randn(2, 1, 3, dtype=torch.float64, requires_grad=True)

    def derivatives(net: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
        parts = [x, *net.parameters()]
        first = torch.autograd.grad(wave(net(x)), parts, create_graph=True)
        second = torch.autograd.grad(wave(first), parts, create_graph=True)
        return [*first, *second, *torch.autograd.grad(wave(second), parts)]

    agree(derivatives(ours, moved(x)), derivatives(net, x))


def test_gradcheck() -> None:
    ours = nn.GRU(2, 2, dtype=torch.float64, device="jax")
    x = torch.randn(2, 1, 2, dtype=torch.float64, device="jax", requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ours(x)[0], x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: ours(x)[0], x)


def test_one_scan_does_what_torch_unrolls() -> None:
    _, ours = pair("lstm", num_layers=2)
    x = torch.randn(7, 2, 3, dtype=torch.float64, device="jax")
    ours(x)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        ours(x)
    names = [event.key for event in profile.key_averages()]
    assert "tenax::call" in names
    assert not any("sigmoid" in name or "mm" in name for name in names)


def test_only_what_requires_grad_gets_one() -> None:
    _, ours = pair("gru")
    x = torch.randn(3, 2, 3, dtype=torch.float64, device="jax")
    ours.weight_hh_l0.requires_grad_(False)
    ours(x)[0].sum().backward()
    assert x.grad is None
    assert ours.weight_hh_l0.grad is None
    assert ours.weight_ih_l0.grad is not None
    with torch.no_grad():
        assert not ours(x)[0].requires_grad
    with torch.inference_mode():
        assert ours(x)[0].is_inference()


def test_an_output_that_is_not_used_has_no_part_in_the_gradient() -> None:
    net, ours = pair("lstm")
    x = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)
    x2 = moved(x)
    net(x)[1][1].sum().backward()
    ours(x2)[1][1].sum().backward()
    agree(x2.grad, x.grad)


def test_dropout_is_the_same_in_forward_and_backward_and_double_backward() -> None:
    net = nn.GRU(3, 16, num_layers=2, dropout=0.5, dtype=torch.float64, device="jax")
    x = torch.randn(4, 2, 3, dtype=torch.float64, device="jax", requires_grad=True)

    def run() -> torch.Tensor:
        torch.manual_seed(1)
        return net(x)[0].square().sum()

    assert run().item() == run().item()
    assert net(x)[0].square().sum().item() != net(x)[0].square().sum().item()
    (first,) = torch.autograd.grad(run(), x, create_graph=True)
    (plain,) = torch.autograd.grad(run(), x)
    close(first, plain)
    step = 1e-5 * torch.randn_like(x)
    slope = (first.detach() * step).sum().item()
    with torch.no_grad():
        ends = []
        for sign in (1, -1):
            torch.manual_seed(1)
            ends.append(net(x + sign * step)[0].square().sum().item())
    close((ends[0] - ends[1]) / 2, slope, QUOTIENT)
    net.eval()
    assert net(x)[0].square().sum().item() == net(x)[0].square().sum().item()


def test_transforms_of_functions() -> None:
    net, ours = pair("gru")
    x = torch.randn(4, 3, 2, 3, dtype=torch.float64)

    def loss(net: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return wave(net(x)[0])

    def results(net: nn.Module, x: torch.Tensor) -> list[Any]:
        f = torch.func
        return [
            f.grad(lambda x: loss(net, x))(x[0]),
            f.grad(lambda w: loss(net, x[0] * w))(x[1]),
            f.jvp(lambda x: net(x)[0], (x[0],), (x[1],)),
            f.jacrev(f.grad(lambda x: loss(net, x)), chunk_size=1)(x[0, :1, :1]),
            torch.autograd.functional.jacobian(lambda x: net(x)[0], x[0, :2], vectorize=True),
        ]

    agree(results(ours, x.to("jax")), results(net, x))
    for module, device in ((net, "cpu"), (ours, "jax")):  # torch has no rule for it on the CPU either
        with pytest.raises(RuntimeError, match=r"Batching rule not implemented for aten::gru.input"):
            torch.func.vmap(lambda x, module=module: module(x)[0])(x.to(device))


def test_forward_mode() -> None:
    net, ours = pair("lstm")
    x, t = torch.randn(2, 3, 2, 3, dtype=torch.float64)
    found = []
    for module, primal, tangent in ((net, x, t), (ours, x.to("jax"), t.to("jax"))):
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(primal, tangent)
            found.append(torch.autograd.forward_ad.unpack_dual(module(dual)[0]).tangent.detach().cpu())
    close(found[1], found[0])


def test_autocast_computes_in_the_lower_precision() -> None:
    net = nn.LSTM(3, 4, num_layers=2, device="jax")
    x = torch.randn(5, 2, 3, device="jax")
    with torch.autocast("jax", torch.bfloat16):
        out, (h, c) = net(x)
    assert {out.dtype, h.dtype, c.dtype} == {torch.bfloat16}
    out.float().sum().backward()
    assert all(p.grad.dtype == torch.float32 for p in net.parameters())


def test_the_graph_is_freed_and_saved_tensors_are_watched() -> None:
    _, ours = pair("gru")
    x = torch.randn(3, 2, 3, dtype=torch.float64, device="jax", requires_grad=True)
    out = ours(x)[0].sum()
    out.backward(retain_graph=True)
    out.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        out.backward()
    out = ours(x)[0].sum()
    with torch.no_grad():
        ours.weight_ih_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_results_may_be_changed_in_place() -> None:
    net, ours = pair("gru")
    x = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)
    x2 = moved(x)
    nn.functional.relu(net(x)[0], inplace=True).sum().backward()
    nn.functional.relu(ours(x2)[0], inplace=True).sum().backward()
    agree(x2.grad, x.grad)


def test_hooks_checkpoints_and_anomaly_mode() -> None:
    net, ours = pair("gru", num_layers=2)
    x = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)
    x2 = moved(x)
    net(x)[0].sum().backward()
    seen: list[torch.Size] = []
    with torch.autograd.set_detect_anomaly(True), torch.autograd.graph.save_on_cpu():
        x2.register_hook(lambda g: seen.append(g.shape))
        torch.utils.checkpoint.checkpoint(lambda x: ours(x)[0], x2, use_reentrant=False).sum().backward()
    agree(x2.grad, x.grad)
    assert seen == [x2.shape]


def test_errors_are_torchs() -> None:
    net, ours = pair("lstm")
    for bad in (torch.randn(5, 2, 7, dtype=torch.float64), torch.randn(5, dtype=torch.float64)):
        errors = []
        for module, x in ((net, bad), (ours, bad.to("jax"))):
            with pytest.raises((RuntimeError, ValueError)) as caught:
                module(x)
            errors.append((caught.type, str(caught.value)))
        assert errors[0] == errors[1]
    with pytest.raises(RuntimeError, match="device"):
        ours(torch.randn(5, 2, 3, dtype=torch.float64))


def test_every_composite_kept_whole_is_one_of_torchs_composites() -> None:
    for name in (name for name, row in ROWS.items() if row.grad and row.form == "functional"):
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")
        assert op.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)

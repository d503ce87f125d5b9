"""Gradients across the boundary of compiled functions, and what their programs keep of a call."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from typing import Any

import jax
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import tenax
from tenax.errors import TraceError
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED


def test_buffers_that_forward_updates_do_not_disturb_backward() -> None:
    torch.manual_seed(0)
    reference = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    ours = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    ours.load_state_dict(reference.state_dict())
    forward = tenax.jit(ours.to("jax"))
    for i in range(3):
        x = torch.arange(6.0).view(2, 3).roll(i) ** 2
        reference(x).pow(3).sum().backward()
        forward(x.to("jax")).pow(3).sum().backward()
        close(ours[1].running_var, reference[1].running_var)
        close(ours[1].weight.grad, reference[1].weight.grad, ACCUMULATED)


def test_a_leaf_behind_no_result_that_is_used_gets_no_gradient() -> None:
    body, left, right = (nn.Linear(2, 2).to("jax") for _ in range(3))
    heads = tenax.jit(lambda x: (left(body(x)), right(body(x))))
    one, other = heads(torch.ones(1, 2, device="jax"))
    one.sum().backward(retain_graph=True)
    assert body.weight.grad is not None
    assert left.weight.grad is not None
    assert right.weight.grad is None
    other.sum().backward()
    assert right.weight.grad is not None


def test_a_write_to_what_backward_does_not_read_is_no_matter() -> None:
    weight = torch.ones(3, device="jax", requires_grad=True)
    loss = tenax.jit(lambda x: (x * weight).sum())(torch.full((3,), 2.0, device="jax"))
    with torch.no_grad():
        weight.add_(1)
    loss.backward()
    assert weight.grad.tolist() == [2, 2, 2]


def test_hooks_of_leaves_run_once_outside() -> None:
    weight = nn.Parameter(torch.ones(2, device="jax"))
    weight.register_hook(lambda g: g * 3)
    scale, other = tenax.jit(lambda x: (x * weight, x * 2)), torch.ones(2, device="jax", requires_grad=True)
    scale(other)[0].sum().backward()
    assert weight.grad.tolist() == [3, 3]
    scale(other)[1].sum().backward()
    assert weight.grad.tolist() == [3, 3]


@pytest.mark.parametrize("register", ["register_hook", "register_post_accumulate_grad_hook"])
def test_hooks_of_leaves_within_may_come_and_go(register: str) -> None:
    weight = nn.Parameter(torch.ones(2, device="jax"))

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        for leaf in (weight, x):
            leaf.grad = None
        (x * weight).sum().backward()
        return weight.grad + 10 * x.grad

    def treble(tensor: torch.Tensor) -> torch.Tensor | None:
        if register == "register_hook":
            return tensor * 3
        tensor.grad.mul_(3)
        return None

    x = torch.ones(2, device="jax", requires_grad=True)
    assert step(x).tolist() == [11, 11]
    handle = getattr(weight, register)(treble)
    assert step(x).tolist() == [13, 13]
    handle.remove()
    assert step(x).tolist() == [11, 11]
    getattr(x, register)(treble)
    assert step(x).tolist() == [31, 31]


def test_the_arguments_of_the_first_call_are_not_kept() -> None:
    def count() -> int:
        gc.collect()
        return sum(a.shape == (171, 231) for a in jax.live_arrays())

    double = tenax.jit(lambda x: x * 2)
    for _ in range(2):
        double(torch.randn(171, 231).to("jax"))
        assert count() == 0


class Recomputed(torch.autograd.Function):
    """A layer whose backward computes it again and runs a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
        ctx.layer = layer
        ctx.save_for_backward(x)
        return layer(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.layer(x)
        torch.autograd.backward(y, gradient)
        return None, x.grad


@pytest.mark.parametrize("kind", ["checkpoint", "function"])
def test_a_backward_pass_within_backward_gives_gradients_outside(kind: str) -> None:
    def gradients(device: str, again: bool) -> list[torch.Tensor | None]:
        torch.manual_seed(0)
        first, inner, last = (nn.Linear(3, 3).to(device) for _ in range(3))

        def forward(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            h = first(x)
            if kind == "checkpoint":
                h = torch.utils.checkpoint.checkpoint(inner, h, use_reentrant=True)
            else:
                h = Recomputed.apply(inner, h)
            return last(h).sin().sum(), last(x).sum()

        compiled = tenax.jit(forward) if device == "jax" else forward
        x = torch.ones(2, 3, device=device)
        compiled(x)[1].backward()
        if again:
            compiled(x)[0].backward()
        return [p.grad for layer in (first, inner, last) for p in layer.parameters()]

    for again in (False, True):
        for ours, theirs in zip(gradients("jax", again), gradients("cpu", again), strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                close(ours, theirs)


class _Watched(nn.Module):
    """A model whose hooks keep gradients of what is within, as Grad-CAM does."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2)
        self.norms: list[torch.Tensor] = []
        self.given: dict[str, torch.Tensor] = {}
        self.calls = 0
        self.last.register_full_backward_hook(lambda _, __, given: self.given.update(last=given[0]))
        self.last.register_full_backward_hook(lambda _, found, __: self.norms.append(found[0].norm()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.kept: list[torch.Tensor] = []
        inner = self.first(x).tanh()
        inner.register_hook(self.keep)
        return self.last(inner)  # type: ignore[no-any-return]

    def keep(self, gradient: torch.Tensor) -> None:
        self.calls += 1
        self.kept.append(gradient)


def test_what_hooks_within_keep_is_kept_by_each_backward_outside() -> None:
    model, twin = _Watched().to("jax"), _Watched().to("jax")
    twin.load_state_dict(model.state_dict())
    compiled = tenax.jit(model)
    for i in range(4):
        x = torch.full((2, 3), i + 1.0, device="jax")
        for each in (twin, compiled):
            each(x).square().sum().backward()
        for name in ("kept", "norms", "calls"):
            close(getattr(model, name), getattr(twin, name))
        close(model.given, twin.given)


def test_a_number_that_a_hook_counts_must_be_as_it_was() -> None:
    model = _Watched().to("jax")
    compiled, x = tenax.jit(model), torch.ones(1, 3, device="jax")
    first, second = compiled(x), compiled(x)
    first.sum().backward()
    with pytest.raises(TraceError, match=r"the backward pass .*calls, which is no longer what it was"):
        second.sum().backward()


def test_a_function_that_torch_func_differentiates_stores_tensors() -> None:
    def program(jit: Any) -> list[Any]:
        losses: list[Any] = []

        def loss(x: torch.Tensor) -> torch.Tensor:
            value = (x**3).sum()
            losses.extend((value, value.detach() * 2))
            return value

        hessian = jit(torch.func.grad(lambda x: torch.func.grad(loss)(x).sum()))
        x = torch.arange(3.0, device="jax")
        gradients = [hessian(x * i).tolist() for i in range(1, 4)]
        return [gradients, [value.tolist() for value in losses]]

    assert program(tenax.jit) == program(lambda f: f)


def test_transforms_of_torch_func_take_compiled_functions() -> None:
    cube, x = tenax.jit(lambda x: (x**3).sum()), torch.arange(3.0, device="jax")
    assert torch.func.grad(cube)(x).tolist() == [0, 3, 12]
    assert torch.func.vmap(torch.func.grad(cube))(torch.stack([x, 2 * x])).tolist() == [[0, 3, 12], [0, 12, 48]]
    assert cube(x).item() == 9


class Checkpointed(nn.Module):
    """Whose statistics are updated by forward, and again by backward."""

    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.linear, self.norm, self.reentrant = nn.Linear(4, 4), nn.BatchNorm1d(4), reentrant

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(lambda x: self.norm(self.linear(x)).relu(), x, use_reentrant=self.reentrant)


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_backward_writes_is_written_by_each_backward_outside(reentrant: bool) -> None:
    theirs = Checkpointed(reentrant)
    ours = copy.deepcopy(theirs).to("jax")
    compiled = tenax.jit(ours)
    for count in (2, 4, 6):
        x = torch.randn(5, 4)
        loss = compiled(x.to("jax").requires_grad_()).square().sum()
        version = ours.norm.running_mean._version
        loss.backward()
        assert ours.norm.running_mean._version > version
        theirs(x.requires_grad_()).square().sum().backward()
        assert ours.norm.num_batches_tracked.item() == count
        for mine, wanted in zip(ours.buffers(), theirs.buffers(), strict=True):
            close(mine, wanted)
    y = torch.randn(5, 4, device="jax", requires_grad=True)
    first, second = compiled(y).sum(), compiled(y).sum()
    second.backward()
    with pytest.raises(TraceError, match="was written since the function was called"):
        first.backward()


def test_a_result_of_one_compiled_function_is_read_by_another() -> None:
    weight = torch.ones(3, device="jax", requires_grad=True)
    hidden = tenax.jit(lambda weight: (weight * 2).exp())(weight)
    compiled = tenax.jit(lambda x: (x * hidden).sum())
    for scale in (1.0, 2.0):
        weight.grad = None
        compiled(torch.full((3,), scale, device="jax")).backward(retain_graph=True)
        close(weight.grad, torch.full((3,), 2 * scale * torch.e**2))


def test_a_backward_pass_frees_what_forward_saved() -> None:
    model = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1)).to("jax")
    loss_of = tenax.jit(lambda x: model(x).square().mean())
    x = torch.ones(1000, 4, device="jax")
    loss_of(x).backward()
    gc.collect()
    before = sum(array.nbytes for array in jax.live_arrays())
    losses = [loss_of(x) for _ in range(3)]
    for loss in losses:
        loss.backward()
    gc.collect()
    assert sum(array.nbytes for array in jax.live_arrays()) - before < x.nbytes
    with pytest.raises(RuntimeError, match="a second time"):
        losses[0].backward()


def test_a_retained_graph_is_differentiated_again() -> None:
    x = torch.ones(3, device="jax", requires_grad=True)
    result = tenax.jit(lambda x: (x.sin() * x).sum())(x)
    result.backward(retain_graph=True)
    first = x.grad.clone()
    result.backward()
    assert torch.equal(x.grad, 2 * first)
    with pytest.raises(RuntimeError, match="a second time"):
        result.backward()


def test_independent_results_have_backward_passes_of_their_own() -> None:
    left, right = (torch.ones(3, device="jax", requires_grad=True) for _ in range(2))
    one, other = tenax.jit(lambda: ((left.sin() * left).sum(), (right.cos() * right).sum()))()
    one.backward()
    other.backward()
    assert left.grad is not None and right.grad is not None


@pytest.mark.parametrize("inside", [False, True])
def test_parameters_that_change_places_in_each_call_keep_their_gradients(inside: bool) -> None:
    found = []
    for device, compile_ in (("cpu", lambda function: function), ("jax", tenax.jit)):
        model = nn.ModuleDict({name: nn.Linear(2, 1, bias=False) for name in "ab"})
        for n, parameter in enumerate(model.parameters()):
            parameter.data.fill_(n + 1.0)
        a, b = (model.to(device)[name] for name in "ab")

        def step(x: torch.Tensor, a: Any = a, b: Any = b) -> torch.Tensor:
            a.weight, b.weight = b.weight, a.weight
            loss = a(x).sum()
            if inside:
                loss.backward()
            return loss

        compiled, x = compile_(step), torch.ones(1, 2, device=device)
        for scale in (1.0, 2.0, 3.0, 4.0, 5.0):
            result = compiled(x * scale)
            if not inside:
                result.backward()
            found.append([None if p.grad is None else p.grad.clone().cpu() for p in (a.weight, b.weight)])
    for theirs, ours in zip(found[:5], found[5:], strict=True):
        for expected, gradient in zip(theirs, ours, strict=True):
            assert (expected is None) == (gradient is None)
            if expected is not None:
                close(gradient, expected)


def test_a_graph_that_an_in_place_write_spoilt_raises_in_backward_and_not_before() -> None:
    def spoilt(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        result = y * y
        y.mul_(2)
        return result

    compiled, x = tenax.jit(spoilt), torch.full((2,), 3.0, device="jax", requires_grad=True)
    for _ in range(2):
        result = compiled(x)
        close(result, torch.full((2,), 9.0))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.sum().backward()
    with torch.no_grad():
        close(compiled(x), torch.full((2,), 9.0))


@pytest.mark.parametrize(
    ("write", "counts"),
    [
        (lambda x: x.copy_(x), True),
        (lambda x: x.set_(x.untyped_storage(), 0, (1,), (1,)), True),
        (lambda x: setattr(x.add_(1), "data", x.clone()), True),
        (lambda x: setattr(x, "data", x.clone()), False),
    ],
    ids=["itself", "geometry", "written and replaced", "replaced"],
)
def test_versions_count_writes_whose_result_is_not_kept(write: Any, counts: bool) -> None:
    x = torch.ones(2, device="jax")

    @tenax.jit
    def step(x: torch.Tensor) -> None:
        write(x)

    for _ in range(3):
        before = x._version
        step(x)
        assert (x._version != before) == counts


def test_a_leaf_that_a_function_freezes_after_use_gets_no_gradient() -> None:
    a, b = (torch.full((2,), n, device="jax", requires_grad=True) for n in (2.0, 3.0))

    @tenax.jit
    def step() -> torch.Tensor:
        result = (a * b).sum()
        a.requires_grad_(False)
        return result

    step().backward()
    assert a.grad is None
    close(b.grad, torch.full((2,), 2.0))


@pytest.mark.parametrize("made", [False, True], ids=["found", "made"])
def test_what_is_frozen_or_thawed_after_use_changes_no_earlier_result(made: bool) -> None:
    """A frozen leaf drops its gradient when backward runs, if it is still frozen then."""

    def run(device: str, compiled: Any) -> list[Any]:
        found = torch.full((2,), 3.0, device=device, requires_grad=True)

        def step(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            leaf = torch.full((2,), 3.0, device=device, requires_grad=True) if made else found
            before = leaf * x
            leaf.requires_grad_(False)
            frozen = leaf * x
            x.requires_grad_()
            return before, frozen, leaf * x, leaf

        step, seen = compiled(step), []
        for thawed in (False, True, True):
            found.requires_grad_()
            x = torch.ones(2, device=device)
            *results, leaf = step(x)
            seen += [(r.requires_grad, r.is_leaf) for r in (*results, leaf, x)]
            leaf.requires_grad_(thawed)
            sum(r.sum() for r in results).backward()
            seen += [None if t.grad is None else t.grad.tolist() for t in (leaf, x)]
        return seen

    assert run("jax", tenax.jit) == run("cpu", lambda f: f)


class Unfilled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> torch.Tensor | None:
        if grads[1] is None:
            return None
        return grads[1] * 3 if grads[0] is None else grads[0] * 2 + grads[1] * 3


def test_a_gradient_that_is_none_in_eager_mode_is_not_zeros() -> None:
    x = torch.ones(2, device="jax", requires_grad=True)

    def gradient(function: Callable[..., Any], *used: int) -> torch.Tensor:
        results = tenax.jit(function)(x)
        return torch.autograd.grad(sum(results[i].sum() for i in used), x)[0]

    close(gradient(Unfilled.apply, 0, 1), torch.full((2,), 5.0))
    close(gradient(lambda x: (Unfilled.apply(x)[1], x * 4), 0), torch.full((2,), 3.0))
    close(gradient(lambda x: (sum(Unfilled.apply(x)), x * 4), 1), torch.full((2,), 4.0))
    with pytest.raises(RuntimeError, match=r"Unfilled\.backward.*must get None .*call backward\(\) within"):
        gradient(Unfilled.apply, 1)

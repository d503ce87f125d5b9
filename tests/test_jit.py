"""`tenax.jit` against the same program on CPU torch, run eagerly."""

from __future__ import annotations

import copy
import gc
import itertools
import warnings

import jax
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

import tenax
from tenax.errors import TraceError


def mlp(*sizes: int, act: type[nn.Module] = nn.Tanh) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


def data(n: int = 16, features: int = 6, classes: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(n, features, generator=generator), torch.randint(0, classes, (n,), generator=generator)


def both(model: nn.Module) -> tuple[nn.Module, nn.Module]:
    return model, copy.deepcopy(model).to("jax")


def assert_same_state(ours: nn.Module, reference: nn.Module, tolerance: float = 2e-6) -> None:
    for (name, a), b in zip(ours.state_dict().items(), reference.state_dict().values(), strict=True):
        torch.testing.assert_close(a.cpu(), b, atol=tolerance, rtol=1e-5, msg=lambda m, n=name: f"{n}: {m}")


OPTIMIZERS = {
    "SGD": {"lr": 0.1},
    "SGD momentum": {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
    "SGD nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True, "foreach": False},
    "Adam": {"lr": 0.01, "amsgrad": True},
    "AdamW": {"lr": 0.01, "weight_decay": 0.1},
    "AdamW fused": {"lr": 0.01, "fused": True},
    "AdamW single": {"lr": 0.01, "foreach": False},
    "Adamax": {"lr": 0.01},
    "NAdam": {"lr": 0.01},
    "RAdam": {"lr": 0.01},
    "RMSprop": {"lr": 0.01, "momentum": 0.9, "centered": True},
    "Rprop": {"lr": 0.01},
    "Adagrad": {"lr": 0.01, "lr_decay": 0.1},
    "Adadelta": {"lr": 0.5},
    "ASGD": {"lr": 0.01},
    "Adafactor": {"lr": 0.01},
}


def trainer(model: nn.Module, kind: str, options: dict[str, object], decay: bool = True, zero_last: bool = False):
    """A training step as people write it, and its optimizer."""
    optimizer = getattr(torch.optim, kind.split()[0])(model.parameters(), **options)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9) if decay else None

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if not zero_last:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if schedule is not None:
            schedule.step()
        if zero_last:
            optimizer.zero_grad()
        return loss

    return step, optimizer


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_an_unmodified_training_step_trains_as_on_the_cpu(kind: str) -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, _ = trainer(reference, kind, OPTIMIZERS[kind])
    step, optimizer = trainer(ours, kind, OPTIMIZERS[kind])
    step = tenax.jit(step)
    for _ in range(5):
        want = expected(x, y)
        got = step(x.to("jax"), y.to("jax"))
        torch.testing.assert_close(got.cpu(), want, atol=1e-5, rtol=1e-5)
    assert_same_state(ours, reference, 1e-5)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(OPTIMIZERS[kind]["lr"] * 0.9**5)


def test_the_first_step_and_later_ones_share_one_program() -> None:
    x, y = data()
    model = mlp(6, 8, 4).to("jax")
    step, _ = trainer(model, "AdamW", {"lr": 0.01})
    step = tenax.jit(step)
    for _ in range(4):
        step(x.to("jax"), y.to("jax"))
    assert sum(not c.shared for c in step.history) == 1
    assert len(step.history) == 2  # without gradients, and with those of the last call


def test_a_changed_learning_rate_does_not_compile_again() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, theirs = trainer(reference, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step, optimizer = trainer(ours, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step = tenax.jit(step)
    for rate in (0.1, 0.03, 0.5):
        for one in (theirs, optimizer):
            one.param_groups[0]["lr"] = rate
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert len(step.history) == 1
    assert_same_state(ours, reference)


def test_a_changed_weight_decay_compiles_again_and_says_so() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, theirs = trainer(reference, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step, optimizer = trainer(ours, "SGD", {"lr": 0.1}, decay=False, zero_last=True)
    step = tenax.jit(step)
    for decay in (0, 0.1):
        for one in (theirs, optimizer):
            one.param_groups[0]["weight_decay"] = decay
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert "weight_decay" in step.history[-1].reason and "0.1" in step.history[-1].reason
    assert_same_state(ours, reference)


def test_gradients_accumulate_over_calls() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))

    def forward_backward(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss.detach()

    step = tenax.jit(forward_backward)
    for i in range(3):
        forward_backward(reference, x[i:], y[i:])
        step(ours, x[i:].to("jax"), y[i:].to("jax"))
    for a, b in zip(ours.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(a.grad.cpu(), b.grad)
    for model in (reference, ours):
        model.zero_grad()
    forward_backward(reference, x, y)
    step(ours, x.to("jax"), y.to("jax"))
    for a, b in zip(ours.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(a.grad.cpu(), b.grad)


def test_eval_between_calls_is_noticed_and_buffers_move() -> None:
    x, _ = data()
    reference, ours = both(nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.0)))
    forward = tenax.jit(ours)
    assert isinstance(forward, nn.Sequential)
    for training in (True, True, False, True, False):
        reference.train(training)
        forward.train(training)
        assert ours.training == training
        torch.testing.assert_close(forward(x.to("jax")).detach().cpu(), reference(x).detach(), atol=1e-5, rtol=1e-5)
    assert_same_state(ours, reference)
    assert list(forward.state_dict()) == list(reference.state_dict())


def test_a_compiled_module_is_differentiable_outside() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    forward = tenax.jit(ours)
    theirs = torch.optim.SGD(reference.parameters(), lr=0.1)
    optimizer = torch.optim.SGD(forward.parameters(), lr=0.1)
    for _ in range(3):
        for one, model, device in ((theirs, reference, "cpu"), (optimizer, forward, "jax")):
            one.zero_grad()
            start = x.clone().to(device).requires_grad_()
            loss = F.cross_entropy(model(start * 2), y.to(device))
            loss.backward()
            one.step()
            if device == "cpu":
                want = start.grad
        torch.testing.assert_close(start.grad.cpu(), want)
    assert_same_state(ours, reference)
    assert len(tenax.jitted.compiled_of(forward).history) == 1


def test_backward_twice_or_after_a_write_raises_as_in_torch() -> None:
    weight = torch.ones(3, device="jax", requires_grad=True)
    square = tenax.jit(lambda x: (x * weight).square().sum())
    x = torch.ones(3, device="jax")
    loss = square(x)
    with torch.no_grad():
        weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = (x * weight).square().sum()
        loss.backward()
        return loss

    used = tenax.jit(step)(x)
    assert used.requires_grad
    with pytest.raises(RuntimeError, match="second time"):
        used.backward()


def test_results_keep_strides_structure_and_aliases() -> None:
    def function(x: torch.Tensor) -> dict[str, object]:
        y = x + 1
        return {"t": y.t(), "y": y, "row": (y[0], 3, None), "x": x, "view": x[1:]}

    x = torch.arange(6.0).reshape(2, 3).to("jax")
    compiled = tenax.jit(function)
    for _ in range(2):
        got = compiled(x)
        assert got["t"].stride() == (1, 3) and got["row"][1:] == (3, None) and got["x"] is x
        got["y"][0, 0] = 9
        assert got["t"][0, 0] == 9 and got["row"][0][0] == 9
        got["view"][0, 0] = 7
        assert x[1, 0] == 7


def test_writes_to_arguments_and_variables_reach_them() -> None:
    counter = torch.zeros(3, device="jax")

    @tenax.jit
    def function(x: torch.Tensor, view: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        view[0] = 5
        counter.add_(x.sum())
        return counter * 2

    x, base = torch.zeros(3, device="jax"), torch.zeros(4, 2, device="jax")
    version = x._version
    for i in (1, 2):
        result = function(x, base.t()[1])
        assert x.tolist() == [i] * 3 and base[0, 1] == 5 and base[0, 0] == 0
    assert counter.tolist() == [9.0] * 3 and result.tolist() == [18.0] * 3
    assert x._version > version


def test_arguments_that_share_memory_are_told_apart_from_others() -> None:
    @tenax.jit
    def function(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.add_(1)
        return b * 1

    base = torch.zeros(4, device="jax")
    assert function(base[:2], base[2:]).tolist() == [0, 0]
    assert function(base[:2], base[:2]).tolist() == [2, 2]
    assert function(base[:2], base[1:3]).tolist() == [3, 0]
    assert function(torch.zeros(2, device="jax"), torch.zeros(2, device="jax")).tolist() == [0, 0]


def test_two_cells_with_one_array_stay_apart() -> None:
    a = torch.zeros(70000, device="jax")
    b = a.clone()
    a.add_(0)
    c = a.clone()  # shares the array with `a`

    @tenax.jit
    def function() -> None:
        a.add_(1)
        c.add_(2)

    for i in (1, 2):
        function()
        assert a[0] == i and c[0] == 2 * i and b[0] == 0


def test_an_array_that_somebody_holds_is_not_donated() -> None:
    a = torch.zeros(70000, device="jax")
    step = tenax.jit(lambda: a.add_(1))
    step()
    array = a.jax()
    step()
    assert array[0] == 1 and a[0] == 2


def test_random_numbers_are_those_of_eager_calls() -> None:
    model = nn.Sequential(nn.Linear(6, 32), nn.Dropout(0.5), nn.Linear(32, 32), nn.Dropout(0.5)).to("jax")
    x = data()[0].to("jax")
    forward = tenax.jit(lambda x: model(x) + torch.rand(16, 32, device="jax"))
    torch.manual_seed(3)
    want = [model(x) + torch.rand(16, 32, device="jax") for _ in range(3)]
    torch.manual_seed(3)
    got = [forward(x) for _ in range(3)]
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-6)
    assert not torch.equal(got[0], got[1])
    assert torch.equal(torch.jax.get_rng_state(), torch.jax.get_rng_state())


def test_a_generator_is_drawn_from_at_every_call() -> None:
    generator = torch.Generator(device="jax").manual_seed(1)
    draw = tenax.jit(lambda: torch.rand(4, device="jax", generator=generator))
    got = [draw() for _ in range(2)]
    generator.manual_seed(1)
    want = [torch.rand(4, device="jax", generator=generator) for _ in range(2)]
    assert torch.equal(got[0], want[0]) and torch.equal(got[1], want[1])


def test_checkpointed_layers_drop_the_same_values_again() -> None:
    layer = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5)).to("jax")

    def loss(x: torch.Tensor) -> torch.Tensor:
        return torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False).square().sum()

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        x.grad = None
        loss(x).backward()
        return x.grad

    x = data()[0].to("jax").requires_grad_()
    torch.manual_seed(0)
    want = torch.autograd.grad(loss(x), x)[0]
    torch.manual_seed(0)
    torch.testing.assert_close(step(x), want, atol=1e-5, rtol=1e-5)


def test_scaler_skips_a_step_with_infinities() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))

    def make(model: nn.Module, device: str):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=2)

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            return loss

        return step, scaler

    expected, theirs = make(reference, "cpu")
    step, scaler = make(ours, "jax")
    step = tenax.jit(step)
    for bad in (False, False, True, False):
        batch = torch.full_like(x, torch.inf) if bad else x
        expected(batch, y)
        step(batch.to("jax"), y.to("jax"))
        assert scaler.get_scale() == theirs.get_scale()
    assert_same_state(ours, reference, 1e-5)


def test_moving_average_of_weights() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))

    def make(model: nn.Module):
        average = copy.deepcopy(model)
        step, _ = trainer(model, "SGD", {"lr": 0.1}, decay=False)

        def both_steps(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            loss = step(x, y)
            with torch.no_grad():
                for p, q in zip(average.parameters(), model.parameters(), strict=True):
                    p.lerp_(q, 0.1)
            return loss

        return both_steps, average

    expected, want = make(reference)
    step, got = make(ours)
    step = tenax.jit(step)
    for _ in range(4):
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert_same_state(got, want)


def test_new_data_of_a_parameter_is_seen() -> None:
    model = nn.Linear(2, 2, bias=False).to("jax")
    forward = tenax.jit(model)
    x = torch.eye(2, device="jax")
    forward(x)
    model.weight.data = torch.full((2, 2), 3.0, device="jax")
    assert forward(x).tolist() == [[3, 3], [3, 3]]
    model.weight = nn.Parameter(torch.full((2, 2), 4.0, device="jax"))
    assert forward(x).tolist() == [[4, 4], [4, 4]]
    model.weight.requires_grad_(False)
    assert not forward(x).requires_grad


def test_a_rebound_variable_is_seen() -> None:
    scale = torch.ones(2, device="jax")
    factor = 2.0
    forward = tenax.jit(lambda x: x * scale * factor)
    x = torch.ones(2, device="jax")
    assert forward(x).tolist() == [2, 2]
    scale = torch.full((2,), 3.0, device="jax")
    assert forward(x).tolist() == [6, 6]
    factor = 5.0
    assert forward(x).tolist() == [15, 15]
    compiled = tenax.jitted.compiled_of(forward)
    assert "factor" in compiled.history[-1].reason


def test_state_set_anew_is_carried_over() -> None:
    class Memory(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("h", torch.zeros(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.h = self.h * 0.5 + x
            return self.h.sum()

    reference, ours = both(Memory())
    forward = tenax.jit(ours)
    for i in range(4):
        x = torch.full((3,), float(i))
        assert forward(x.to("jax")).item() == reference(x).item()
    assert_same_state(ours, reference)
    assert len(tenax.jitted.compiled_of(forward).history) == 1


def test_a_list_that_grows_gets_each_result() -> None:
    losses: list[torch.Tensor] = []

    @tenax.jit
    def step(x: torch.Tensor) -> None:
        losses.append(x.sum())

    for i in range(3):
        step(torch.full((2,), float(i), device="jax"))
    assert [x.item() for x in losses] == [0, 2, 4]


def test_a_host_number_that_changes_within_is_traced_again() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0
            self.first = True

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            if self.first:
                self.first = False
                return x * 100
            return x * self.calls

    model = tenax.jit(Counting().to("jax"))
    x = torch.ones(2, device="jax")
    assert [model(x)[0].item() for _ in range(4)] == [100, 2, 3, 4]
    assert model.calls == 4
    assert "calls was" in tenax.jitted.compiled_of(model).history[-1].reason


def test_a_number_read_from_a_tensor_cannot_be_given_or_kept() -> None:
    kept: list[float] = []
    x = torch.ones(2, device="jax")
    with pytest.raises(TraceError, match="give the tensor"):
        tenax.jit(lambda x: x.sum().item())(x)
    with pytest.raises(TraceError, match="give the tensor"):
        tenax.jit(lambda x: kept.append(x.sum().item()))(x)
    assert not kept


def test_a_branch_on_data_raises_and_names_the_line() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(TraceError, match=r"test_jit\.py:\d+, in function"):
        tenax.jit(function)(torch.ones(2, device="jax"))
    with pytest.raises(TraceError, match="a float: the value of a tensor is not known"):
        tenax.jit(lambda x: float(x.sum()))(torch.ones(2, device="jax"))
    with pytest.raises(TraceError, match="copy to the CPU"):
        tenax.jit(lambda x: x.cpu())(torch.ones(2, device="jax"))


def test_an_item_may_take_part_in_arithmetic() -> None:
    compiled = tenax.jit(lambda x: x / (1 + x.max().item() * 2))
    for n in (1.0, 3.0):
        assert compiled(torch.full((2,), n, device="jax")).tolist() == pytest.approx([n / (1 + 2 * n)] * 2)
    assert len(compiled.history) == 1


def test_an_exception_within_leaves_everything_as_it_was() -> None:
    x, y = data()
    model = mlp(6, 8, 4).to("jax")
    before = {k: v.clone() for k, v in model.state_dict().items()}
    step, optimizer = trainer(model, "AdamW", {"lr": 0.01})

    def failing(x: torch.Tensor, y: torch.Tensor) -> None:
        step(x, y)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tenax.jit(failing)(x.to("jax"), y.to("jax"))
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    assert not optimizer.state and optimizer.param_groups[0]["lr"] == 0.01
    assert optimizer.param_groups[0]["capturable"] is False


def test_what_escapes_a_trace_raises_when_used() -> None:
    class Box:
        __slots__ = ("kept",)

    box = Box()

    @tenax.jit
    def function(x: torch.Tensor) -> torch.Tensor:
        box.kept = x * 2
        return x + 1

    function(torch.ones(2, device="jax"))
    with pytest.raises(TraceError, match="Return it from"):
        box.kept.tolist()


def test_a_compiled_function_within_another_is_part_of_it() -> None:
    inner = tenax.jit(lambda x: x.square())
    outer = tenax.jit(lambda x: inner(x) + 1)
    assert outer(torch.full((2,), 3.0, device="jax")).tolist() == [10, 10]
    assert not inner.history


def test_eager_steps_before_and_after_go_on_with_the_same_state() -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))
    expected, _ = trainer(reference, "AdamW", {"lr": 0.01}, decay=False)
    eager, _ = trainer(ours, "AdamW", {"lr": 0.01}, decay=False)
    compiled = tenax.jit(eager)
    for step in (eager, compiled, compiled, eager, compiled):
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert_same_state(ours, reference, 1e-5)


def test_autocast_and_grad_mode_are_part_of_the_key() -> None:
    model = nn.Linear(4, 4).to("jax")
    forward = tenax.jit(model)
    x = torch.ones(2, 4, device="jax")
    assert forward(x).dtype == torch.float32
    with torch.autocast("jax", torch.bfloat16):
        assert forward(x).dtype == torch.bfloat16
    with torch.no_grad():
        assert not forward(x).requires_grad
    assert forward(x).requires_grad


def test_a_method_and_keyword_arguments() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        @tenax.jit
        def scaled(self, x: torch.Tensor, *, by: float = 1.0, pair: tuple[torch.Tensor, str] | None = None):
            return x * self.w * by if pair is None else pair[0] * self.w

    one, two = Net().to("jax"), Net().to("jax")
    with torch.no_grad():
        two.w.fill_(5)
    x = torch.ones(2, device="jax")
    assert one.scaled(x, by=3.0).tolist() == [3, 3] and two.scaled(x, by=3.0).tolist() == [15, 15]
    assert two.scaled(x, pair=(x * 2, "a")).tolist() == [10, 10] and one.scaled(x).tolist() == [1, 1]


def test_many_programs_warn_with_the_reason() -> None:
    compiled = tenax.jit(lambda x, n: x * n)
    x = torch.ones(2, device="jax")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(9):
            assert compiled(x, n).tolist() == [n, n]
    assert any("traced 8 times" in str(w.message) for w in caught)


def test_host_arguments_are_uploaded_by_every_call() -> None:
    table = torch.arange(3.0)

    @tenax.jit
    def function(x: torch.Tensor) -> torch.Tensor:
        return x[1:].to("jax", torch.float64) * table.to("jax")[1:]

    for n in (1.0, 2.0):
        assert function(torch.full((3,), n)).tolist() == [n, 2 * n]
    table[2] = 5
    assert function(torch.ones(3)).tolist() == [1, 5]


def test_what_the_host_computes_of_an_argument_or_writes_raises() -> None:
    with pytest.raises(TraceError, match="computed on the CPU from an argument"):
        tenax.jit(lambda x: (x + 1).to("jax"))(torch.ones(2))
    with pytest.raises(TraceError, match="value of an argument on the CPU is read"):
        tenax.jit(lambda x: torch.ones(2, device="jax") * x.sum().item())(torch.ones(2))
    with pytest.raises(TraceError, match="an argument on the CPU is written"):
        tenax.jit(lambda x: x.add_(1))(torch.ones(2))
    count = torch.zeros(())

    def counting(x: torch.Tensor) -> torch.Tensor:
        count.add_(1)
        return x

    with pytest.raises(TraceError, match="a tensor on the CPU of shape"):
        tenax.jit(counting)(torch.ones(2, device="jax"))


def test_no_array_of_the_trace_is_kept() -> None:
    def count() -> int:
        gc.collect()
        return sum(a.shape == (170, 230) for a in jax.live_arrays())

    model = nn.Linear(230, 170, bias=False).to("jax")
    step, _ = trainer(model, "AdamW", {"lr": 0.01}, zero_last=True)
    step = tenax.jit(step)
    x, y = torch.ones(4, 230, device="jax"), torch.zeros(4, dtype=torch.int64, device="jax")
    before = count()
    for _ in range(3):
        step(x, y)
    assert before == 1 and count() == 3  # the weight and two moments
    forward = tenax.jit(model)
    forward(x)
    forward(x).sum().backward()
    model.zero_grad()
    step(x, y)
    assert count() == 3


def test_a_donated_step_needs_no_second_copy_of_its_state() -> None:
    model = nn.Linear(256, 256).to("jax")
    step, _ = trainer(model, "SGD", {"lr": 0.1, "momentum": 0.9}, decay=False, zero_last=True)
    step = tenax.jit(step)
    x, y = torch.ones(4, 256, device="jax"), torch.zeros(4, dtype=torch.int64, device="jax")
    for _ in range(2):
        step(x, y)
    memory = step.programs[next(iter(step.programs))][0].forward.compiled.memory_analysis()
    state = 2 * sum(p.nbytes for p in model.parameters())
    assert memory.alias_size_in_bytes >= state


def test_an_index_out_of_range_raises_when_the_call_is_done() -> None:
    table = nn.Embedding(4, 2).to("jax")
    look = tenax.jit(table)
    look(torch.tensor([3], device="jax"))
    torch.jax.synchronize()
    look(torch.tensor([4], device="jax"))
    with pytest.raises(IndexError, match=r"out of range.*earlier call of a compiled function"):
        torch.jax.synchronize()
    torch.jax.synchronize()


def test_explain_says_why_and_what() -> None:
    forward = tenax.jit(nn.Linear(4, 4).to("jax"))
    for n in (2, 3):
        forward(torch.ones(n, 4, device="jax"))
    explanation = tenax.explain(forward)
    assert [t.reason for t in explanation.traces] == [
        "its first call",
        "arguments of another structure, shape, dtype or value",
    ]
    assert len(explanation.programs) == 2 and explanation.programs[0].inputs == 3
    assert explanation.programs[0].flops and explanation.programs[0].argument_bytes > 0
    assert "traced 2 times" in str(explanation)
    with pytest.raises(TypeError, match=r"expected what tenax\.jit gave"):
        tenax.explain(len)


def test_a_value_is_put_where_a_mask_holds() -> None:
    def function(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x[mask] = 5
        y = x.clone()
        y[x[:, 0] > 4] = torch.tensor(-1.0, device=x.device)
        return y

    x, mask = torch.arange(6.0).reshape(3, 2), torch.tensor([[True, False], [False, True], [False, False]])
    ours = x.to("jax")
    got = tenax.jit(function)(ours, mask.to("jax"))
    assert torch.equal(got.cpu(), function(x, mask)) and torch.equal(ours.cpu(), x)


def test_a_result_whose_shape_depends_on_data_raises_and_says_what_to_do() -> None:
    with pytest.raises(Exception, match="shape depends on data"):
        tenax.jit(lambda x: x[x > 0])(torch.ones(3, device="jax"))


def test_operations_carry_the_names_of_their_modules() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.encoder(x).relu()

    forward = tenax.jit(Net().to("jax"))
    forward(torch.ones(2, 4, device="jax"))
    text = next(iter(tenax.jitted.compiled_of(forward).programs.values()))[0].forward.compiled.as_text()
    assert "Net/encoder" in text or "function/encoder" in text or "/encoder/" in text


def test_padded_sizes_fall_into_few_buckets() -> None:
    assert [tenax.bucket(n) for n in (1, 2, 3, 4, 5, 6, 7, 9, 13, 100)] == [1, 2, 3, 4, 6, 6, 8, 12, 16, 128]
    assert tenax.bucket(5, [8, 16]) == 8
    with pytest.raises(ValueError, match="greater than each"):
        tenax.bucket(17, [8, 16])
    x = torch.arange(10.0).reshape(2, 5).to("jax")
    padded, own = tenax.pad(x, 1, value=-1)
    assert padded.tolist() == [[0, 1, 2, 3, 4, -1], [5, 6, 7, 8, 9, -1]] and own.tolist() == [True] * 5 + [False]
    compiled = tenax.jit(lambda x, own: (x * own).sum())
    for n in range(1, 13):
        assert compiled(*tenax.pad(torch.ones(n, device="jax"))).item() == n
    assert len(compiled.history) == 7


def test_a_profile_is_written(tmp_path) -> None:
    with tenax.profiler.trace(tmp_path), tenax.profiler.step(0), tenax.profiler.annotate("mine"):
        torch.ones(3, device="jax") + 1
    assert list(tmp_path.rglob("*.xplane.pb"))


@pytest.mark.parametrize(("kind", "options"), [("SGD", {"momentum": 0.9}), ("AdamW", {}), ("Adam", {"foreach": False})])
def test_a_cycle_of_rates_and_momenta_is_one_program(kind: str, options: dict[str, object]) -> None:
    x, y = data()
    reference, ours = both(mlp(6, 8, 4))

    def make(model: nn.Module):
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=0.01, **options)
        cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=8)

        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            cycle.step()
            optimizer.zero_grad()
            return loss

        return step, optimizer

    expected, theirs = make(reference)
    step, optimizer = make(ours)
    step = tenax.jit(step)
    for _ in range(6):
        expected(x, y)
        step(x.to("jax"), y.to("jax"))
    assert_same_state(ours, reference, 1e-5)
    assert len(step.history) <= 2  # a momentum buffer comes to be in the first step
    for key in ("lr", "momentum", "betas"):
        assert optimizer.param_groups[0].get(key) == theirs.param_groups[0].get(key)


def test_the_second_device_compiles_too() -> None:
    x, y = data()
    reference = mlp(6, 8, 4)
    ours = copy.deepcopy(reference).to("jax:1")
    expected, _ = trainer(reference, "AdamW", {"lr": 0.01})
    step = tenax.jit(trainer(ours, "AdamW", {"lr": 0.01})[0])
    for _ in range(2):
        expected(x, y)
        loss = step(x.to("jax:1"), y.to("jax:1"))
    assert loss.device == ours[0].weight.device == torch.device("jax:1")
    assert_same_state(ours, reference, 1e-5)
    view = tenax.jit(lambda x: (x * 2).t())(x.to("jax:1"))
    assert view.device == torch.device("jax:1") and view.stride() == (1, 6)

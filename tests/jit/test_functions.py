"""`tenax.jit` of functions and modules against the same program on CPU torch, run eagerly."""

from __future__ import annotations

import collections
import gc

import jax
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

import tenax
from tenax.errors import TraceError
from tests.helpers.agreement import close
from tests.helpers.traced import jaxpr_of
from tests.helpers.training import assert_same_state, both, data, mlp


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
        close(a.grad, b.grad)
    for model in (reference, ours):
        model.zero_grad()
    forward_backward(reference, x, y)
    step(ours, x.to("jax"), y.to("jax"))
    for a, b in zip(ours.parameters(), reference.parameters(), strict=True):
        close(a.grad, b.grad)


def test_eval_between_calls_is_noticed_and_buffers_move() -> None:
    x, _ = data()
    reference, ours = both(nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.0)))
    forward = tenax.jit(ours)
    assert isinstance(forward, nn.Sequential)
    for training in (True, True, False, True, False):
        reference.train(training)
        forward.train(training)
        assert ours.training == training
        close(forward(x.to("jax")), reference(x))
    assert_same_state(ours, reference)
    assert list(forward.state_dict()) == list(reference.state_dict())


def test_backward_twice_or_after_a_write_raises_as_in_torch() -> None:
    weight = torch.ones(3, device="jax", requires_grad=True)
    square = tenax.jit(lambda x: (x * weight.square()).sum())
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
        close(a, b)
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
    close(step(x), want)


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
    torch.utils.swap_tensors(model.weight, nn.Parameter(torch.full((2, 2), 5.0, device="jax"), requires_grad=False))
    assert forward(x).tolist() == [[5, 5], [5, 5]]
    with torch.no_grad():
        model.weight.set_(torch.full((2, 2), 6.0, device="jax"))
    assert forward(x).tolist() == [[6, 6], [6, 6]]
    new = torch.full((2, 2), 7.0, device="jax")
    with torch.inference_mode():
        model.weight.data = new
    assert forward(x).tolist() == [[7, 7], [7, 7]]


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
    compiled = tenax._jit.jitted.compiled_of(forward)
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
    assert len(tenax._jit.jitted.compiled_of(forward).history) == 1


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
    assert "calls was" in tenax._jit.jitted.compiled_of(model).history[-1].reason


def test_a_branch_on_data_raises_and_names_the_line() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(TraceError, match=r"test_functions\.py:\d+, in function"):
        tenax.jit(function)(torch.ones(2, device="jax"))
    with pytest.raises(TraceError, match="a float: the value of a tensor is not known"):
        tenax.jit(lambda x: float(x.sum()))(torch.ones(2, device="jax"))
    with pytest.raises(TraceError, match="copy to the CPU"):
        tenax.jit(lambda x: x.cpu())(torch.ones(2, device="jax"))


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
    with pytest.raises(TraceError, match=r"computed on the CPU from an argument.*lengths\.tolist\(\)"):
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


def test_an_optimizer_that_coalesces_gradients_says_what_works_instead() -> None:
    def trained(kind: type[torch.optim.Optimizer]) -> list[float]:
        table = nn.Embedding(4, 2, sparse=True, _weight=torch.ones(4, 2)).to("jax")
        optimizer = kind(table.parameters(), lr=0.5)

        @tenax.jit
        def step(i: torch.Tensor) -> None:
            table(i).sum().backward()
            optimizer.step()

        step(torch.tensor([1, 2, 2], device="jax"))
        return table.weight[:, 0].tolist()

    assert trained(torch.optim.SGD) == [1, 0.5, 0, 1]
    with pytest.raises(
        TraceError, match=r"coalesce: .* depends on data \(.*test_functions.*sparse=False.* or with SGD"
    ):
        trained(torch.optim.SparseAdam)


def test_an_index_out_of_range_raises_when_the_call_is_done() -> None:
    table = nn.Embedding(4, 2).to("jax")
    look = tenax.jit(table)
    look(torch.tensor([3], device="jax"))
    torch.jax.synchronize()
    look(torch.tensor([4], device="jax"))
    with pytest.raises(IndexError, match=r"out of range.*earlier call of a compiled function"):
        torch.jax.synchronize()
    torch.jax.synchronize()


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
    with pytest.raises(
        TraceError,
        match=r"x\[mask\]: the result's shape depends on data .*test_functions.*"
        r"torch\.where\(mask, new, x\).*nonzero_static",
    ):
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
    names = [str(equation.source_info.name_stack).split("/") for equation in jaxpr_of(forward).eqns]
    assert any("encoder" in name for name in names)


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
    assert len(compiled.history) == len({tenax.bucket(n) for n in range(1, 13)})


def test_marks_of_dynamic_dimensions_compile_nothing_again() -> None:
    compiled = tenax.jit(lambda x: x.sum())
    for mark in (torch._dynamo.mark_dynamic, torch._dynamo.maybe_mark_dynamic, torch._dynamo.mark_static):
        for size in (4, 5, 4, 5):
            mark(x := torch.ones(size, device="jax"), 0)
            assert compiled(x).item() == size
    assert len(compiled.history) == 2


def test_a_profile_is_written(tmp_path) -> None:
    with tenax.profiler.trace(tmp_path), jax.profiler.StepTraceAnnotation("step", step_num=0):
        torch.ones(3, device="jax") + 1
    assert list(tmp_path.rglob("*.xplane.pb"))


def test_bincount_has_minlength_places() -> None:
    @tenax.jit
    def count(x: torch.Tensor) -> torch.Tensor:
        return torch.bincount(x, minlength=4)

    assert count(torch.tensor([3, 0, 3], device="jax")).tolist() == [1, 0, 0, 2]
    for wrong, message in ((4, "a value of 4 or more"), (-1, "non-negative")):
        count(torch.tensor([3, 0, wrong], device="jax"))
        with pytest.raises(RuntimeError, match=message):
            torch.jax.synchronize()


def test_a_compiled_step_that_is_made_anew_leaves_nothing_of_the_earlier_one() -> None:
    model, x = torch.nn.Linear(3, 3).to("jax"), torch.ones(2, 3, device="jax")

    def objects_left() -> int:
        loss = tenax.jit(lambda x: model(x).sum())(x)
        loss.backward()
        del loss
        gc.collect()
        types = collections.Counter(map(type, gc.get_objects()))
        return sum(n for t, n in types.items() if str(t.__module__).startswith("tenax"))

    counts = [objects_left() for _ in range(6)]
    assert counts[-1] == counts[2], counts

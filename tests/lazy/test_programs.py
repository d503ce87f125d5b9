"""Lazy mode computes what eager mode does, as few programs."""

from __future__ import annotations

import copy
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (torch's own idiom)
from torch import nn
from torch.utils.checkpoint import checkpoint

import tenax
from tenax._lazy import cuts
from tenax._lazy.donation import paired
from tenax._lazy.mode import own_tape
from tenax._lazy.places import ChangingSizes
from tenax._lazy.programs import History, TapeProgram
from tenax.compat.torch_xla.wrap import checkpoint as xla_checkpoint
from tenax.dispatch.dispatcher import Dispatcher
from tenax.storage.avals import aval_of
from tests.helpers.agreement import close
from tests.helpers.programs import PROGRAMS
from tests.helpers.tolerances import LOSSES


@pytest.fixture(autouse=True)
def history() -> Iterator[History]:
    """What this thread runs in lazy mode during a test."""
    tape = own_tape()
    tape.history, tape.cuts, tape.places = History(), cuts.Cuts(), ChangingSizes()
    yield tape.history
    tape.clear()


def perceptron() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).to("jax")


def trained(
    steps: int,
    optimizer: Callable[..., torch.optim.Optimizer],
    after: Callable[[], object] = lambda: None,
    schedule: Callable[[int], float] = lambda i: 1.0,
) -> tuple[list[torch.Tensor], nn.Module]:
    """The losses of a few steps, and the model; `after` is called after each step."""
    model = perceptron()
    stepper = optimizer(model.parameters())
    scheduler = torch.optim.lr_scheduler.LambdaLR(stepper, schedule)
    xs, ys, losses = torch.randn(steps, 4, 6), torch.randint(3, (steps, 4)), []
    for x, y in zip(xs, ys, strict=True):
        stepper.zero_grad()
        loss = F.cross_entropy(model(x.to("jax")), y.to("jax"))
        loss.backward()
        stepper.step()
        scheduler.step()
        losses.append(loss.detach())
        after()
    return losses, model


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, 1e-2),
    "fused": lambda p: torch.optim.AdamW(p, 1e-2, fused=True),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_loop_compiles_once_whatever_its_numbers(name: str, history: History) -> None:
    expected, _ = trained(6, OPTIMIZERS[name], schedule=lambda i: 1 / (i + 1))
    with tenax.lazy():
        losses, model = trained(6, OPTIMIZERS[name], tenax.sync, schedule=lambda i: 1 / (i + 1))
    close(losses, expected)
    assert len(history.programs) == 1
    steady = history.last
    states, counts = {"sgd": (2, 0), "adamw": (3, 0), "fused": (3, 1)}[name]  # per parameter, and of all parameters
    assert steady is not None
    assert len(steady.key[2]) == states * len(list(model.parameters())) + counts


def test_a_value_that_is_read_each_step_is_one_more_cut_and_donates_nothing(history: History) -> None:
    seen: list[float] = []
    with tenax.lazy():
        model = perceptron()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        x = torch.ones(2, 6, device="jax")
        for _ in range(4):
            loss = model(x).square().sum()
            seen.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert seen == sorted(seen, reverse=True)
    assert all(
        not program.key[2] for program, runs in history.programs.items() if "test_programs.py" in str(runs.causes)
    )
    assert len(history.programs) <= 3


@pytest.mark.parametrize("name", ["wgan_gp", "custom_function"])
def test_programs_train_as_on_the_cpu(name: str) -> None:
    torch.manual_seed(0)
    expected = PROGRAMS[name]("cpu", 4)
    torch.manual_seed(0)
    with tenax.lazy():
        losses = PROGRAMS[name]("jax", 4)
    close(torch.tensor(losses), torch.tensor(expected), LOSSES)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_rounds_after_each_operation_as_in_eager_mode(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a, b, c = (torch.randn(32, 32).to("jax", dtype) for _ in range(3))

    def run() -> list[torch.Tensor]:
        with torch.autocast("jax", dtype):
            y = ((a @ b + c) * 1.1) @ b
            z = F.linear(a, b, c[0]) if dtype is torch.bfloat16 else y  # which adds the bias before it rounds
        return [y, y.relu(), z * 1.1, y.float().sum(1), (y * 1e-6).float()]

    expected = [t.float() for t in run()]
    with tenax.lazy():
        found = run()
    close([t.float() for t in found], expected)


def test_random_numbers_are_those_of_eager_mode() -> None:
    def draws() -> list[torch.Tensor]:
        x = torch.ones(8, device="jax")
        return [F.dropout(x), torch.randn(3, device="jax"), x.clone().normal_(), torch.randperm(5, device="jax")]

    torch.manual_seed(3)
    expected = draws()
    torch.manual_seed(3)
    with tenax.lazy():
        found = draws()
    close(found, expected)


def test_views_and_versions_are_exact(history: History) -> None:
    def run(device: str) -> tuple[list[torch.Tensor], list[int]]:
        x = torch.arange(12.0, device=device).reshape(3, 4)
        row, t = x[1], x.t()
        row.mul_(10)
        t[0] += 1
        before = x.clone()
        x[:, 2:].zero_()
        y = torch.empty(3, 4, device=device)
        torch.add(x, before, out=y)
        return [x, row, t, before, y], [x._version, row._version, before._version, y._version]

    expected, counted = run("cpu")
    with tenax.lazy():
        found, versions = run("jax")
        assert not history.runs
    close([t.cpu() for t in found], expected)
    assert versions == counted
    assert [t.stride() for t in found] == [t.stride() for t in expected]


def test_hooks_and_second_derivatives() -> None:
    def run() -> list[torch.Tensor]:
        seen: list[torch.Tensor] = []
        x = torch.linspace(0.1, 1, 5, device="jax").requires_grad_()
        y = (x.sin() * x).sum()
        x.register_hook(lambda g: seen.append(g) or g * 2)
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), x)
        return [first.detach(), second, *(g.detach() for g in seen)]

    expected = run()
    with tenax.lazy():
        found = run()
    close(found, expected)


def test_branches_and_shapes_that_depend_on_data(history: History) -> None:
    with tenax.lazy():
        x = torch.tensor([3.0, -1.0, 2.0], device="jax") * 2
        chosen = x[x > 0] if x.sum() > 0 else x
        assert chosen.shape == (2,)
        assert "6" in repr(chosen)
        assert torch.equal(chosen, torch.tensor([6.0, 4.0], device="jax"))
    assert any("test_branches" in str(runs.causes) for runs in history.programs.values())


def test_what_somebody_holds_is_not_donated() -> None:
    x = torch.zeros(1 << 15, device="jax") + 1
    held, copy_of = x.jax(), x.clone()
    with tenax.lazy():
        x.add_(1)
        tenax.sync()
        x.add_(1)
        second = x.jax()
        x.add_(1)
        tenax.sync()
        x.add_(1)
        tenax.sync()
        assert x[0].item() == 5
    assert [int(a[0]) for a in (held, second)] == [1, 3]
    assert copy_of[0].item() == 1


def test_overwritten_arrays_are_donated_at_barriers_alone() -> None:
    x = torch.zeros(1 << 15, device="jax") + 1
    with tenax.lazy():
        x.add_(1)
        tenax.sync()
        before = [a for a in jax.live_arrays() if a.shape == (1 << 15,)]
        x.mul_(3)
        del before
        tenax.sync()
        assert sum(not a.is_deleted() for a in jax.live_arrays() if a.shape == (1 << 15,)) == 1
        x.mul_(2)
        assert x[5].item() == 12


def test_a_result_takes_the_array_that_it_replaces() -> None:
    # AdamW overwrites its states before the parameters, which the program is passed before the states.
    with tenax.lazy():
        model = perceptron()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        kept = [*model.parameters()]

        def step() -> list[int]:
            optimizer.zero_grad()
            model(torch.ones(5, 6, device="jax")).square().sum().backward()
            optimizer.step()
            tenax.sync()
            states = [state for p in kept for state in optimizer.state[p].values() if state.device.type == "jax"]
            return [t.detach().jax().unsafe_buffer_pointer() for t in (*kept, *states)]

        places = [step() for _ in range(4)]
    assert places[1] == places[2] == places[3]


def test_donated_inputs_and_results_are_paired() -> None:
    small, large = (aval_of((n,), np.dtype("float32")) for n in (2, 3))
    results = [SimpleNamespace(aval=a, origin=o) for a, o in [(small, None), (small, 7), (large, None), (small, 4)]]
    new, seven, wide, four = results
    assert paired(results, [4, 5, 7], dict.fromkeys([4, 5, 7], small)) == ([four, new, seven, wide], (4, 5, 7))
    assert paired(results, [5, 7], dict.fromkeys([5, 7], small)) == ([new, seven, wide, four], (5, 7))
    assert paired([seven], [5, 7], dict.fromkeys([5, 7], small)) == ([seven], (7,))
    assert paired([wide], [5], {5: small}) == ([wide], ())


def test_random_keys_of_kept_composites_are_numbers_of_the_program(history: History) -> None:
    q = torch.randn(2, 3, 4, device="jax", requires_grad=True)

    def step() -> torch.Tensor:
        torch.manual_seed(1)
        return torch.cat([F.scaled_dot_product_attention(q, q, q, dropout_p=0.5) for _ in range(2)])

    expected = step()
    with tenax.lazy():
        for _ in range(2):
            found = step()
            tenax.sync()
    close(found, expected)
    assert [program.inputs for program in history.programs] == [1]


def attention(x: torch.Tensor) -> torch.Tensor:
    parts = [part.view(2, 4, 2, 3).transpose(1, 2) for part in x.chunk(3, -1)]
    return F.scaled_dot_product_attention(*parts, is_causal=True)


CALLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "attention, of slices": attention,
    "normalised, with statistics": lambda x: F.batch_norm(x[:, :3], RUNNING[0], RUNNING[1], training=True),
    "joined, of slices": lambda x: torch.cat([x[:, :2], x[:, 2:], x[:, 1:3]], 1),
    "checked": lambda x: F.nll_loss(x[:, 0], torch.tensor([17, 3], device="jax")),
}
RUNNING = torch.zeros(3), torch.ones(3)


@pytest.mark.parametrize("mode", ["eager", "lazy"])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_was_seen_before_is_not_encoded_again(
    name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(2, 4, 18, device="jax", requires_grad=True)
    monkeypatch.setattr(sys.modules[__name__], "RUNNING", tuple(t.to("jax") for t in (torch.zeros(3), torch.ones(3))))
    encoded: list[str] = []
    run = Dispatcher.run

    def counted(self: Dispatcher, *args: Any, **kwargs: Any) -> Any:
        encoded.append(self.signature.name)
        return run(self, *args, **kwargs)

    monkeypatch.setattr(Dispatcher, "run", counted)
    with tenax.lazy() if mode == "lazy" else nullcontext():
        results = []
        for _ in range(4):
            encoded.clear()
            x.grad = None
            result = CALLS[name](x)
            result.sum().backward()
            results.append((result.detach(), x.grad))
            tenax.sync()
            torch.jax.synchronize()  # until then, calls may be recorded to run when they are compiled
    assert encoded == []
    for result, gradient in results:
        assert torch.equal(result.cpu(), results[0][0].cpu())
        assert torch.equal(gradient.cpu(), results[0][1].cpu())


def test_a_loop_without_barriers_is_cut_where_it_repeats(history: History) -> None:
    own_tape().cuts.after = 64
    with tenax.lazy():
        lengths = []
        trained(20, OPTIMIZERS["sgd"], lambda: lengths.append(len(own_tape().ops)))
    assert max(lengths) < 128
    assert history.runs > 3
    assert len(history.programs) <= 3  # the first, the steady one, and what is left at the end


def test_the_next_loop_without_barriers_is_cut_where_it_repeats() -> None:
    own_tape().cuts = cuts.Cuts()
    own_tape().cuts.after = 64
    with tenax.lazy():
        for name in ("sgd", "adamw"):  # the parameters of the first live on, where nothing is written any more
            lengths: list[int] = []
            kept = trained(20, OPTIMIZERS[name], lambda seen=lengths: seen.append(len(own_tape().ops)))
            assert max(lengths) < 256, name
    del kept


def test_a_loop_that_writes_nothing_is_cut_where_it_repeats(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "LONGEST", 32)
    own_tape().cuts.after = 32
    with tenax.lazy():
        x = torch.ones(3, device="jax")
        for _ in range(120):
            x = (x * 1.01).sin() + 0.5
            assert len(own_tape().ops) < 130
    assert len(history.programs) <= 3


def test_garbage_in_circles_is_no_new_program(history: History) -> None:
    gc.collect()
    with tenax.lazy():
        x = torch.ones(3, device="jax")
        for i in range(8):
            y = x * 2
            circle = [y]
            if i == 5:
                circle.append(circle)  # kept until it is collected
            del circle
            x = y + 1
            del y
            tenax.sync()
    assert len(history.programs) <= 2


def test_other_ways_to_compile_are_barriers() -> None:
    model = perceptron()
    x = torch.ones(2, 6, device="jax")
    expected = model(x + 1)
    jitted = tenax.jit(lambda x: model(x))
    with tenax.lazy():
        close(jitted(x + 1), expected)
        jacobian = torch.func.jacrev(lambda x: model(x).sum(0))(x + 1)
        checked = checkpoint(model, (x + 1).requires_grad_(), use_reentrant=False)
        pure = tenax.interop.t2j(copy.deepcopy(model))((x + 1).jax())
    assert jacobian.shape == (3, 2, 6)
    close(checked, expected)
    close(tenax.from_jax(pure), expected)


def test_explain_names_causes_and_differences() -> None:
    with tenax.lazy():
        for size in (2, 3):
            x = torch.ones(size, device="jax") * 2
            x.sum().item()
    text = str(tenax.explain(tenax.lazy))
    assert text.startswith("lazy mode: 2 programs, run 2 times")
    assert "test_programs.py" in text
    assert "-mul.Tensor(float32[2], number int32)" in text
    assert "+mul.Tensor(float32[3], number int32)" in text


PROCESS = """
import torch, tenax
from tenax._lazy.mode import own_tape
from tenax._lazy.places import ChangingSizes
x = torch.ones(3, device="jax") * 2
y = x + 1
assert len(own_tape().ops) > 1 and not own_tape().history.runs
print(y.sum().item(), len(own_tape().history.programs))
"""


def test_a_whole_process_is_lazy_by_its_environment() -> None:
    environment = {**os.environ, "TENAX_LAZY": "1"}
    run = [sys.executable, "-c", PROCESS]
    assert subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout == "9.0 1\n"


def test_an_event_comes_after_what_was_recorded() -> None:
    with tenax.lazy():
        x = torch.ones(3, device="jax").tan()
        assert x.untyped_storage().cell.pending.tape is not None
        torch.jax.Event().record()
        assert x.untyped_storage().cell.pending.tape is None


def test_a_random_operator_that_draws_nothing_is_recorded_each_time() -> None:
    x = torch.randn(1, 2, 5, 4)
    attention = torch.nn.functional.scaled_dot_product_attention
    for _ in range(3):
        with tenax.lazy():
            found = attention(*(x.to("jax"),) * 3)
        close(found, attention(x, x, x))


@pytest.mark.parametrize("kind", ["interop", "with reentry", "without"])
def test_a_checkpoint_is_computed_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    run = TapeProgram.run

    def noted(self: TapeProgram, words: list[int], inputs: Sequence[jax.Array], results: list[Any]) -> None:
        texts.append(self.lower(words, inputs).compile().as_text())
        run(self, words, inputs, results)

    def step(layers: Any, x: torch.Tensor, recompute: bool) -> torch.Tensor:
        for layer in layers:
            if not recompute:
                x = layer(x)
            elif kind == "interop":
                x = tenax.interop.checkpoint(lambda x, layer=layer: layer(x))(x)
            else:
                x = xla_checkpoint(layer, x, use_reentrant=kind == "with reentry")
        return x.square().sum()

    def gradients_of(loss: torch.Tensor, layers: nn.Module) -> list[torch.Tensor | None]:
        layers.zero_grad()
        loss.backward()
        return [p.grad for p in layers.parameters()]

    monkeypatch.setattr(TapeProgram, "run", noted)
    layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(3)).to("jax")
    x, counts, gradients = torch.ones(5, 4, device="jax", requires_grad=True), [], []
    for recompute in (False, True, True):
        texts.clear()
        with tenax.lazy():
            gradients.append(gradients_of(step(layers, x, recompute), layers))
        counts.append([text.count(" dot(") for text in texts])
    assert counts[0] == [9] and counts[2] == [12]
    for a, b in zip(gradients[0], gradients[2], strict=True):
        close(a, b)

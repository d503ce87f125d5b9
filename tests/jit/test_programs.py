"""Whole programs, as people write them, under `tenax.jit` against the same on CPU torch, run eagerly."""

from __future__ import annotations

import collections
import copy
import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.optim import lr_scheduler as schedulers

import tenax
from tenax.errors import TraceError
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

Tensors = Iterator[torch.Tensor]
Program = Callable[[str, Callable[[Any], Any]], Tensors]


def normal(device: str, *shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(device)


def two_optimizers_in_one_step(device: str, jit: Callable[[Any], Any]) -> Tensors:
    maker, judge = nn.Linear(3, 6).to(device), nn.Linear(6, 1).to(device)
    of_maker, of_judge = (torch.optim.Adam(m.parameters(), 1e-2, betas=(0.5, 0.99)) for m in (maker, judge))

    @jit
    def step(real: torch.Tensor, noise: torch.Tensor) -> dict[str, torch.Tensor]:
        of_judge.zero_grad()
        fake = maker(noise)
        judged = F.softplus(judge(fake.detach())).mean() + F.softplus(-judge(real)).mean()
        judged.backward()
        of_judge.step()
        of_maker.zero_grad()
        made = F.softplus(-judge(fake)).mean()
        made.backward()
        of_maker.step()
        return {"judged": judged.detach(), "made": made.detach()}

    for i in range(3):
        yield from step(normal(device, 5, 6, seed=i), normal(device, 5, 3, seed=i + 9)).values()
    yield from maker.parameters()


def a_gradient_penalty(device: str, jit: Callable[[Any], Any]) -> Tensors:
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
    optimizer = torch.optim.RMSprop(model.parameters(), 1e-2)

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        x = x.clone().requires_grad_()
        score = model(x)
        (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)
        loss = score.mean() + 10 * (slope.norm(dim=1) - 1).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    yield from (step(normal(device, 5, 6, seed=i)) for i in range(3))


def packed_sequences(device: str, jit: Callable[[Any], Any]) -> Tensors:
    rnn, lengths = nn.GRU(4, 5, batch_first=True).to(device), torch.tensor([5, 3, 2])
    optimizer = torch.optim.SGD(rnn.parameters(), 0.1)

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        packed, _ = rnn(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True))
        out, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        out.square().mean().backward()
        optimizer.step()
        return out.detach()

    yield from (step(normal(device, 3, 5, 4)) for _ in range(2))


def micro_batches(device: str, jit: Callable[[Any], Any]) -> Tensors:
    model = nn.Linear(6, 4).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)

    @jit
    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=False)
        total = 0.0
        for a, b in zip(x.chunk(4), y.chunk(4), strict=True):
            loss = F.cross_entropy(model(a), b, label_smoothing=0.1) / 4
            loss.backward()
            total += loss.detach()
        nn.utils.clip_grad_value_(model.parameters(), 0.05)
        optimizer.step()
        return total

    labels = torch.tensor([0, 1, 2, 3] * 2).to(device)
    yield from (step(normal(device, 8, 6, seed=i), labels) for i in range(3))
    yield from model.parameters()


def parametrized_weights(device: str, jit: Callable[[Any], Any]) -> Tensors:
    made = nn.utils.parametrizations
    model = nn.Sequential(made.spectral_norm(nn.Linear(6, 5)), made.weight_norm(nn.Linear(5, 4))).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    yield from (step(normal(device, 8, 6)) for _ in range(3))
    yield from model.state_dict().values()


def activations_in_a_list(device: str, jit: Callable[[Any], Any]) -> Tensors:
    model, seen = nn.Sequential(nn.Linear(6, 5), nn.ReLU()).to(device), []
    recent: collections.deque[torch.Tensor] = collections.deque(maxlen=2)
    model[0].register_forward_hook(lambda _, __, out: seen.append(out.detach()))
    model[1].register_forward_hook(lambda _, __, out: recent.append(out.detach()))
    step = jit(lambda x: model(x).detach() + torch.stack([*recent]).sum(0))
    yield from (step(normal(device, 3, 6, seed=i)) for i in range(4))
    assert (len(seen), len(recent)) == (4, 2)
    yield from (*seen, *recent)


@dataclasses.dataclass
class Output:
    loss: torch.Tensor
    parts: dict[str, torch.Tensor]
    name: str


def a_dataclass_that_is_differentiated(device: str, jit: Callable[[Any], Any]) -> Tensors:
    model = nn.Linear(6, 4).to(device)

    @jit
    def forward(x: torch.Tensor) -> Output:
        out = model(x)
        return Output(out.square().mean(), {"out": out}, "tanh")

    for i in range(2):
        result = forward(normal(device, 8, 6, seed=i))
        assert result.name == "tanh"
        (result.loss + result.parts["out"].sin().sum()).backward()
        yield from (result.loss, result.parts["out"])
    yield from (p.grad for p in model.parameters() if p.grad is not None)


PROGRAMS: list[Program] = [
    two_optimizers_in_one_step,
    a_gradient_penalty,
    packed_sequences,
    micro_batches,
    parametrized_weights,
    activations_in_a_list,
    a_dataclass_that_is_differentiated,
]


def assert_agrees(program: Program) -> None:
    found = []
    for device, jit in (("cpu", lambda f: f), ("jax", tenax.jit)):
        torch.manual_seed(0)
        found.append([x.detach().cpu() for x in program(device, jit)])
    for ours, reference in zip(found[1], found[0], strict=True):
        close(ours, reference, COMPOSED)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_program_gives_what_it_gives_on_the_cpu(program: Program) -> None:
    assert_agrees(program)


SCHEDULES: dict[str, Callable[[torch.optim.Optimizer], Any]] = {
    "one cycle": lambda o: schedulers.OneCycleLR(o, 0.2, total_steps=10),
    "warm restarts": lambda o: schedulers.CosineAnnealingWarmRestarts(o, 2, 2),
    "sequential": lambda o: schedulers.SequentialLR(
        o, [schedulers.LinearLR(o, 0.1, total_iters=2), schedulers.CosineAnnealingLR(o, 5)], [2]
    ),
    "chained": lambda o: schedulers.ChainedScheduler(
        [schedulers.ConstantLR(o, 0.5, 2), schedulers.ExponentialLR(o, 0.9)]
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_advances_once_in_every_call(name: str) -> None:
    def program(device: str, jit: Callable[[Any], Any]) -> Tensors:
        model = nn.Linear(6, 4).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), 0.1)
        schedule = SCHEDULES[name](optimizer)

        @jit
        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = (model(x) - 1).square().mean()
            loss.backward()
            optimizer.step()
            schedule.step()
            return loss.detach()

        for i in range(5):
            yield step(normal(device, 8, 6, seed=i))
            yield torch.tensor(optimizer.param_groups[0]["lr"])

    assert_agrees(program)


GENERATOR = np.random.default_rng(0)


def test_an_array_of_jax_that_a_program_computes_is_no_result() -> None:
    x = torch.ones(3, device="jax")
    assert tenax.jit(lambda x: tenax.from_jax(jnp.sin(x.jax())))(x).tolist() == x.sin().tolist()
    with pytest.raises(TraceError, match="a JAX array that it computes; return or store a tensor"):
        tenax.jit(lambda x: [jnp.sin(x.jax())])(x)


@pytest.mark.parametrize(
    ("draw", "source"),
    [
        (random.random, "Python's random"),
        (np.random.rand, "numpy.random"),
        (lambda: float(GENERATOR.beta(0.4, 0.4)), "GENERATOR"),
        (lambda: torch.rand(1).to("jax"), "torch's generator of the CPU"),
    ],
)
def test_random_numbers_of_the_host_are_refused(draw: Callable[[], Any], source: str) -> None:
    with pytest.raises(TraceError, match=f"random numbers on the host, from {source}"):
        tenax.jit(lambda x: x * draw())(torch.ones(2, device="jax"))


def test_an_optimizer_that_asks_for_values_names_the_line() -> None:
    weight = nn.Parameter(torch.ones(3, device="jax"))
    optimizer = torch.optim.LBFGS([weight])

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = weight.square().sum()
        loss.backward()
        return loss

    with pytest.raises(TraceError, match=r"is not known while a function is traced .*test_programs"):
        tenax.jit(lambda: optimizer.step(closure))()
    optimizer.step(closure)
    assert weight.abs().max() < 1


def test_distributions_check_their_arguments_when_the_call_is_done() -> None:
    def sample(scale: torch.Tensor) -> torch.Tensor:
        # Asked for: the first torch.compile of a process sets the default to False.
        return torch.distributions.Normal(torch.zeros_like(scale), scale, validate_args=True).log_prob(scale).sum()

    compiled = tenax.jit(sample)
    good = torch.tensor([1.0, 2.0])
    close(compiled(good.to("jax")), sample(good))
    torch.jax.synchronize()
    compiled(torch.tensor([1.0, -2.0], device="jax"))
    with pytest.raises(ValueError, match="out of its range"):
        torch.jax.synchronize()


def test_a_distribution_checks_its_matrix_when_the_call_is_done() -> None:
    def density(matrix: torch.Tensor) -> torch.Tensor:
        normal = torch.distributions.MultivariateNormal(matrix[0], matrix, validate_args=True)
        return normal.log_prob(matrix[1])

    compiled = tenax.jit(density)
    good = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    close(compiled(good.to("jax")), density(good))
    torch.jax.synchronize()
    compiled(torch.tensor([[2.0, 1.0], [0.0, 3.0]], device="jax"))
    with pytest.raises(ValueError, match="out of its range"):
        torch.jax.synchronize()


@pytest.mark.parametrize("family", ["Geometric", "Wishart"])
def test_a_constructor_checks_its_arguments_when_the_call_is_done(family: str) -> None:
    def density(x: torch.Tensor) -> torch.Tensor:
        matrix = torch.eye(2, device=x.device)
        if family == "Wishart":
            return torch.distributions.Wishart(x, matrix, validate_args=True).log_prob(matrix)
        return torch.distributions.Geometric(x, validate_args=True).log_prob((x > 0.5).float())

    good, bad = (4.0, 1.0) if family == "Wishart" else (0.7, 0.0)
    compiled = tenax.jit(density)
    close(compiled(torch.tensor([good, good], device="jax")), density(torch.tensor([good, good])))
    torch.jax.synchronize()
    compiled(torch.tensor([good, bad], device="jax"))
    with pytest.raises(ValueError, match="out of its range"):
        torch.jax.synchronize()


def test_layers_of_a_transformer_take_a_mask_that_may_be_causal() -> None:
    model = nn.Transformer(4, 2, 1, 1, 8, 0.0, batch_first=True)
    ours = copy.deepcopy(model).to("jax")

    def run(model: nn.Module, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        causal = nn.Transformer.generate_square_subsequent_mask(3, device=x.device)
        return model(x, x, src_mask=mask, tgt_mask=causal)

    compiled = tenax.jit(run)
    x = normal("cpu", 2, 3, 4)
    for mask in (torch.ones(3, 3).triu(1).bool(), torch.eye(3).bool()):
        found = compiled(ours, x.to("jax"), mask.to("jax"))
        close(found, run(model, x, mask))


def test_an_encoder_in_eval_mode_takes_a_mask_of_padding() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    model = nn.TransformerEncoder(layer, 1, enable_nested_tensor=True).eval()
    ours = tenax.jit(copy.deepcopy(model).to("jax"))
    x = normal("cpu", 2, 3, 4)
    padding = torch.tensor([[False, False, False], [False, True, True]])
    found = ours(x.to("jax"), src_key_padding_mask=padding.to("jax"))
    close(found, model(x, src_key_padding_mask=padding))


def test_a_set_that_a_step_changes_is_changed_by_each_call() -> None:
    seen: set[str] = set()

    @tenax.jit
    def step(x: torch.Tensor, name: str) -> torch.Tensor:
        seen.add(name)
        return x * len(seen)

    x = torch.ones(2, device="jax")
    assert [step(x, name)[0].item() for name in "aba"] == [1, 2, 2]
    assert seen == {"a", "b"}


def test_a_momentum_encoder_gets_new_data_in_each_call() -> None:
    def make(device: str) -> tuple[Any, ...]:
        torch.manual_seed(0)
        encoder, momentum = nn.Linear(3, 2).to(device), nn.Linear(3, 2).to(device)
        before = momentum.weight.detach()

        def step(x: torch.Tensor) -> torch.Tensor:
            for p, q in zip(encoder.parameters(), momentum.parameters(), strict=True):
                q.data = q.data * 0.9 + p.data * 0.1
            return momentum(x)

        return step, encoder, momentum, before

    step, encoder, momentum, before = make("cpu")
    ours, on_device, its_momentum, its_before = make("jax")
    compiled = tenax.jit(ours)
    x = torch.randn(4, 3)
    for _ in range(3):
        close(compiled(x.to("jax")), step(x))
        with torch.no_grad():
            encoder.weight.mul_(2)
            on_device.weight.mul_(2)
    close(its_momentum.weight, momentum.weight)
    close(its_before, before)  # which has the old data
    assert len(compiled.history) == 1


def test_two_parameters_may_come_to_share_data() -> None:
    a, b = (nn.Parameter(torch.full((2,), v, device="jax")) for v in (1.0, 2.0))

    @tenax.jit
    def tie() -> torch.Tensor:
        a.data = b.data
        return a * 3

    assert tie().tolist() == [6, 6]
    with torch.no_grad():
        b.fill_(5)
    assert a.tolist() == [5, 5]


def test_data_of_a_conjugate_view_is_replaced_in_each_call() -> None:
    x = torch.tensor([1 + 2j, 3 - 4j], device="jax")
    lazy = x.clone().conj()

    @tenax.jit
    def replace() -> torch.Tensor:
        lazy.data = x * 2
        return lazy + 1

    for _ in range(2):
        close(replace(), torch.tensor([3 + 4j, 7 - 8j]))
        close(lazy, torch.tensor([2 + 4j, 6 - 8j]))
        lazy = x.clone().conj()


def test_what_asks_jax_learns_that_a_value_is_not_known() -> None:
    weight = torch.ones(2, device="jax")

    @tenax.jit
    def f(x: torch.Tensor) -> list[bool]:
        return [isinstance(t.jax(), jax.core.Tracer) for t in (x, weight, x + 1)]

    assert f(weight * 2) == [True, True, True]

    @tenax.jit
    def freeze() -> torch.Tensor:
        return torch.tensor(np.asarray(weight.jax()).sum())

    with pytest.raises(jax.errors.TracerArrayConversionError):
        freeze()


loss: Any = None


def test_a_global_of_the_name_of_an_attribute_is_none_of_the_function() -> None:
    global loss

    @dataclasses.dataclass
    class Output:
        loss: torch.Tensor

    step = tenax.jit(lambda x: Output(x.sum()).loss * 2)
    for _ in range(3):
        loss = step(torch.ones(2, device="jax"))
    assert len(step.history) == 1

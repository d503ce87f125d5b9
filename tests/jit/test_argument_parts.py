"""Arguments that are parts of larger tensors: one program serves all of them if only their values matter, and what a
function does to their memory is done in any case."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import tenax
from tenax._jit.jitted import compiled_of

Run = Callable[[Callable[[Any], Any]], list[Any]]  # takes a decorator; returns what its calls gave and left behind


def data(start: float = 0.0) -> torch.Tensor:
    return torch.arange(start, start + 12, device="jax").reshape(6, 2)


# -- programs ---------------------------------------------------------------------------------------------------------


def minibatches(jit: Any) -> list[Any]:
    torch.manual_seed(0)
    model, x, y = nn.Linear(2, 1).to("jax"), data(), data()[:, :1].contiguous()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    @jit
    def step(x: torch.Tensor, *, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return [step(x[i : i + 2], y=y[i : i + 2]) for i in (0, 2, 4, 0)]


def rows_and_elements(jit: Any) -> list[Any]:
    x, step = data(), jit(lambda x: x * 2)
    return [step(x[i]) for i in range(6)] + [step(x[i, 1]) for i in range(6)]


def nested(jit: Any) -> list[Any]:
    x, step = data(), jit(lambda batch: batch["x"] + batch["rest"][0])
    return [step({"x": x[i : i + 2], "rest": [x[i + 1 : i + 3]]}) for i in range(4)]


def differentiated_outside(jit: Any) -> list[Any]:
    x, weight = data(), torch.ones(2, device="jax", requires_grad=True)
    step = jit(lambda x: (x * weight).sum())
    for i in range(3):
        step(x[i : i + 2]).backward()
    return [weight.grad]


def written(jit: Any) -> list[Any]:
    x, step = data(), jit(lambda part: part.mul_(2).sum())
    return [step(x[i : i + 2]) for i in (0, 1, 2, 0)] + [x]


def returned(jit: Any) -> list[Any]:
    x, step = data(), jit(lambda part: (part, part[1:], part * 2))
    found = []
    for i in (0, 2, 3):
        part = x[i : i + 2]
        same, view, product = step(part)
        view.add_(1)
        found += [same is part, same, view, product, x.clone()]
    return found


def stored(jit: Any) -> list[Any]:
    x, kept = data(), types.SimpleNamespace(last=None, detached=None)

    @jit
    def step(part: torch.Tensor) -> torch.Tensor:
        kept.last, kept.detached = part, part.detach()
        return part * 2

    found = []
    for i in (0, 2, 3):
        found.append(step(x[i : i + 2]))
        x.add_(1)
        found += [kept.last.clone(), kept.detached.clone()]
    return found


def beside_its_whole(jit: Any) -> list[Any]:
    x, other = data(), data(100)

    @jit
    def step(part: torch.Tensor, whole: torch.Tensor) -> torch.Tensor:
        before = part * 1
        whole.add_(1)
        return before + 10 * part

    return [step(x[0:2], other), step(other[0:2], other), step(x[2:4], other), step(other[2:4], other), other]


def of_a_variable(jit: Any) -> list[Any]:
    x = data()

    @jit
    def step(part: torch.Tensor) -> torch.Tensor:
        x[3].add_(1)
        return part * 2 + x[3]

    return [step(x[i : i + 2]) for i in range(4)] + [x]


def overlapping(jit: Any) -> list[Any]:
    x = data()

    @jit
    def step(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.add_(1)
        return b * 2

    return [step(x[i : i + 2], x[i + 1 : i + 3]) for i in range(3)] + [x]


def passed_twice(jit: Any) -> list[Any]:
    x, step = data(), jit(lambda a, b: a + b * (10 if a is b else 1))
    part, other = x[1:3], x[2:4]
    return [step(part, part), step(part, other), step(other, other), step(x[0:2], x[0:2])]


def compared(jit: Any) -> list[Any]:
    x = data()
    kept = types.SimpleNamespace(part=x[1:3])
    step = jit(lambda part: part * (10 if part is kept.part else 1) + kept.part)
    return [step(x[1:3]), step(kept.part), step(x[2:4]), step(kept.part)]


def asked_for_their_place(jit: Any) -> list[Any]:
    x = data()
    step = jit(lambda part: part.as_strided((2,), (1,), 1) + part.storage_offset())
    return [step(x[i : i + 2]) for i in range(3)]


def asked_for_a_base(jit: Any) -> list[Any]:
    x, step = data(), jit(lambda part: part * (2 if part._base is None else 3))
    return [step(x[i : i + 2]) for i in range(3)]


def given_other_data(jit: Any) -> list[Any]:
    x = data()

    @jit
    def step(part: torch.Tensor) -> None:
        part.data = part * 2

    parts = [x[i : i + 2] for i in range(3)]
    for part in parts:
        step(part)
    return [*parts, x]


def marked(jit: Any) -> list[Any]:
    x, step, found = data(), jit(lambda part: part * part.scale), []
    for i in range(3):
        part: Any = x[i : i + 2]
        part.scale = i
        found.append(step(part))
    return found


def most_of_it(jit: Any) -> list[Any]:
    x, step = data(), jit(lambda part: part * 2)
    return [step(x[i : i + 4]) for i in range(3)]


def transposed(jit: Any) -> list[Any]:
    x, step = data(), jit(lambda part: part.reshape(-1))
    return [step(x[i : i + 2].t()) for i in range(3)] + [step(x[0:0]), step(x[:, 0])]


PROGRAMS: dict[Run, int] = {
    minibatches: 1,
    rows_and_elements: 2,
    nested: 1,
    differentiated_outside: 1,
    written: 3,
    returned: 3,
    stored: 3,
    beside_its_whole: 4,
    of_a_variable: 4,
    overlapping: 3,
    passed_twice: 2,
    compared: 3,
    asked_for_their_place: 3,
    asked_for_a_base: 3,
    given_other_data: 3,
    marked: 3,
    most_of_it: 3,
    transposed: 5,
}


def test_an_error_with_a_part_is_raised_once() -> None:
    step = tenax.jit(lambda part: part @ torch.ones(3, device="jax"))
    with pytest.raises(RuntimeError) as raised:
        step(data()[0:2])
    assert raised.value.__context__ is None


def content(values: list[Any]) -> list[Any]:
    return [x.tolist() if isinstance(x, torch.Tensor) else x for x in values]


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_parts_do_what_they_do_in_eager_mode(run: Run) -> None:
    made: list[Any] = []

    def jit(function: Any) -> Any:
        made.append(tenax.jit(function))
        return made[-1]

    assert content(run(jit)) == content(run(lambda function: function))
    assert len(compiled_of(made[0]).history) == PROGRAMS[run]

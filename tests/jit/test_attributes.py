"""Which attributes of objects, modules and classes a function compiled by `tenax.jit` depends on."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

import tenax
from tenax._jit.jitted import compiled_of
from tests.helpers.agreement import close
from tests.helpers.tolerances import ROUNDED

pytestmark = pytest.mark.gpu


class Trainer:
    """A step that is a method of an object which also keeps count."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Linear(3, 1).to("jax")
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        self.count, self.scale, self.last = 0, 1.0, None
        self.losses: list[float] = []

    def loss(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x).square().mean() * self.scale

    @tenax.jit
    def step(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.loss(x)
        loss.backward()
        self.optimizer.step()
        self.last = loss.detach()
        return loss


def test_attributes_that_a_step_does_not_read_may_change() -> None:
    trainer, x = Trainer(), torch.ones(4, 3, device="jax")
    history = Trainer.step.history
    for _ in range(4):
        trainer.losses.append(trainer.step(x).item())
        trainer.count += 1
        assert trainer.last is not None
        assert trainer.last.item() == trainer.losses[-1]
    assert trainer.losses == sorted(trainer.losses, reverse=True)
    assert [c.reason for c in history] == ["its first call"]
    trainer.scale = 2.0
    trainer.step(x)
    assert history[-1].reason == "self.scale was 1.0 and is 2.0"
    trainer.loss = lambda x: self_made(x)  # type: ignore[method-assign]
    trainer.step(x)
    assert "self.loss was nothing" in history[-1].reason


def self_made(x: torch.Tensor) -> torch.Tensor:
    return x.sum().requires_grad_()


def test_attributes_that_are_read_by_roundabout_ways_count() -> None:
    class Box:
        def __init__(self) -> None:
            self.factor1, self.factor2 = 2.0, 3.0

    box = Box()
    by_name = tenax.jit(lambda x, i: x * getattr(box, f"factor{i}"))
    by_dict = tenax.jit(lambda x: x * vars(box)["factor2"] + (1 if hasattr(box, "bias") else 0))
    x = torch.ones(1, device="jax")
    assert [by_name(x, 1).item(), by_name(x, 2).item(), by_dict(x).item()] == [2, 3, 3]
    box.factor2 = 4.0
    assert [by_name(x, 1).item(), by_name(x, 2).item(), by_dict(x).item()] == [2, 4, 4]
    box.bias = 0  # type: ignore[attr-defined]
    assert by_dict(x).item() == 5
    assert "__getattribute__" not in vars(Box)


def test_slots_are_attributes() -> None:
    @dataclasses.dataclass(slots=True)
    class Config:
        factor: float = 2.0
        calls: int = 0
        last: torch.Tensor | None = None

    config, x = Config(), torch.ones(1, device="jax")

    @tenax.jit
    def scaled(x: torch.Tensor) -> torch.Tensor:
        config.last = x * config.factor
        return config.last + 1

    assert scaled(x).item() == 3
    config.calls += 1
    assert scaled(x * 2).item() == 5
    assert config.last is not None
    assert config.last.item() == 4
    assert len(scaled.history) <= 2
    config.factor = 3.0
    assert scaled(x).item() == 4


class Scaled(nn.Module):
    """A module with attributes of its own and of its class."""

    scale = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dropout(0.5)
        self.shift, self.seen = 1.0, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        more = getattr(self, "more", 0.0)
        return self.inner(x) * self.scale + self.shift + more


def test_attributes_of_modules_count_that_were_read() -> None:
    module, x = Scaled().eval().to("jax"), torch.ones(1, device="jax")
    compiled = tenax.jit(module)
    history = compiled_of(compiled).history

    def changed(name: str, value: Any, expected: float, traces: int = 1) -> None:
        before = len(history)
        setattr(module, name, value)
        assert compiled(x).item() == module(x).item() == expected
        assert len(history) - before == traces

    assert compiled(x).item() == 3
    changed("seen", 5, 3, traces=0)
    changed("log", [], 3, traces=0)  # new, and not asked for
    changed("shift", 2.0, 4)
    changed("scale", 3.0, 5)  # hides that of the class
    changed("more", 1.0, 6)
    changed("forward", lambda x: x * 7, 7)
    assert "__getattribute__" not in vars(Scaled)


def test_values_and_methods_of_classes_count() -> None:
    class Rule:
        factor = 2.0

        def apply(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.factor

    rule, x = Rule(), torch.ones(1, device="jax")
    compiled = tenax.jit(lambda x: rule.apply(x))
    assert compiled(x).item() == 2
    Rule.factor = 3.0
    assert compiled(x).item() == 3
    Rule.apply = lambda self, x: x - 1  # type: ignore[assignment, method-assign]
    assert compiled(x).item() == 0


@pytest.mark.parametrize(
    ("register", "hook"),
    [
        (modules.register_module_forward_pre_hook, lambda module, args: (args[0] * 2,)),
        (modules.register_module_forward_hook, lambda module, args, out: out * 2),
        (modules.register_module_full_backward_pre_hook, lambda module, given: (given[0] * 2,)),
        (modules.register_module_full_backward_hook, lambda module, found, given: (found[0] * 2,)),
        (optimizers.register_optimizer_step_pre_hook, lambda optimizer, args, kwargs: optimizer.zero_grad()),
        (optimizers.register_optimizer_step_post_hook, lambda optimizer, args, kwargs: optimizer.zero_grad()),
    ],
)
def test_hooks_of_all_modules_and_optimizers_may_come_and_go(
    register: Callable[[Any], Any], hook: Callable[..., Any]
) -> None:
    def losses_and_weights(device: str) -> list[float]:
        weight = nn.Parameter(torch.ones(2, device=device))
        model = nn.Sequential(nn.Tanh(), nn.Sigmoid()).to(device)
        optimizer = torch.optim.SGD([weight], 0.5)

        def step() -> torch.Tensor:
            loss = model(weight * weight).sum()
            loss.backward()
            optimizer.step()
            return loss

        step = tenax.jit(step) if device == "jax" else step
        seen = []
        for with_hook in (False, True, False):
            handle = register(hook) if with_hook else None
            for _ in range(2):
                seen += [step().item(), *weight.tolist()]
            if handle is not None:
                handle.remove()
        return seen

    close(torch.tensor(losses_and_weights("jax")), torch.tensor(losses_and_weights("cpu")), ROUNDED)


def test_what_a_hook_of_all_modules_keeps_is_an_effect() -> None:
    model, x = nn.Sequential(nn.Linear(3, 2), nn.ReLU()).to("jax"), torch.ones(1, 3, device="jax")
    compiled, kept = tenax.jit(lambda x: model(x).detach()), {}
    compiled(x)
    handle = modules.register_module_forward_hook(lambda module, _, out: kept.update({module: out.detach()}))
    compiled(x)
    handle.remove()
    history = compiled_of(compiled).history
    assert history[-1].reason == "torch.nn.modules.module._global_forward_hooks is no longer empty"
    assert kept[model[0]].tolist() == model[0](x).tolist()


def test_a_call_of_another_thread_waits_for_the_trace_and_needs_none() -> None:
    tracing, calls = threading.Event(), []
    model, x = nn.Linear(3, 2).to("jax"), torch.ones(1, 3, device="jax")
    plain = tenax.jit(model)
    plain(x)

    @tenax.jit
    def slow(x: torch.Tensor) -> torch.Tensor:
        tracing.set()
        time.sleep(0.1)
        return model(x)

    def call() -> None:
        tracing.wait()
        calls.extend((plain(x), slow(x)))

    other = threading.Thread(target=call)
    other.start()
    expected = slow(x)
    other.join()
    assert [y.tolist() for y in calls] == [expected.tolist()] * 2
    assert [len(compiled_of(f).history) for f in (plain, slow)] == [1, 1]


def test_the_default_device_decides_where_tensors_are_made() -> None:
    make = tenax.jit(lambda x: (x + 1, torch.ones(3)))
    x = torch.ones(3, device="jax")
    for _ in range(2):
        assert make(x)[1].device.type == "cpu"
        with torch.device("jax"):
            assert make(x)[1].device.type == "jax"


WRITES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "an item": lambda d: d.__setitem__("scale", 3.0),
    "an update": lambda d: d.update(scale=3.0),
    "a union": lambda d: d.__ior__({"scale": 3.0}),
    "gone and back": lambda d: d.__setitem__("scale", d.pop("scale") + 1),
    "cleared": lambda d: (d.clear(), d.setdefault("scale", 3.0)),
    "a second, unnamed": lambda d: d.__setitem__("other", 3.0),
    "the same again": lambda d: d.__setitem__("scale", float("2")),
}


@pytest.mark.parametrize(
    "kind", [dict, OrderedDict, lambda d: defaultdict(float, d)], ids=["dict", "ordered", "default"]
)
@pytest.mark.parametrize("name", WRITES)
def test_every_write_to_a_dict_counts(name: str, kind: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    held = kind({"scale": 2.0})
    function = tenax.jit(lambda x: x * held["scale"] * len(held))
    x = torch.ones(2, device="jax")
    for _ in range(2):
        assert torch.equal(function(x).cpu(), torch.full((2,), 2.0))
    WRITES[name](held)
    for _ in range(2):
        assert torch.equal(function(x).cpu(), torch.full((2,), held["scale"] * len(held)))


class Settings:
    """An object of the program."""

    mode = "fast"


def _write(settings: Any) -> None:
    settings.mode = "exact"


@pytest.mark.parametrize(
    ("make", "write", "change", "read"),
    [
        (Settings, _write, lambda s: setattr(s, "mode", "other"), lambda s: s.mode),
        (lambda: nn.Linear(2, 2), lambda m: m.train(), lambda m: m.eval(), lambda m: m.training),
        (lambda: nn.Linear(2, 2), lambda m: setattr(m, "k", 1), lambda m: setattr(m, "k", 2), lambda m: m.k),
        (
            lambda: nn.Linear(2, 2).to("jax"),
            lambda m: m.requires_grad_(True),
            lambda m: m.requires_grad_(False),
            lambda m: m.weight.requires_grad,
        ),
    ],
    ids=["attribute", "train", "module", "requires_grad"],
)
def test_a_write_that_changes_nothing_in_the_traced_call_changes_something_in_another(
    make: Any, write: Any, change: Any, read: Any
) -> None:
    found = make()

    def step(x: torch.Tensor) -> torch.Tensor:
        write(found)
        return x * 2

    compiled, x = tenax.jit(step), torch.ones(2, device="jax")
    compiled(x)
    compiled(x)
    written, traces = read(found), len(compiled.history)
    change(found)
    assert read(found) != written
    compiled(x)
    assert read(found) == written
    compiled(x)
    assert len(compiled.history) <= traces + 1


class Gained(nn.Module):
    """A module that reads an attribute of its class, and has a buffer."""

    factor = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = self.mean * 0.5
        return x * self.factor


def test_an_attribute_of_the_class_is_hidden_by_one_of_a_module_whose_buffer_the_step_replaces() -> None:
    module, x = Gained().to("jax"), torch.ones(2, device="jax")
    step = tenax.jit(lambda x: module(x))
    step(x)
    module.factor = 4.0
    close(step(x), torch.full((2,), 4.0))


def test_an_entry_that_the_attributes_of_a_module_get_is_noticed() -> None:
    module, x = nn.Linear(2, 2), torch.ones(2, device="jax")
    step = tenax.jit(lambda x: x * vars(module).get("factor", 1.0))
    step(x)
    step(x)
    assert len(step.history) == 1
    module.factor = 4.0
    close(step(x), torch.full((2,), 4.0))


class Recorder(nn.Module):
    """A layer that keeps what it computed in a list, made anew in each call."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.kept: list[torch.Tensor] = []
        self.word = "before"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.kept = []
        self.word = "within"
        self.keep(self.layer(x))
        self.keep(x * len(self.word))
        return sum(k.sum() for k in self.kept)

    def keep(self, x: torch.Tensor) -> None:
        self.kept.append(x)


def test_an_attribute_that_is_written_before_it_is_read_needs_no_new_trace() -> None:
    torch.manual_seed(0)
    module = Recorder().to("jax")
    step = tenax.jit(lambda x: module(x))
    for i in range(4):
        x = torch.full((2, 3), float(i), device="jax")
        before = module.kept
        result = step(x)
        kept = module.kept
        assert kept is not before
        close(result, module.forward(x))
        for ours, eager in zip(kept, module.kept, strict=True):
            close(ours, eager)
    assert "traced once, 1 program" in str(tenax.explain(step))


def test_an_attribute_that_is_read_before_it_is_written_is_guarded() -> None:
    class Counter(nn.Module):
        words = ("a",)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found = len(self.words)
            self.words = (*self.words, "b")
            return x * (found + len(self.words))

    module, eager = Counter().to("jax"), Counter()
    step = tenax.jit(lambda x: module(x))
    for _ in range(4):
        close(step(torch.ones(2, device="jax")), eager(torch.ones(2)))


class Slotted:
    """An object whose second slot is filled later."""

    __slots__ = ("factor", "more")

    def __init__(self, factor: Any) -> None:
        self.factor = factor


def test_a_slot_that_is_filled_later_is_noticed() -> None:
    slotted, x = Slotted(1), torch.ones(2, device="jax")
    step = tenax.jit(lambda x: x * slotted.factor * (2 if hasattr(slotted, "more") else 3))
    assert step(x).tolist() == [3, 3]
    slotted.more = None
    assert step(x).tolist() == [2, 2]
    del slotted.more
    assert step(x).tolist() == [3, 3]
    assert "more was nothing" in str(tenax.explain(step))


def test_a_slot_of_a_replaced_object_that_is_filled_later_is_noticed() -> None:
    def factors(device: str) -> list[list[float]]:
        holder = Slotted(Slotted(torch.ones(2, device=device)))

        def step(x: torch.Tensor) -> torch.Tensor:
            inner = holder.factor
            y: torch.Tensor = inner.factor * (2 if hasattr(inner, "more") else 3) + x
            holder.factor = Slotted(y)
            return y

        step = tenax.jit(step) if device == "jax" else step
        found = []
        for call in range(6):
            if call in (2, 4):
                holder.factor.more = None
            found.append(step(torch.ones(2, device=device)).tolist())
        return found

    assert factors("jax") == factors("cpu")

"""Seeds and generators in traced functions: a program draws what eager calls would draw, or its trace raises."""

from __future__ import annotations

import pickle
import random
import threading
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.nn.functional import dropout

import tenax
from tenax import t2j
from tenax.errors import TraceError
from tests.helpers.agreement import close


def given() -> torch.Tensor:
    return torch.ones(8, device="jax")


def drawn(function: Callable[[torch.Tensor], torch.Tensor], calls: int = 3) -> list[list[float]]:
    torch.manual_seed(5)
    return [function(given()).tolist() for _ in range(calls)]


def host_states() -> list[bytes]:
    return [
        pickle.dumps(random.getstate()),
        pickle.dumps(np.random.get_state()),
        torch.get_rng_state().numpy().tobytes(),
    ]


# -- seeds -------------------------------------------------------------------------------------------------------------

STATE = torch.jax.get_rng_state()
SEEDS = {
    "torch.manual_seed": lambda: torch.manual_seed(5),
    "torch.seed": torch.seed,
    "torch.jax.manual_seed": lambda: torch.jax.manual_seed(5),
    "torch.jax.seed_all": torch.jax.seed_all,
    "torch.jax.set_rng_state": lambda: torch.jax.set_rng_state(STATE),
}


@pytest.mark.parametrize("name", SEEDS)
@pytest.mark.parametrize("before", [5, 6])
def test_a_function_that_seeds_raises_whatever_the_seed_was(name: str, before: int) -> None:
    @tenax.jit
    def function(x: torch.Tensor) -> torch.Tensor:
        SEEDS[name]()
        return dropout(x)

    torch.manual_seed(before)
    states = [*host_states(), torch.jax.get_rng_state().tolist()]
    for _ in range(2):
        with pytest.raises(TraceError, match="a compiled function seeds"):
            function(given())
        assert [*host_states(), torch.jax.get_rng_state().tolist()] == states


def test_a_seed_within_fork_rng_counts_in_every_call() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        first = dropout(x)
        with torch.random.fork_rng(devices=[0], device_type="jax"):
            torch.manual_seed(3)
            inner = dropout(x)
        return torch.stack([first, inner, dropout(x)])

    assert drawn(tenax.jit(function)) == drawn(function)


def test_a_state_that_the_function_reads_can_be_restored_in_it() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        state = torch.jax.get_rng_state()
        first = dropout(x)
        torch.jax.set_rng_state(state)
        return torch.stack([first, dropout(x), dropout(x)])

    assert drawn(tenax.jit(function)) == drawn(function)


def test_a_state_of_another_trace_is_refused() -> None:
    kept: list[torch.Tensor] = []

    @tenax.jit
    def reads(x: torch.Tensor) -> torch.Tensor:
        kept.append(torch.jax.get_rng_state())
        return x + 1

    reads(given())
    with pytest.raises(RuntimeError, match="while another function was traced"):
        torch.jax.set_rng_state(kept[0])
    with pytest.raises(RuntimeError, match="while another function was traced"):
        tenax.jit(lambda x: (torch.jax.set_rng_state(kept[0]), dropout(x))[1])(given())


def test_the_seed_of_the_device_is_not_known_to_a_trace() -> None:
    with pytest.raises(TraceError, match=r"initial_seed\(\) in a traced function"):
        tenax.jit(lambda x: x * torch.jax.initial_seed())(given())


def test_the_seed_of_the_host_is_compared_before_each_call() -> None:
    function = tenax.jit(lambda x: x * torch.initial_seed())
    for seed in (3, 4, 3):
        torch.manual_seed(seed)
        assert function(given())[0] == seed


def test_other_threads_draw_from_the_stream_of_the_process() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        thread = threading.Thread(target=lambda: found.append(torch.rand(3, device="jax").tolist()))
        thread.start()
        thread.join()
        return dropout(x)

    found: list[Any] = []
    torch.manual_seed(5)
    result = tenax.jit(function)(given()).tolist()
    torch.manual_seed(5)
    assert found == [torch.rand(3, device="jax").tolist()]
    assert result == dropout(given()).tolist()  # the program draws after the trace


# -- generators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["jax", "cpu"])
def test_a_generator_that_the_function_creates_starts_anew_in_every_call(device: str) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        generator = torch.Generator(device)
        unseeded = torch.rand(3, device="jax", generator=generator)
        generator.manual_seed(3)
        state = generator.get_state()
        first = torch.rand(3, device="jax", generator=generator)
        second = torch.rand(3, device="jax", generator=generator)
        generator.set_state(state)
        return torch.cat([unseeded, first, second, torch.rand(3, device="jax", generator=generator)]) * x[0]

    assert drawn(tenax.jit(function)) == drawn(function)
    pure = jax.jit(t2j(function))
    np.testing.assert_array_equal(pure(jnp.ones(8)), np.float32(drawn(function)[0]))


@pytest.mark.parametrize("method", ["manual_seed", "set_state", "get_state", "initial_seed", "seed"])
def test_what_a_program_would_not_do_to_a_generator_raises(method: str) -> None:
    generator = torch.Generator("jax").manual_seed(3)
    arguments = {"manual_seed": (3,), "set_state": (generator.get_state(),)}.get(method, ())

    @tenax.jit
    def function(x: torch.Tensor) -> torch.Tensor:
        getattr(generator, method)(*arguments)
        return x * torch.rand(8, device="jax", generator=generator)

    for _ in range(2):
        with pytest.raises(TraceError, match=f"Generator.{method} in a traced function"):
            function(given())


GENERATOR = torch.Generator()


class Holder:
    generator = torch.Generator()


def of_a_global(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(8, generator=GENERATOR).to("jax")


def of_an_attribute(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(8, generator=Holder.generator).to("jax")


def of_a_default(x: torch.Tensor, generator: torch.Generator = GENERATOR) -> torch.Tensor:
    return x * torch.randint(9, (1,), generator=generator).item()


def of_python(x: torch.Tensor) -> torch.Tensor:
    random.seed(0)
    return x * random.random()


def of_numpy(x: torch.Tensor) -> torch.Tensor:
    np.random.seed(0)
    return x * np.random.rand()


@pytest.mark.parametrize("function", [of_a_global, of_an_attribute, of_a_default, of_python, of_numpy])
def test_host_random_numbers_raise_in_every_call(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    torch.manual_seed(0)
    random.seed(1)
    np.random.seed(1)
    states = [*host_states(), GENERATOR.get_state().tolist(), Holder.generator.get_state().tolist()]
    step = tenax.jit(function)
    for _ in range(2):
        with pytest.raises(TraceError, match="draws random numbers on the host"):
            step(given())
        assert [*host_states(), GENERATOR.get_state().tolist(), Holder.generator.get_state().tolist()] == states


def test_a_generator_argument_of_the_host_raises() -> None:
    step = tenax.jit(lambda x, generator: x + torch.randn(8, generator=generator).to("jax"))
    with pytest.raises(TraceError, match="draws random numbers on the host"):
        step(given(), torch.Generator())


def test_host_generators_that_the_function_creates_give_the_same_numbers_in_every_call() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        host = torch.randn(8, generator=torch.Generator().manual_seed(3)).to("jax")
        return x * host * random.Random(0).random() * np.random.default_rng(0).random()

    found = drawn(tenax.jit(function))
    close(torch.tensor(found[0]), torch.tensor(drawn(function)[0]))
    assert found[0] == found[1] == found[2]


def test_generators_are_pickled_and_copied() -> None:
    for device in ("cpu", "jax"):
        generator = torch.Generator(device).manual_seed(3)
        for other in (pickle.loads(pickle.dumps(generator)), deepcopy(generator), generator.clone_state()):
            assert type(other) is type(generator) and other.device == generator.device
            assert torch.equal(other.get_state(), generator.get_state())
            other.manual_seed(4)
            assert generator.initial_seed() == 3


def test_a_pure_function_that_seeds_and_draws_raises() -> None:
    torch.manual_seed(5)
    with pytest.raises(TraceError, match=r"torch.manual_seed in a pure function"):
        t2j(lambda x: (torch.manual_seed(5), torch.rand_like(x))[1])(jnp.ones(3), rng=jax.random.key(0))

"""Large programs begin as sequences of small ones: their results, when the whole takes over, how they are divided."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax.extend.core import ClosedJaxpr
from torch import nn

import tenax
from tenax.dispatch import outlined_start
from tenax.dispatch.aot_call import AotCall
from tenax.xla.folder import folder
from tenax.xla.outlined import costs, sequence
from tenax.xla.outlined.equations import flatten
from tenax.xla.outlined.fingerprint import Fingerprints, is_portable
from tenax.xla.outlined.repeats import parts
from tenax.xla.outlined.sequence import Sequenced
from tenax.xla.totals import totals
from tests.helpers.agreement import close

CALLS = 3  # that run the sequence


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[AotCall]]:
    """The options that users get, and limits that programs of tests exceed; the programs that began as sequences."""
    jax.devices()  # as many as the flags say
    monkeypatch.delenv("XLA_FLAGS")
    monkeypatch.setenv("TENAX_CACHE", "1")
    monkeypatch.setenv("TENAX_CACHE_DIR", str(tmp_path))
    folder.cache_clear()
    monkeypatch.setattr(outlined_start, "_WORTHWHILE", 0.03)
    monkeypatch.setattr(outlined_start, "_GAIN", 100)
    monkeypatch.setattr(outlined_start, "_MOST_CALLS", CALLS)
    monkeypatch.setattr(sequence, "_LARGEST", 24)
    made, begin = [], AotCall._begin

    def noting(self: AotCall, arrays: list[jax.Array]) -> Sequence[jax.Array]:
        results = begin(self, arrays)
        if self._start is not None:
            made.append(self)
        return results

    monkeypatch.setattr(AotCall, "_begin", noting)
    gc.collect()
    yield made
    made.clear()
    gc.collect()
    folder.cache_clear()


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(x)))


def model(layers: int = 6) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(11, 16), *(Block() for _ in range(layers)), nn.Linear(16, 11))


def training(module: nn.Module, dropout: float = 0.0) -> Callable[[torch.Tensor], torch.Tensor]:
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, eps=1e-2)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        y = nn.functional.dropout(module(x), dropout)
        loss = nn.functional.cross_entropy(y.flatten(0, 1), x.flatten())
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


TOKENS = torch.arange(10).reshape(2, 5)


def losses(wrap: Callable[[Any], Any], device: str, steps: int, dropout: float = 0.0) -> torch.Tensor:
    step = wrap(training(model().to(device), dropout))
    x = TOKENS.to(device)
    torch.manual_seed(1)
    return torch.stack([step(x).cpu() for _ in range(steps)])


def test_a_deep_model_trains_as_on_the_cpu(started: list[AotCall]) -> None:
    found = losses(tenax.jit, "jax", CALLS + 3)
    assert started
    close(found, losses(lambda f: f, "cpu", CALLS + 3))


@pytest.mark.slow
def test_equal_layers_are_compiled_once(started: list[AotCall]) -> None:
    step = tenax.jit(training(model(12).to("jax")))
    step(TOKENS.to("jax"))
    (call,) = started
    calls = call._start._sequence.calls  # type: ignore[union-attr]
    different = {c.key: c for c in calls}.values()
    assert sum(c.operations for c in different) < sum(c.operations for c in calls) / 4
    assert len(different) < len(calls) / 2


def test_the_whole_takes_over_at_the_same_call(started: list[AotCall]) -> None:
    first = losses(tenax.jit, "jax", CALLS + 2)
    (call, *_) = started
    assert call._start is None and call.call is not None
    started.clear()
    gc.collect()
    before = totals.compiled, totals.loaded
    assert losses(tenax.jit, "jax", CALLS + 2).equal(first)  # to the last bit, and from the folder of programs
    assert totals.loaded > before[1]
    assert started and totals.compiled == before[0]


def test_what_is_called_once_is_never_compiled_as_a_whole(started: list[AotCall]) -> None:
    function = tenax.jit(model().to("jax"))
    function(TOKENS.to("jax"))
    (call,) = started
    assert call.call is None and call._start is not None and call._start._whole is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("why", ["deterministic", "small", "large arrays", "options", "long run", "no gain"])
def test_what_is_compiled_as_a_whole_immediately(
    why: str, started: list[AotCall], monkeypatch: pytest.MonkeyPatch
) -> None:
    function: Any = tenax.jit(training(model().to("jax")))
    match why:
        case "deterministic":
            torch.use_deterministic_algorithms(True)
        case "small":
            monkeypatch.setattr(outlined_start, "_WORTHWHILE", 10)
        case "large arrays":
            monkeypatch.setattr(outlined_start, "_MOST_DONATED", 100)
        case "options":
            module = model().to("jax")
            chosen = {"compiler_options": {"xla_cpu_enable_fast_math": False}}
            function = torch.compile(module, backend="tenax", options=chosen)
        case "long run":
            monkeypatch.setattr(costs, "_ELEMENT", 1.0)
        case _:
            monkeypatch.setattr(outlined_start, "_GAIN", 0)
    try:
        function(TOKENS.to("jax"))
    finally:
        torch.use_deterministic_algorithms(False)
    assert not started


@pytest.mark.slow
def test_random_numbers_are_those_of_the_whole(started: list[AotCall], monkeypatch: pytest.MonkeyPatch) -> None:
    found = losses(tenax.jit, "jax", 2, dropout=0.5)
    assert started
    count = len(started)
    monkeypatch.setattr(outlined_start, "_WORTHWHILE", 1e9)
    close(found, losses(tenax.jit, "jax", 2, dropout=0.5))
    assert len(started) == count


@pytest.mark.slow
def test_lazy_mode_and_torch_compile_begin_with_sequences(started: list[AotCall]) -> None:
    expected = losses(lambda f: f, "cpu", 3)
    with tenax.lazy():
        close(losses(lambda f: f, "jax", 3), expected)
    assert started
    started.clear()
    module = model().to("jax").eval()
    close(torch.compile(module, backend="tenax")(TOKENS.to("jax")).cpu(), model().eval()(TOKENS))
    assert started


def test_an_index_out_of_range_is_an_error_in_a_sequence(started: list[AotCall]) -> None:
    function = tenax.jit(model().to("jax"))
    function(TOKENS.to("jax") + 5)
    with pytest.raises(IndexError, match="out of range"):
        torch.jax.synchronize()
    assert started


def test_results_share_no_array_with_each_other_or_the_arguments(started: list[AotCall]) -> None:
    state = torch.zeros(16, device="jax")

    @tenax.jit
    def step(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x
        for _ in range(40):
            y = (y * 1.5).sin()
        before = state.clone()
        state.add_(y.sum())
        return before, y, y.clone(), torch.full((3,), 2.0, device="jax")

    x = torch.ones(16, device="jax")
    kept = [step(x) for _ in range(CALLS + 2)]
    assert started
    total = kept[0][1].sum().cpu()
    for i, (before, y, again, two) in enumerate(kept):  # nothing was overwritten or donated that somebody holds
        close(before.cpu(), (total * i).expand(16))
        assert y.tolist() == again.tolist() and two.tolist() == [2.0] * 3
    assert x.tolist() == [1.0] * 16


def test_a_part_is_computed_before_it_is_written(started: list[AotCall]) -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        for _ in range(12):
            y[1:] = y[:-1].clone()
            y = y * 2
        return y

    x = torch.arange(24.0).reshape(6, 4)
    close(tenax.jit(step)(x.to("jax")).cpu(), step(x))
    assert started


def jaxpr(function: Callable[..., Any], *arguments: Any) -> ClosedJaxpr:
    return jax.make_jaxpr(function)(*arguments)


def test_a_sequence_computes_its_jaxpr(started: list[AotCall]) -> None:
    table = np.arange(100.0, dtype=np.float32)

    def nested(x: jax.Array, key: jax.Array) -> tuple[jax.Array, ...]:
        for _ in range(30):
            x = jnp.sin(x) + jnp.asarray(table)[:5]
            x = x * 2
        y = jax.random.uniform(key, (5,))
        return x, y + x, x, jnp.float32(3)

    def function(x: jax.Array, seed: jax.Array) -> Any:
        first, second = jax.random.split(jax.random.wrap_key_data(seed))
        return [*jax.jit(nested)(x, first), *jax.jit(nested)(x + 1, second), x, jax.lax.fori_loop(0, 3, jnp.add, 1)]

    arguments = jnp.arange(5.0), jax.random.key_data(jax.random.key(3))
    closed = jaxpr(function, *arguments)
    made = Sequenced(closed)
    assert not made.takes_keys() and len(made.calls) > 3
    made.begin("function", None)
    for _ in range(2):
        found = made(arguments)
        for a, b in zip(found, function(*arguments), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            close(a, b)
    pointers = [a.unsafe_buffer_pointer() for a in (*found, *arguments)]
    assert len(set(pointers)) == len(pointers)
    keys = jaxpr(lambda key: jax.random.split(key), jax.random.key(0))
    assert Sequenced(keys).takes_keys()


def test_settings_of_jax_have_programs_of_their_own(started: list[AotCall]) -> None:
    closed = jaxpr(lambda x: jnp.sin(x @ x) @ x, jnp.ones((3, 3)))
    made = []
    for precision in ("float32", "bfloat16", "float32"):
        with jax.default_matmul_precision(precision):
            made.append(Sequenced(closed))
            made[-1].begin("function", None)
            close(made[-1]([jnp.ones((3, 3))])[0], jnp.sin(jnp.full((3, 3), 3.0)) @ jnp.ones((3, 3)))
    assert made[0].calls[0].key == made[1].calls[0].key


def test_a_sequence_frees_what_no_later_call_needs(started: list[AotCall]) -> None:
    def function(x: jax.Array) -> jax.Array:
        for i in range(60):
            x = jnp.sin(x) * (i + 1.5)
        return x

    made = Sequenced(jaxpr(function, jnp.ones(1 << 12)))
    made.begin("function", None)
    alive = []
    inner = sequence.Call.__call__

    def counting(self: sequence.Call, arrays: list[jax.Array]) -> Any:
        alive.append(sum(a.size == 1 << 12 for a in jax.live_arrays()))
        return inner(self, arrays)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence.Call, "__call__", counting)
        made([jnp.ones(1 << 12)])
    assert len(alive) > 3 and max(alive) - alive[0] <= 2


def texts(function: Callable[..., Any], *arguments: Any) -> list[str]:
    prints = Fingerprints()
    return [prints.of(e.source, e.inputs) for e in flatten(jaxpr(function, *arguments)).equations]


def test_fingerprints_tell_equations_apart() -> None:
    x = jnp.ones(3)

    def with_table(table: np.ndarray) -> str:
        return "".join(texts(jax.jit(lambda x: x + jnp.asarray(table)), x))

    large = np.zeros(2000, np.float32)
    other = large.copy()
    other[1000] = 1  # which NumPy leaves out of the text of an array
    assert with_table(large[:3]) == with_table(large[3:6])
    x = jnp.ones(2000)
    assert with_table(large) == with_table(large.copy()) != with_table(other)
    x = jnp.ones(3)
    functions: list[Callable[[jax.Array], Any]] = [
        lambda x: x + 1.0,
        lambda x: x + 2.0,
        lambda x: x + jnp.nan,
        lambda x: x + (-0.0),
        lambda x: x + 0.0,
        lambda x: jnp.sum(x),
        lambda x: jnp.max(x),
        jax.jit(lambda x: x * 2),
        jax.jit(lambda x: x * 3),
        jax.nn.relu,
        jax.nn.silu,
        lambda x: jax.lax.fori_loop(0, 2, lambda i, x: x * 2, x),
        lambda x: jax.lax.fori_loop(0, 2, lambda i, x: x * 3, x),
        lambda x: jax.lax.gather(
            x,
            jnp.zeros((1, 1), jnp.int32),
            jax.lax.GatherDimensionNumbers((), (0,), (0,)),
            (1,),
            mode="clip",
        ),
    ]
    found = ["".join(texts(f, x)) for f in functions]
    assert len(set(found)) == len(found)
    assert found == ["".join(texts(f, x)) for f in functions]
    assert all(map(is_portable, found))
    assert not is_portable("".join(texts(lambda x: jax.pure_callback(np.sin, x, x), x)))
    assert texts(lambda x: x + 1, x) != texts(lambda x: x + 1, x.astype(jnp.bfloat16))


def test_parts_are_repeated_as_often_as_possible() -> None:
    once = list("abcdefghij")
    text = [*once, *("klmnopqrs" * 8), *once[::-1]]
    found = parts(text, [1] * len(text), 16)
    assert [i for part in found for i in part] == list(range(len(text)))
    assert max(map(len, found)) <= 16
    assert len({"".join(text[i] for i in part) for part in found}) <= 6


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_the_sequence(seed: int) -> None:
    generator = np.random.default_rng(seed)
    items = generator.integers(0, 4, generator.integers(0, 200)).tolist()
    sizes = [1 + 5 * (i == 3) for i in items]
    found = parts(items, sizes, 10)
    assert [i for part in found for i in part] == list(range(len(items)))
    assert all(len(part) == 1 or sum(sizes[i] for i in part) <= 10 for part in found)

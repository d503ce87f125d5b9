"""The device waits for what was dispatched: `torch.jax.synchronize`, streams, events, `torch.accelerator`."""

from __future__ import annotations

import gc
import time
import weakref

import jax
import pytest
import torch
import torch.utils.benchmark

import tenax

SIZE, ROUNDS, CALLS = 300, 10, 16


def heavy(x):
    for _ in range(ROUNDS):
        x = x @ x
    return x


@pytest.fixture(scope="module")
def work():
    """A compiled function whose result may be dropped, its argument, and the seconds that it takes."""
    function, x = tenax.jit(heavy), torch.full((SIZE, SIZE), 1e-3, device="jax")
    for _ in range(3):
        function(x)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        function(x).jax().block_until_ready()
        times.append(time.perf_counter() - start)
    return function, x, min(times)


WAITS = {
    "torch.jax.synchronize": lambda: torch.jax.synchronize(),
    "torch.accelerator.synchronize": lambda: torch.accelerator.synchronize(),
    "stream": lambda: torch.jax.current_stream().synchronize(),
    "torch.Stream": lambda: torch.Stream("jax").synchronize(),
    "event": lambda: torch.jax.current_stream().record_event().synchronize(),
    "torch.accelerator.current_stream": lambda: torch.accelerator.current_stream().synchronize(),
}


@pytest.mark.parametrize("name", WAITS)
def test_computations_whose_results_were_dropped_are_waited_for(name, work):
    function, x, seconds = work
    start = time.perf_counter()
    for _ in range(CALLS):
        function(x)
    WAITS[name]()
    assert time.perf_counter() - start > 2 * seconds  # however busy the machine was when it measured `seconds`
    result = function(x).jax()
    WAITS[name]()
    assert result.is_ready()


def test_waiting_keeps_no_array_alive():
    x = torch.ones(1 << 18, device="jax") + 1
    array = weakref.ref(x.jax())
    torch.jax.synchronize()
    del x
    gc.collect()
    assert array() is None


@pytest.mark.parametrize("kind", [lambda **o: torch.Event("jax", **o), lambda **o: torch.jax.Event(**o)])
def test_events_measure_time(kind, work):
    function, x, seconds = work
    start, end = kind(enable_timing=True), kind(enable_timing=True)
    start.record()
    for _ in range(CALLS):
        function(x)
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) > 2e3 * seconds
    with pytest.raises(ValueError, match="enable_timing"):
        kind().elapsed_time(end)
    with pytest.raises(ValueError, match="must be recorded"):
        kind(enable_timing=True).elapsed_time(end)


def test_an_event_is_finished_when_what_came_before_it_is(work):
    function, x, _ = work
    for _ in range(4 * CALLS):
        function(x)
    event = torch.jax.current_stream().record_event()
    assert not event.query() and not torch.jax.current_stream().query()
    event.synchronize()
    assert event.query()
    deadline = time.perf_counter() + 10
    while not torch.jax.current_stream().query():
        assert time.perf_counter() < deadline


def test_a_device_has_one_stream():
    stream = torch.jax.Stream()
    assert stream == torch.jax.current_stream() == torch.jax.default_stream() == torch.accelerator.current_stream()
    assert isinstance(stream, torch.Stream) and stream != torch.jax.Stream("jax:1")
    stream.wait_stream(torch.jax.Stream())
    stream.wait_event(torch.jax.Event())
    with torch.jax.stream(torch.jax.Stream("jax:1")):
        assert torch.jax.current_device() == 1
    with stream, torch.jax.stream(None):
        assert torch.jax.current_device() == 0
    assert isinstance(torch.jax.Event(), torch.Event) and isinstance(torch.Event("jax"), torch.jax.Event)
    with pytest.raises(NotImplementedError, match="interprocess"):
        torch.jax.Event(interprocess=True)


def test_synchronizing_while_a_function_is_traced():
    def step(x):
        torch.jax.synchronize()
        return x + 1

    assert tenax.jit(step)(torch.ones(2, device="jax")).tolist() == [2, 2]


def test_memory_is_counted():
    gc.collect()  # what other tests left
    torch.jax.reset_peak_memory_stats()
    before = torch.jax.memory_allocated()
    x = torch.ones(1 << 20, device="jax") + 1
    assert torch.jax.memory_allocated() - before >= x.nbytes
    assert torch.accelerator.memory_allocated() == torch.jax.memory_allocated() == torch.jax.memory_reserved()
    assert torch.jax.memory_allocated(1) < x.nbytes
    del x
    assert torch.jax.max_memory_allocated() >= torch.accelerator.max_memory_allocated() >= before + (4 << 20)
    assert torch.jax.max_memory_reserved() >= before + (4 << 20)
    torch.accelerator.reset_peak_memory_stats()
    assert torch.jax.max_memory_allocated() < before + (4 << 20)
    names = {
        f"{kind}_bytes.all.{moment}" for kind in ("active", "allocated", "reserved") for moment in ("current", "peak")
    }
    assert names <= torch.jax.memory_stats().keys() and names <= torch.accelerator.memory_stats().keys()
    torch.accelerator.empty_cache()
    torch.accelerator.empty_host_cache()
    torch.accelerator.reset_accumulated_memory_stats()
    with pytest.raises(NotImplementedError, match="reports no limit"):
        torch.accelerator.get_memory_info()


def test_torch_s_timer_measures_the_device(work):
    function, x, seconds = work
    measured = torch.utils.benchmark.Timer("f(x)", globals={"f": function, "x": x}).timeit(4)
    assert measured.median > 0.4 * seconds


def test_properties_of_a_device():
    properties = torch.jax.get_device_properties("jax:1")
    assert properties.name == torch.jax.get_device_name(1) and properties.platform == "cpu"
    assert properties.total_memory > 1 << 20 and properties.multi_processor_count >= 1
    with pytest.raises(AttributeError, match=r"torch\.jax.*no attribute 'nothing'"):
        torch.jax.nothing  # noqa: B018
    assert "Stream" in dir(torch.jax)


def test_random_state_of_all_devices():
    states = torch.jax.get_rng_state_all()
    assert len(states) == torch.jax.device_count()
    a = torch.rand(3, device="jax")
    torch.jax.set_rng_state_all(states)
    assert torch.equal(a, torch.rand(3, device="jax"))
    torch.jax.manual_seed_all(3)
    assert torch.jax.initial_seed() == 3


@pytest.mark.parametrize(
    "move",
    [
        lambda x: x.to("cpu", non_blocking=True),
        lambda x: x.to("cpu", torch.float64, non_blocking=True),
        lambda x: torch.nn.ParameterList([torch.nn.Parameter(x)]).to("cpu", non_blocking=True)[0],
        lambda x: torch.empty(3).copy_(x, non_blocking=True),
        lambda x: x.cpu().to("jax", non_blocking=True).cpu(),
    ],
)
def test_copies_that_need_not_block(move):
    moved = move(torch.arange(3.0, device="jax"))
    assert moved.device.type == "cpu" and moved.tolist() == [0, 1, 2]
    x = torch.ones(3, device="jax", requires_grad=True)
    x.to("cpu", non_blocking=True).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


class FailedArray:
    """An array whose computation ran out of memory after its operation had returned, as happens on accelerators."""

    nbytes = 1 << 43

    def is_deleted(self):
        return False

    def block_until_ready(self):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8.00TiB.")

    def __array__(self, *_):
        self.block_until_ready()


def test_synchronize_raises_the_error_of_an_array_once(monkeypatch):
    failed = FailedArray()
    monkeypatch.setattr(jax, "live_arrays", lambda: [failed])
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 8\.00TiB\. The process holds arrays of 8"):
        torch.jax.synchronize()
    torch.jax.synchronize()


@pytest.mark.parametrize("use", [torch.Tensor.cpu, repr, print, "{}".format], ids=["cpu", "repr", "print", "format"])
def test_a_value_that_could_not_be_computed_raises_the_error_of_torch(monkeypatch, use):
    x = torch.ones(3, device="jax")
    monkeypatch.setattr("tenax.trace.transfer.require_known", lambda value, use: FailedArray())
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 8\.00TiB"):
        use(x)

"""A compiled function notices changes of objects of Python's standard library, or raises where they cannot be seen.

Each program yields what a user sees after each call, with changes in between.
"""

from __future__ import annotations

import asyncio
import configparser
import contextvars
import copy
import hashlib
import hmac
import io
import mmap
import pickle
import queue
import string
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

import pytest
import torch

import tenax
from tenax._jit.visitors import reach
from tenax.errors import TraceError
from tests.jit.test_guards import Program, assert_noticed, given


def _events_and_queues(jit: Any) -> Iterator[Any]:
    stop, waiting = threading.Event(), queue.Queue()

    def take(x: torch.Tensor) -> torch.Tensor:
        waiting.put(1)
        y = x * waiting.qsize()
        if stop.is_set():
            stop.clear()
            return -y
        return y

    call = jit(take)
    for _ in range(2):
        yield call(given()), waiting.qsize(), stop.is_set()
        stop.set()
        waiting.put(2)
        yield call(given()), waiting.qsize(), stop.is_set()


def _arguments_of_an_exception(jit: Any) -> Iterator[Any]:
    error, missing = ValueError(2.0), OSError(2, "missing")
    call = jit(lambda x: x * error.args[0] * missing.errno * len(str(error.__cause__)))
    yield call(given())
    error.args = (3.0,)
    yield call(given())
    missing.errno = 5
    yield call(given())
    error.__cause__ = missing
    yield call(given())
    error.add_note("5")
    noted = jit(lambda x: x * int(error.__notes__[0]))
    yield noted(given())
    error.__notes__[0] = "7"
    yield noted(given())


def _cells(jit: Any) -> Iterator[Any]:
    cell = types.CellType(2.0)
    call = jit(lambda x: x * cell.cell_contents)
    for number in (2.0, 3.0):
        cell.cell_contents = number
        yield call(given())


def _objects_of_the_standard_library(jit: Any) -> Iterator[Any]:
    options, text, waiting = configparser.ConfigParser(), string.Template("$x"), asyncio.Queue[float]()
    options.read_dict({"model": {"scale": "2.0"}})
    scale = jit(lambda x: x * options.getfloat("model", "scale"))
    write = jit(lambda x: x * float(text.substitute(x=2)))
    take = jit(lambda x: x * waiting.get_nowait())
    for number in (2.0, 3.0, 4.0):
        waiting.put_nowait(number)
        options["model"]["scale"] = str(number)
        text.template = f"{number}$x"
        yield scale(given()), write(given())
        yield take(given()), waiting.qsize()


def _threads(jit: Any) -> Iterator[Any]:
    call = jit(lambda x: x * threading.active_count() + len(threading.enumerate()))
    named = jit(lambda x: x * len(threading.current_thread().name))
    yield call(given())
    ends = threading.Event()
    with ThreadPoolExecutor(1, "another thread") as pool:
        waiting = threading.Thread(target=ends.wait)
        waiting.start()
        yield call(given())
        ends.set()
        waiting.join()
        yield named(given())
        yield pool.submit(named, given()).result()


PROGRAMS: tuple[Program, ...] = (
    *(_events_and_queues, _arguments_of_an_exception, _cells, _objects_of_the_standard_library),
    _threads,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_change_is_noticed(program: Program) -> None:
    assert_noticed(program)


VARIABLE: contextvars.ContextVar[float] = contextvars.ContextVar("variable", default=2.0)
# Objects whose content no attribute shows, and a function that reads each.
UNSEEN: dict[str, tuple[Callable[[], Any], Callable[[Any], float]]] = {
    "SimpleQueue": (queue.SimpleQueue, lambda waiting: waiting.qsize()),
    "Element": (lambda: ElementTree.fromstring("<a scale='2'/>"), lambda root: float(root.get("scale"))),
    "mmap": (lambda: mmap.mmap(-1, 16), lambda memory: memory[0]),
    "Context": (contextvars.copy_context, lambda context: context.run(VARIABLE.get)),
    "StringIO": (lambda: io.StringIO("2"), lambda text: float(text.getvalue())),
    "BytesIO": (lambda: io.BytesIO(b"3"), lambda data: float(data.getvalue())),
    "HASH": (lambda: hashlib.sha256(b"a"), lambda digest: digest.digest()[0]),
    "blake2b": (lambda: hashlib.blake2b(b"a"), lambda digest: digest.digest()[0]),
    "HMAC": (lambda: hmac.new(b"k", b"a", "md5"), lambda digest: digest.digest()[0]),
}


@pytest.mark.parametrize("kind", UNSEEN)
def test_an_object_whose_changes_cannot_be_seen_raises(kind: str) -> None:
    make, read = UNSEEN[kind]
    held = make()
    message = rf"reaches held, a {kind}, whose content .*test_objects.py:\d+.*: read it outside and pass what it gives"
    with pytest.raises(tenax.errors.TraceError, match=message):
        tenax.jit(lambda x: x * read(held))(given())
    number = read(held)
    assert torch.equal(tenax.jit(lambda x: x * number)(given()), given() * number)


def test_an_assert_does_not_lead_into_pytest() -> None:
    """pytest rewrites it into calls of its own modules, which lead to everything that the session holds."""

    def function(x: torch.Tensor) -> torch.Tensor:
        assert x.dim() == 1
        return x

    assert "@pytest_ar" in function.__code__.co_names  # it was rewritten
    assert not [node.path for node in reach(function=function).nodes.values() if "pytest" in node.path]


class Trainer:
    def __init__(self) -> None:
        self.model = torch.nn.Linear(3, 1, device="jax")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.step = tenax.jit(self._step)

    def _step(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda trainer: pickle.loads(pickle.dumps(trainer))])
def test_a_copy_of_an_object_with_a_compiled_method_trains_its_own_model(copied: Callable[[Trainer], Trainer]) -> None:
    trainer, x = Trainer(), torch.ones(2, 3, device="jax")
    trainer.step(x)
    other, before = copied(trainer), trainer.model.weight.detach().clone()
    assert other.step.history == []
    losses = [other.step(x) for _ in range(3)]
    assert torch.equal(trainer.model.weight, before)
    assert [trainer.step(x) for _ in range(3)] == losses
    assert torch.equal(trainer.model.weight, other.model.weight)


def test_a_module_of_torchscript_is_refused() -> None:
    model = torch.jit.trace(torch.nn.Linear(3, 2), torch.ones(1, 3)).to("jax")
    with pytest.raises(TraceError, match=r"model is a module of TorchScript"):
        tenax.jit(lambda x: model(x))(torch.ones(1, 3, device="jax"))

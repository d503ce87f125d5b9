"""A compiled function notices changes of objects of Python's standard library, or raises where they cannot be seen.

Each program yields what a user sees after each call, with changes in between.
"""

from __future__ import annotations

import asyncio
import configparser
import contextvars
import hashlib
import hmac
import io
import mmap
import queue
import string
import threading
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

import pytest
import torch

import tenax
from tenax._jit.visitors import reach
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


def _an_element_of_xml(jit: Any) -> Iterator[Any]:
    root = ElementTree.fromstring("<a scale='2'><b>3</b></a>")
    call, x = jit(lambda x: x * float(root.get("scale")) * len(root) + float(root[0].text)), given()
    yield call(x)
    root.set("scale", "5")
    yield call(x)
    root[0].text = "7"
    yield call(x)
    ElementTree.SubElement(root, "c")
    yield call(x)


def _a_memory_map(jit: Any) -> Iterator[Any]:
    with mmap.mmap(-1, 16) as memory:
        memory[0] = 2
        call, x = jit(lambda x: x * memory[0]), given()
        yield call(x)
        memory[0] = 3
        yield call(x)


def _a_context(jit: Any) -> Iterator[Any]:
    variable: contextvars.ContextVar[float] = contextvars.ContextVar("variable")
    context = contextvars.copy_context()
    context.run(variable.set, 2.0)
    call, x = jit(lambda x: x * context[variable] * context.run(variable.get)), given()
    yield call(x)
    context.run(variable.set, 3.0)
    yield call(x)


def _files_in_memory(jit: Any) -> Iterator[Any]:
    text, data = io.StringIO("2"), io.BytesIO(b"3")
    call, x = jit(lambda x: x * float(text.getvalue()) + float(data.getvalue())), given()
    yield call(x)
    text.write("4")
    yield call(x)
    data.write(b"5")
    yield call(x)


def _hashes(jit: Any) -> Iterator[Any]:
    made = [hashlib.sha256(b"a"), hashlib.shake_128(b"a"), hashlib.blake2b(b"a"), hmac.new(b"k", b"a", "md5")]
    call, x = jit(lambda x: x * sum(h.digest(*([] if h.digest_size else [4]))[0] for h in made)), given()
    yield call(x)
    for i in range(4):
        made[i].update(b"b")
        yield call(x)


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
    *(_an_element_of_xml, _a_memory_map, _a_context, _files_in_memory, _hashes, _threads),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_change_is_noticed(program: Program) -> None:
    assert_noticed(program)


def test_a_queue_whose_content_cannot_be_read_raises() -> None:
    waiting: queue.SimpleQueue[float] = queue.SimpleQueue()
    waiting.put(2.0)
    with pytest.raises(tenax.errors.TraceError, match=r"reaches waiting, a SimpleQueue.*test_objects.py:\d+"):
        tenax.jit(lambda x: x * waiting.get())(given())


def test_reading_on_in_a_file_in_memory_raises_and_leaves_it_as_it_was() -> None:
    lines, data = io.StringIO("2\n3\n"), io.BytesIO(b"23")
    for read in (lambda x: x * float(lines.readline()), lambda x: x * float(data.read(1))):
        with pytest.raises(tenax.errors.TraceError, match=r"reads on in it.*test_objects.py:\d+"):
            tenax.jit(read)(given())
    assert lines.readline() == "2\n"
    assert data.read(1) == b"2"


def test_an_update_of_a_hash_raises() -> None:
    digest = hashlib.sha256(b"a")

    def change(x: torch.Tensor) -> torch.Tensor:
        digest.update(b"b")
        return x * digest.digest()[0]

    with pytest.raises(tenax.errors.TraceError, match=r"changes digest, an object of class HASH"):
        tenax.jit(change)(given())


def test_an_assert_does_not_lead_into_pytest() -> None:
    """pytest rewrites it into calls of its own modules, which lead to everything that the session holds."""

    def function(x: torch.Tensor) -> torch.Tensor:
        assert x.dim() == 1
        return x

    assert "@pytest_ar" in function.__code__.co_names  # it was rewritten
    assert not [node.path for node in reach(function=function).nodes.values() if "pytest" in node.path]


def test_a_change_of_an_xml_element_raises_and_leaves_it_as_it_was() -> None:
    root = ElementTree.fromstring("<a><b/></a>")
    child = root[0]

    def change(x: torch.Tensor) -> torch.Tensor:
        root.set("scale", "2")
        root.remove(child)
        return x

    with pytest.raises(tenax.errors.TraceError, match=r"changes root, an object of class Element"):
        tenax.jit(change)(given())
    assert root[0] is child
    assert not root.attrib

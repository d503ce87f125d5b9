"""Executables of the first device as files: written after compilation, loaded by later processes."""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable
from typing import Any, TypeVar

import jax
from jax.experimental.serialize_executable import deserialize_and_load, serialize

from . import folder
from .environment import key_of
from .totals import totals
from .waiting import waiting_for

logger = logging.getLogger("tenax")
T = TypeVar("T")
LOADED = "/tenax/program_loaded"  # an event of `jax.monitoring`


def load(key: str) -> tuple[jax.stages.Compiled, int] | None:
    """Load a stored executable, and the number that was stored with it; None if this process cannot load it."""
    body = folder.read(key)
    if body is None:
        return None
    start = time.perf_counter()
    try:
        (payload, in_tree, out_tree), note = pickle.loads(body)
        compiled = deserialize_and_load(payload, in_tree, out_tree, execution_devices=jax.local_devices()[:1])
    except Exception as error:  # whatever unpickling or XLA raises: the program is compiled again
        logger.info("a stored program cannot be loaded: %s: %s", type(error).__name__, error)
        folder.discard(key)
        return None
    seconds = time.perf_counter() - start
    totals.loaded += 1
    totals.load_seconds += seconds
    jax.monitoring.record_event_duration_secs(LOADED, seconds)
    return compiled, note


def store(key: str, compiled: jax.stages.Compiled, note: int = 0) -> None:
    """Write an executable and a number. If XLA cannot serialize it, each process compiles it again.

    One of several devices, over which a constraint to a mesh spreads a program, is not written.
    """
    if jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined, unused-ignore]
        return  # it may come from JAX's own cache, and a loaded executable cannot be serialized again
    if len(compiled.runtime_executable().local_devices()) > 1:  # type: ignore[union-attr]
        return
    try:
        body = pickle.dumps((serialize(compiled), note))
    except Exception as error:
        logger.info("a compiled program is not kept: %s: %s", type(error).__name__, error)
        return
    folder.write(key, body)


def remembered(name: str | None, find_out: Callable[[], T]) -> T:
    """The result of `find_out`, which is stored under a name so that later processes need not compute it again."""
    key = None if name is None or folder.folder() is None else key_of("facts", name) + ".facts"
    body = None if key is None else folder.read(key)
    facts: T = find_out() if body is None else pickle.loads(body)
    if key is not None and body is None:
        folder.write(key, pickle.dumps(facts))
    return facts


def compile_or_load(name: str, lowered: jax.stages.Lowered, *facts: Any) -> jax.stages.Compiled:
    """Load the stored executable of a lowered program, or compile and store it.

    Args:
        name: its name in messages.
        lowered: the program; the executable is stored under its text.
        facts: further parts of the key, which the text does not contain.
    """
    key, text = None, "" if folder.folder() is None else lowered.as_text()
    if text and "callback" not in text:  # the text of a callback contains a pointer into this process
        weak = [x.weak_type for x in jax.tree.leaves((lowered.in_avals, lowered.out_info))]
        key = key_of(text, lowered.in_tree, lowered.out_tree, weak, *facts)
        found = load(key)
        if found is not None:
            return found[0]
    with waiting_for(name):
        compiled = lowered.compile()
    if key is not None:
        store(key, compiled)
    return compiled

"""The takeover: good code replaces a program's first code after a fixed number of calls.

Halfway, the program is traced and lowered again and compiled by a thread; at the end, that thread is waited for. So it
is always the same call that first runs good code, however long the compilation takes.
"""

from __future__ import annotations

import logging
from typing import Any

import jax

from .._jax import ask_again, trace_state_clean
from .ahead import BackgroundWork
from .lowering import LoweredProgram
from .options import has_one_tier
from .program import EagerProgram, observed
from .waiting import waiting_for

logger = logging.getLogger("tenax")


def advance(program: EagerProgram, call: Any, operands: tuple[Any, ...]) -> None:
    """Take the next step: start compiling good code, or switch to it.

    Args:
        program: the program, which has counted half of its calls.
        call: JAX's function that runs it.
        operands: the operands of the call that is about to run.
    """
    if not trace_state_clean() or program.made_for is None or program.signature(operands) != program.made_for:
        return  # this call does not use the executable
    try:
        if program.good is None:
            program.good = begin(program, operands)
        if program.taken >= program.calls or has_one_tier():
            finish(program, call)
    except Exception as error:  # whatever XLA raises, such as out of memory: the first code still works
        logger.warning("%s stays in code that is slow: %s: %s", program.function.__name__, type(error).__name__, error)
        program.calls = 0


def begin(program: EagerProgram, operands: tuple[Any, ...]) -> Any:
    """Return a function that returns the good code, which is stored already or compiled by a thread."""
    signature: Any = program.made_for
    found = program.load(signature, good=True)
    if found is not None:
        return lambda: found
    lowered, key = LoweredProgram(program.trace(operands)), program.key_for(signature, good=True)
    name = program.function.__name__

    def compiled() -> jax.stages.Compiled:
        with waiting_for(f"good code of {name}", blocks=False):
            return program.compile(lowered, key, good=True)

    work = BackgroundWork(compiled)
    work.start()
    return work.result


def finish(program: EagerProgram, call: Any) -> None:
    """Make all calls run the good code."""
    signature, good = program.made_for, program.good
    if good is None or signature is None:
        return  # another thread has finished
    executable = good()
    program.calls, program.good = 0, None
    program.keep(executable, signature)
    ask_again(call)
    if (holder := program.holder()) is not None:
        holder.run = observed(call, program)

"""A program as a sequence of calls of smaller ones, of which equal ones are compiled once."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var

from ..._jax import (
    apply_jaxpr,
    direct_call,
    kept_arguments,
    physical_aval,
    put_on_first_device,
    random_keys,
    trace_settings,
)
from ..ahead import PendingExecutable
from ..options import Options
from ..program import EagerProgram
from . import costs
from .equations import Equation, flatten
from .fingerprint import Fingerprints, is_portable
from .repeats import parts

_LARGEST = 128  # operations of a program of more than one equation

# The programs of the sequences that are alive: the second step of a training loop shares most of those of the first.
_programs: weakref.WeakValueDictionary[tuple[Any, ...], EagerProgram] = weakref.WeakValueDictionary()


class Call:
    """A call of a program within a sequence."""

    def __init__(self, equations: list[Equation], texts: list[str], each: list[costs.Cost]) -> None:
        self.equations = equations
        self.operations, self.seconds = sum(c.operations for c in each), sum(c.seconds for c in each)
        numbers: dict[Var, int] = {}
        self.inputs: list[Var] = []
        self.results: list[Var] = []  # those that a later call needs
        self.dead: list[Var] = []  # inputs that no later call needs
        made: list[Var] = []
        lines = []
        for equation, text in zip(equations, texts, strict=True):
            variables = [v for v in equation.inputs if v.__class__ is Var]
            self.inputs += [v for v in dict.fromkeys(variables) if v not in numbers]
            for v in (*variables, *equation.outputs):
                numbers.setdefault(v, len(numbers))
            made += equation.outputs
            lines.append(f"{text}{[numbers[v] for v in variables]}{[numbers[v] for v in equation.outputs]}")
        self._made, self._numbers, self._lines = made, numbers, lines
        self._program: PendingExecutable | None = None
        self._execute: Callable[[list[jax.Array]], Any] | None = None
        self._handlers: Sequence[Any] = ()
        self._kept: Sequence[int] = ()

    def end(self, place: int, last: dict[Var, int]) -> None:
        """Set what depends on later calls: `last` is the place of the last call that needs a variable."""
        self.results = [v for v in self._made if last.get(v, -1) > place]
        self.dead = [v for v in self.inputs if last[v] == place]
        text = "\n".join([*self._lines, str([self._numbers[v] for v in self.results])])
        # The text of an object without a text of its own differs in each process.
        self.key = hashlib.sha256(text.encode()).hexdigest() if is_portable(text) else text

    def begin(self, jaxpr: Jaxpr, name: str, options: Options | None) -> None:
        """Load the program, or start its compilation.

        Args:
            jaxpr: that of which the call is a part.
            name: its name in messages.
            options: those of XLA that all programs of the process have, besides those of their tier.
        """
        place = self.key, trace_settings()
        program = _programs.get(place)
        if program is None:
            body = _body(jaxpr, self.inputs, self.results, self.equations)
            part = _function(body)
            part.__name__ = name
            program = EagerProgram(part, self.key if is_portable(self.key) else None, (), options=options)
            _programs[place] = program
        self._program = PendingExecutable.begin(program, tuple(physical_aval(v.aval) for v in self.inputs))

    def __call__(self, arrays: list[jax.Array]) -> Sequence[jax.Array]:
        """Run the program, waiting for its compilation if necessary."""
        if self._execute is None:
            assert self._program is not None
            compiled = self._program.wait()
            self._execute, self._handlers = direct_call(compiled)
            self._kept = kept_arguments(compiled)
        results: Sequence[jax.Array] = self._execute([arrays[i] for i in self._kept]).consume_with_handlers(
            self._handlers
        )
        return results


class Sequenced:
    """The calls that compute a jaxpr."""

    def __init__(self, closed: ClosedJaxpr) -> None:
        flat = flatten(closed)
        self.jaxpr = closed.jaxpr
        self.inputs, self.results = flat.inputs, flat.results
        with jax.enable_x64(True):
            self.constants = {v: _on_device(c) for v, c in flat.constants.items()}
        prints = Fingerprints()
        equations = flat.equations
        texts = [prints.of(e.source, e.inputs) for e in equations]
        each = [costs.cost(e.source) for e in equations]
        divided = [slice(p.start, p.stop) for p in parts(texts, [c.operations for c in each], _LARGEST)]
        self.calls = [Call(equations[p], texts[p], each[p]) for p in divided]
        last = {v: place for place, call in enumerate(self.calls) for v in call.inputs}
        last.update({v: len(self.calls) for v in self.results if v.__class__ is Var})
        for place, call in enumerate(self.calls):
            call.end(place, last)

    def takes_keys(self) -> bool:
        """Whether random keys, and not only their data, are among its arguments, results or constants."""
        return any(map(_is_key, (*self.inputs, *self.results, *self.constants)))

    def whole_seconds(self) -> float:
        """The estimated seconds to compile all of it as one program."""
        return costs.whole(sum(call.operations for call in self.calls))

    def apart_seconds(self) -> float:
        """The estimated seconds to compile the different programs."""
        return sum(costs.apart(call.operations) for call in {call.key: call for call in self.calls}.values())

    def run_seconds(self) -> float:
        """The estimated seconds of a run."""
        return sum(costs.call(call.seconds) for call in self.calls)

    def begin(self, name: str, options: Options | None) -> None:
        """Load the programs, or start their compilation; see `Call.begin`."""
        with jax.enable_x64(True):
            for call in self.calls:
                call.begin(self.jaxpr, name, options)

    def __call__(self, arrays: Sequence[jax.Array]) -> list[jax.Array]:
        """The results, each an array of its own; arrays that no later call needs are freed on the way."""
        values: dict[Var, Any] = {**dict(zip(self.inputs, arrays, strict=True)), **self.constants}
        taken = set(map(id, values.values()))
        for call in self.calls:
            made = call([values[v] for v in call.inputs])
            for variable in call.dead:
                del values[variable]
            values.update(zip(call.results, made, strict=True))
        results: list[jax.Array] = []
        for variable in self.results:
            array = _literal(variable) if variable.__class__ is Literal else values[variable]
            results.append(jnp.copy(array) if id(array) in taken else array)
            taken.add(id(array))
        return results


def _body(jaxpr: Jaxpr, inputs: list[Var], results: list[Var], equations: list[Equation]) -> Jaxpr:
    """Some equations of a jaxpr as a jaxpr of their own."""
    info = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    rebound = [e.rebound() for e in equations]
    return jaxpr.replace(
        constvars=(), invars=inputs, outvars=results, eqns=rebound, effects=frozenset(), debug_info=info
    )


def _function(body: Jaxpr) -> Callable[..., list[jax.Array]]:
    """A jaxpr as a function, which is passed and returns the data of random keys."""

    def part(*arrays: jax.Array) -> list[jax.Array]:
        given = [random_keys(a, v.aval) if _is_key(v) else a for a, v in zip(arrays, body.invars, strict=True)]
        results = apply_jaxpr(body, (), given)
        return [jax.random.key_data(r) if _is_key(v) else r for r, v in zip(results, body.outvars, strict=True)]

    return part


def _is_key(variable: Any) -> bool:
    """Whether a variable is an array of random keys."""
    return jnp.issubdtype(variable.aval.dtype, jax.dtypes.prng_key)


def _on_device(constant: Any) -> jax.Array:
    """A constant as an array. `jnp.asarray` would compile a program that copies it."""
    return constant if isinstance(constant, jax.Array) else put_on_first_device(np.asarray(constant))


def _literal(literal: Any) -> jax.Array:
    with jax.enable_x64(True):
        return jnp.array(literal.val, literal.aval.dtype)  # a copy, because calls share the value

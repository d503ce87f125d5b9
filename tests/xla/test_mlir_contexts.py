"""MLIR contexts of small programs: one at a time has a context, which ends after some of them."""

from __future__ import annotations

import inspect
import os
import re

import jax
import jax.numpy as jnp
import pytest
from jax._src.interpreters import mlir
from jax.extend.core import Primitive

from tenax.xla import lowering
from tenax.xla.lowering import LoweredProgram
from tests.helpers.processes import run


@pytest.fixture(autouse=True)
def no_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "_free", [])


def lowered(number: float = 1.0) -> LoweredProgram:
    return LoweredProgram(jax.jit(lambda x: x + number).trace(jnp.ones(3)))


def test_a_compiled_program_leaves_its_context_to_the_next() -> None:
    first = lowered()
    context = first._context
    assert float(first.compile(None)(jnp.ones(3))[0]) == 2
    second = lowered(2.0)
    assert second._context is context
    assert float(second.compile(None)(jnp.ones(3))[0]) == 3


def test_programs_that_wait_for_compilation_share_no_context() -> None:
    first, second = lowered(), lowered()
    assert first._context.context is not second._context.context
    first.compile(None), second.compile(None)
    assert lowering._free == [first._context, second._context]


def test_text_is_that_of_a_context_of_its_own() -> None:
    def f(x: jax.Array) -> jax.Array:
        return jnp.sort(x).sum()

    lowered().compile(None)
    assert LoweredProgram(jax.jit(f).trace(jnp.ones(3))).text == jax.jit(f).lower(jnp.ones(3)).as_text()


def test_a_context_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "_MOST", 1)
    lowered().compile(None)
    assert lowering._free == []


def test_programs_of_the_user_have_contexts_of_their_own() -> None:
    lowered().compile(None)
    (context,) = lowering._free
    module = jax.jit(jnp.cos).lower(1.0).compiler_ir("stablehlo")
    assert module.context is not context.context


def test_contexts_have_the_dialects_of_jax() -> None:
    # The source of the module, because tenax replaces the function.
    source = re.split(r"def _?(?:make|create)_ir_context\(", inspect.getsource(mlir))[1].partition("return context")[0]
    registered = re.findall(r"dialects\.(\w+)\.register_\w*dialect\(context\)", source)
    assert registered == ["sdy", "mpmd", "mhlo", "chlo", "hlo"]  # otherwise, change `_jax.mlir_context`
    assert re.findall(r"context\.(\w+)\(", source)[:3] == [
        *("append_dialect_registry", "load_all_available_dialects", "set_thread_pool")
    ]


def test_lowering_does_not_import_the_python_module_of_mhlo() -> None:
    code = "import sys, torch, tenax; torch.ones(3, device='jax').exp().sum().item(); print(*sys.modules)"
    modules = run(code, env={**os.environ, "TENAX_CACHE": "0"}).stdout.split()
    assert "tenax.xla.lowering" in modules
    assert "jaxlib.mlir.dialects.mhlo" not in modules


def test_a_failure_ends_the_use_of_a_context() -> None:
    primitive = Primitive("unknown_to_mlir")
    primitive.def_abstract_eval(lambda x: x)
    with pytest.raises(NotImplementedError, match="unknown_to_mlir"):
        LoweredProgram(jax.jit(primitive.bind).trace(jnp.ones(3)))
    assert lowering._lowering.context is None
    assert lowering._free == []

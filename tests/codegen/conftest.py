"""A small tree of specs and kernels, and the supported schemas read once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tenax.codegen.build import Build, build
from tenax.codegen.schema import Schemas, supported
from tenax.codegen.tree import PACKAGE, Tree

KERNELS = """
def gelu(self, *, approximate="none"):
    return self


def erf(input):
    return input


def relu(self):
    return self


def plus(self, beta, threshold):
    return self


def softplus(self, beta=1, threshold=0):
    return self


def mean(self, dim=None, keepdim=False, *, dtype=None):
    return self


sin = cos = gelu


def _curve(self, *, approximate="none", scale):
    return self


narrow = partial(_curve, scale=2)
tanh = partial(_curve, approximate="tanh")
"""

CALLED = """
def expand(signature, indices):
    return list


def move(signature, *arguments):
    return list


def widen_out(signature, argument):
    return list


def in_axis(self, dim=0):
    pass


def contiguous(values, outputs, rows=0):
    return outputs
"""


@pytest.fixture(scope="session")
def schemas() -> Schemas:
    return supported()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with the real words, one module of kernels, one of other functions, and no spec."""
    for folder in ("ops_spec", "generated", "runtime/kernels", "runtime/aten"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(PACKAGE / "runtime" / "words.py", tmp_path / "runtime")
    (tmp_path / "runtime" / "kernels" / "curve.py").write_text(KERNELS)
    (tmp_path / "runtime" / "aten" / "called.py").write_text(CALLED)
    return tmp_path


@pytest.fixture
def built(root: Path, schemas: Schemas) -> Callable[..., Build]:
    """Build from the text of spec files, named by family; `ops` is the first."""

    def make(ops: str = "", **families: str) -> Build:
        # A family `checks` is the file of named checks.
        for family, text in {"ops": ops, **families}.items():
            (root / "ops_spec" / f"{family}.yaml").write_text(text)
        return build(Tree.at(root), schemas)

    return make

"""The names that a user and their editor see: in `dir(tenax)`, in types, and on the command line."""

from __future__ import annotations

import typing

import torch
from typer.testing import CliRunner

import tenax
from tenax.cli import app
from tests.helpers.processes import run


def test_every_public_name_is_listed_and_resolves_in_a_fresh_process():
    program = """
import tenax
listed = set(dir(tenax))
assert listed >= set(tenax.__all__), set(tenax.__all__) - listed
for name in listed:
    getattr(tenax, name)
print(len(listed))
"""
    assert int(run(program).stdout) == len(tenax.__all__) + 1


def test_dir_lists_no_module_that_only_the_runtime_uses():
    assert not {"aten", "storage", "patches", "Any", "annotations"} & set(dir(tenax))


def test_jit_keeps_the_type_of_what_it_compiles():
    direct, decorator = typing.get_overloads(tenax.jit)
    hints = typing.get_type_hints(direct)
    assert hints["function"] is hints["return"]
    returned = typing.get_type_hints(decorator)["return"]
    assert typing.get_args(returned) == ([hints["return"]], hints["return"])


def test_jit_keeps_name_signature_and_docstring():
    def step(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
        """Scale a tensor."""
        return x * scale

    compiled = tenax.jit(step)
    assert (compiled.__name__, compiled.__doc__) == ("step", "Scale a tensor.")
    assert typing.get_type_hints(compiled) == typing.get_type_hints(step)


def test_the_command_prints_its_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"tenax {tenax.__version__}\n"

"""The autocast policies: read with their place, checked against torch's schemas, rendered as a table."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tenax.codegen import policy
from tenax.codegen.build import Build
from tenax.codegen.schema import Schemas

Built = Callable[..., Build]

FP32 = "- policy: fp32\n  meaning: m\n  ops: [exp, dist]\n"


@pytest.fixture
def load(tmp_path: Path, schemas: Schemas) -> Callable[[str], tuple[list[policy.Policy], list[str]]]:
    def loaded(text: str) -> tuple[list[policy.Policy], list[str]]:
        path = tmp_path / "autocast.yaml"
        path.write_text(text)
        found, faults = policy.load(path, "ops_spec/autocast.yaml", schemas)
        return found, [str(f) for f in faults]

    return loaded


REFUSED = {
    "an unknown op": ("fp32", "[exq]", "torch .* has no exq; expected .*`exp`"),
    "an unknown overload": ("fp32", "[sum.dims]", "torch .* has no sum.dims; expected one of"),
    "an op that writes": ("fp32", "[exp_]", "exp_ writes its arguments; expected an overload with a new result"),
    "an op without tensors": ("fp32", "[eye]", "eye has no Tensor before its keywords; expected a Tensor to cast"),
    "a dtype that is not there": (
        "fp32_set_opt_dtype",
        "[exp]",
        "exp has no argument `dtype`; expected the policy fp32",
    ),
    "an overload that does not fit": (
        "fp32_append_dtype",
        "{norm.Scalar: norm.ScalarOpt_dim_dtype}",
        r"norm.ScalarOpt_dim_dtype takes \(self, p, dim, keepdim, dtype\); expected \(self, p, dtype\)",
    ),
    "a list where a mapping belongs": (
        "fp32_append_dtype",
        "[norm.Scalar]",
        "`ops` of fp32_append_dtype is a sequence",
    ),
    "an op twice": ("fp32", "[exp, exp]", "exp already has a policy at line 3; expected one policy"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_op_is_refused_at_its_line(load: Callable, name: str) -> None:
    kind, ops, message = REFUSED[name]
    found, [said] = load(f"- policy: {kind}\n  meaning: m\n  ops: {ops}\n")
    assert [p.name for p in found] == (["exp"] if "twice" in name else [])
    assert re.match(f"ops_spec/autocast.yaml:3: {message}", said), said


MALFORMED = {
    "- policy: fp16\n  meaning: m\n  ops: [exp]\n": "1: unknown policy `fp16`; expected one of `lower_precision_fp`, ",
    "- policy: fp32\n  meaning: m\n": "1: an entry without `ops`; expected policy, meaning and ops",
    FP32 + "  reason: r\n": "1: unknown key `reason`; expected one of `policy`, `meaning`, `beyond`, `error`, `ops`",
    FP32 + "  error: r\n": "1: fp32 with `error`; expected `error` with banned, and only there",
    "- policy: banned\n  meaning: m\n  ops: [exp]\n": "1: banned without `error`; expected `error` with banned",
    FP32 + "  ops: [exp]\n": "1: the key `ops` appears twice; expected it once",
    "- exp\n": "1: an entry that is not a mapping; expected `- policy: <kind>` and further keys",
    "policy: fp32\n": "1: the file is not a list; expected `- policy: <kind>` entries",
}


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_entry_is_refused(load: Callable, text: str) -> None:
    found, [said] = load(text)
    assert not found
    assert said.startswith(f"ops_spec/autocast.yaml:{MALFORMED[text]}")


def test_positions_are_read_from_the_schema(load: Callable) -> None:
    text = (
        "- policy: promote\n  meaning: m\n  ops: [index_put, addcdiv]\n"
        "- policy: fp32_set_opt_dtype\n  meaning: m\n  ops: [softmax.int, sum]\n"
    )
    found, faults = load(text)
    assert not faults
    assert [(p.name, p.tensors, p.lists, p.dtype) for p in found] == [
        ("addcdiv", (0, 1, 2), (), None),
        ("index_put", (0, 2), (1,), None),
        ("softmax.int", (0,), (), 2),
        ("sum", (0,), (), None),
    ]


def test_the_table_holds_one_line_for_each_op(root: Path, built: Built) -> None:
    build = built(autocast=FP32 + "- policy: banned\n  meaning: m\n  error: no\n  ops: [relu]\n")
    assert not build.faults
    made = build.files()[root / "generated" / "autocast.py"]
    held: dict = {}
    exec(made, held)
    rows = {name: tuple(row) for name, row in held["POLICIES"].items()}
    assert rows == {
        "dist": ("fp32", (0, 1), (), None, "", ""),
        "exp": ("fp32", (0,), (), None, "", ""),
        "relu": ("banned", (), (), None, "", "no"),
    }
    assert '    "exp": Policy("fp32", tensors=(0,)),\n' in made


def test_a_wrong_policy_leaves_the_others_in(built: Built) -> None:
    build = built(autocast=FP32.replace("dist", "dust"))
    assert [str(f) for f in build.faults if f.file == "ops_spec/autocast.yaml"]
    assert [p.name for p in build.policies] == ["exp"]


def test_only_writes_the_table_of_policies_when_it_is_named(root: Path, built: Built) -> None:
    build = built("- func: relu(Tensor self) -> Tensor\n  jnp: jnp.maximum(self, 0)\n", autocast=FP32)
    path = root / "generated" / "autocast.py"
    assert path in build.files(["autocast"])
    assert path not in build.files(["ops"])

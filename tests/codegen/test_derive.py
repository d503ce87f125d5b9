"""Derivation: one functional entry gives every variant that torch has of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tenax.codegen.build import Build

Built = Callable[..., Build]


def rows(build: Build) -> dict[str, tuple[str, str]]:
    assert not build.faults
    return {r.name: (r.function, r.form) for r in build.rows}


def test_in_place_and_out_follow_from_the_functional_overload(built: Built) -> None:
    text = "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n  jnp: self + alpha * other\n"
    assert rows(built(text)) == {
        "add.Tensor": ("add__Tensor", "functional"),
        "add_.Tensor": ("add__Tensor", "inplace"),
        "add.out": ("add__Tensor", "out"),
    }


def test_an_in_place_only_op_gives_its_functional_and_out_forms(built: Built) -> None:
    text = (
        "- func: normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)\n"
        "  random: true\n  jnp: self\n"
    )
    assert rows(built(text)) == {
        "normal_": ("normal_", "inplace"),
        "normal_functional": ("normal_", "functional"),
        "normal.out": ("normal_", "out"),
    }


def test_a_list_op_is_derived_like_any(built: Built) -> None:
    text = (
        "- func: _foreach_neg(Tensor[] self) -> Tensor[]\n  each: neg(self)\n"
        "- func: neg(Tensor self) -> Tensor\n  jnp: -self\n"
    )
    derived = rows(built(text))
    assert derived["_foreach_neg_"] == ("_foreach_neg", "inplace")
    assert derived["_foreach_neg.out"] == ("_foreach_neg", "out")


@pytest.mark.parametrize(
    ("func", "out"),
    [
        (
            "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, "
            "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
            "arange.start_out",
        ),
        ("sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", "sigmoid_backward.grad_input"),
    ],
)
def test_out_variants_under_another_overload_name_are_found(func: str, out: str, built: Built) -> None:
    derived = rows(built(f"- func: {func}\n  jnp: jnp.zeros(())\n"))
    assert derived[out] == (func.partition("(")[0].replace(".", "__"), "out")


def test_a_variant_with_other_arguments_is_not_derived(built: Built) -> None:
    derived = rows(built("- func: sum(Tensor self, *, ScalarType? dtype=None) -> Tensor\n  jnp: self\n"))
    assert "sum.IntList_out" not in derived


def test_a_variant_that_torch_decomposes_itself_is_left_to_torch(built: Built) -> None:
    text = "- func: matmul(Tensor self, Tensor other) -> Tensor\n  jnp: self @ other\n  grad: vjp\n"
    build = built(text)
    assert list(rows(build)) == ["matmul"]
    assert build.statuses["matmul.out"].status == "composite"


def test_a_variant_with_an_entry_of_its_own_is_not_derived(built: Built) -> None:
    text = (
        "- func: relu(Tensor self) -> Tensor\n  jnp: self\n"
        "- func: relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  unsupported: for this test\n"
    )
    build = built(text)
    assert list(rows(build)) == ["relu", "relu_"]
    assert build.statuses["relu.out"].reason == "for this test"


def test_every_native_function_has_one_status(built: Built) -> None:
    build = built("- func: relu(Tensor self) -> Tensor\n  jnp: self\n")
    held = {name: build.statuses[name].status for name in build.schemas.functions}
    wanted = {
        "relu": "lowered",
        "relu_": "derived",
        "reshape": "composite",
        "zeros": "decomposed",
        "_cudnn_rnn": "unsupported",
        "mm": "missing",
    }
    assert {name: held[name] for name in wanted} == wanted

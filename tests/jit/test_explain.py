"""`tenax.explain`: why a compiled function was traced, and what its programs are."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import pytest
import torch
from torch import nn

import tenax


def test_many_programs_warn_with_the_reason() -> None:
    compiled = tenax.jit(lambda x, n: x * int(n))
    x = torch.ones(2, device="jax")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(9):
            assert compiled(x, str(n)).tolist() == [n, n]
    assert any("traced 8 times" in str(w.message) for w in caught)


def test_explain_names_the_arguments_and_modes_that_differed() -> None:
    f = tenax.jit(lambda x, scale=1, **rest: x * scale)
    x = torch.ones(2, 3, device="jax")
    f(x)
    f(x.T)
    with torch.no_grad(), torch.autocast("jax", torch.bfloat16):
        f(x.T)
    f(x.double().requires_grad_(), 2)
    f(x.double(), 2, other=[x])
    f(x.double(), True)
    reasons = [t.reason for t in tenax.explain(f).traces][1:]
    assert reasons == [
        "x was float32[2, 3] and is float32[3, 2] of strides (1, 3)",
        "grad mode was on and is off; autocast of jax was off and is bfloat16",
        "x was float32[3, 2] of strides (1, 3) and is float64[2, 3] that requires grad; grad mode was off and is on; "
        "autocast of jax was bfloat16 and is off; 1 more",
        "x was float64[2, 3] that requires grad and is float64[2, 3]; other[0] is new: float32[2, 3]",
        "scale was 2 and is True; other[0] is gone",
    ]


def _reason(f: Any, *calls: Any) -> str:
    """The reason of the last trace, which the last of some calls needs."""
    for args in calls:
        before = len(tenax.explain(f).traces)
        f(*args)
    (trace,) = tenax.explain(f).traces[before:]
    return trace.reason


def test_explain_tells_apart_arguments_of_equal_shape() -> None:
    f = tenax.jit(lambda x, y: x * y[0] if isinstance(y, (list, tuple)) else x * y)
    x, base = torch.ones(3, device="jax"), torch.ones(5, device="jax")
    assert _reason(f, (x, x.clone()), (x, x)) == "y was float32[3] and is float32[3], the same tensor as x"
    assert _reason(f, (x, x[:])).endswith("the same tensor as x and is float32[3], sharing memory with x")
    assert _reason(f, (x, base[::2])).endswith("sharing memory with x and is float32[3] of strides (2,)")
    assert _reason(f, (x, nn.Parameter(x.clone(), False))).endswith("of strides (2,) and is Parameter float32[3]")
    assert _reason(f, (x, [x.clone()])) == "y is gone; y[0] is new: float32[3]"
    assert _reason(f, (x, (x.clone(),))) == "y was a list and is a tuple"
    tagged, y = tenax.jit(lambda x: x * 2), x.clone()
    y.tag = 3
    assert _reason(tagged, (x,), (y,)) == "x was float32[3] and is float32[3], with tag=3"
    keyed = tenax.jit(lambda x, y: y["a"] * x)
    assert _reason(keyed, (x, {"a": 2, "b": 3}), (x, {"b": 3, "a": 2})) == (
        "y was a dict of ['a', 'b'] and is a dict of ['b', 'a']"
    )
    keyed(x=x, y={"b": 3, "a": 2})
    assert tenax.explain(keyed).traces[-1].reason == (
        "the number of positional arguments was 2 and is 0; the list of keywords was [] and is ['x', 'y']"
    )


def test_explain_names_the_number_on_which_a_choice_depends() -> None:
    f = tenax.jit(lambda x, n: x * 2 if n > 3 else x * 3)
    x = torch.ones(2, device="jax")
    assert _reason(f, (x, 3), (x, 2)) == "n was 3 and is 2"
    assert f(x, 1).tolist() == [3, 3] and len(tenax.explain(f).traces) == 2
    assert _reason(f, (x, 8)) == "n was 2 and is 8"


def test_a_reason_may_quote_a_text_that_looks_like_an_argument() -> None:
    text, x = "argument 7", torch.ones(2, device="jax")
    f = tenax.jit(lambda x: x * len(text))
    f(x)
    text = "argument 12"
    assert f(x).tolist() == [11, 11]
    assert tenax.explain(f).traces[-1].reason == "text was 'argument 7' and is 'argument 12'"


def test_explain_says_why_and_what() -> None:
    forward = tenax.jit(nn.Linear(4, 4).to("jax"))
    for n in (2, 3):
        forward(torch.ones(n, 4, device="jax"))
    explanation = tenax.explain(forward)
    assert [t.reason for t in explanation.traces] == [
        "its first call",
        "input was float32[2, 4] and is float32[3, 4]",
    ]
    assert len(explanation.programs) == 2 and explanation.programs[0].inputs == 3
    assert repr(tenax._jit.jitted.compiled_of(forward)) == "<tenax.jit Linear: 2 programs>"
    assert explanation.programs[0].flops and explanation.programs[0].argument_bytes > 0
    assert "traced 2 times" in str(explanation)
    with pytest.raises(TypeError, match=r"expected what tenax\.jit gave"):
        tenax.explain(len)


def test_a_partial_function_and_a_container_without_named_parts_are_compiled() -> None:
    class Pair:
        def __init__(self, *parts: torch.Tensor) -> None:
            self.parts = parts

    torch.utils._pytree.register_pytree_node(Pair, lambda p: ([*p.parts], None), lambda parts, _: Pair(*parts))

    def scaled(pair: Pair, by: float) -> torch.Tensor:
        return pair.parts[0] * by

    f = tenax.jit(functools.partial(scaled, by=3))
    assert f(Pair(torch.ones(2, device="jax"))).tolist() == [3, 3]
    assert repr(f) == f"<tenax.jit {scaled.__qualname__}: 1 program>"
    assert _reason(f, (Pair(torch.ones(3, device="jax")),)) == "pair[0] was float32[2] and is float32[3]"


def test_a_reason_names_what_each_program_lacks() -> None:
    sums: dict[str, Any] = {}
    flag = ["a"]

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        sums["loss"] = sums.get("loss", 0) + x.sum()
        return x * len(flag[0])

    x = torch.ones(2, device="jax")
    step(x)
    step(x)
    sums.clear()
    flag[0] = "bb"
    assert _reason(step, (x,)) == (
        "the number of entries of sums was 1 and is 0; for another program: flag[0] was 'a' and is 'bb'"
    )


def test_a_reason_tells_another_function_from_the_first() -> None:
    f = tenax.jit(lambda x: helper(x))
    helper = lambda x: x * 2  # noqa: E731
    f(torch.ones(2, device="jax"))
    helper = lambda x: x * 3  # noqa: E731
    assert _reason(f, (torch.ones(2, device="jax"),)) == "helper is another function"

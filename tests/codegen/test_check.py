"""Checks: every message says where, what is wrong and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tenax.codegen.build import Build
from tenax.codegen.fault import SpecError

RELU = "- func: relu(Tensor self) -> Tensor\n"
ADD = "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
GELU = "- func: gelu(Tensor self, *, str approximate='none') -> Tensor\n"
SOFTPLUS = "- func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor\n"
FOREACH = "- func: _foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]\n"
NORMAL = "- func: normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)\n"

FREXP = "- func: frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)\n"
STACK = "- func: stack(Tensor[] tensors, int dim=0) -> Tensor\n"

REFUSED = {
    "a name that means nothing": (
        RELU + "  jnp: jnp.maximum(slef, 0)\n",
        "ops_spec/ops.yaml:2: unknown name `slef` (did you mean `self`?); expected an argument (self), a word or a ",
    ),
    "an argument that the expression forgets": (
        "- func: hypot(Tensor self, Tensor other) -> Tensor\n  jnp: jnp.hypot(self)\n",
        "ops_spec/ops.yaml:2: `other` of hypot is not used; expected it in the expression, or why in `note`",
    ),
    "a function that JAX lacks": (
        RELU + "  jnp: jnp.maximun(self, 0)\n",
        "ops_spec/ops.yaml:2: JAX has no `jnp.maximun` (did you mean `jnp.maximum`?); expected a public function of ",
    ),
    "a module that JAX lacks": (
        RELU + "  jnp: jax.nnn.relu(self)\n",
        "ops_spec/ops.yaml:2: JAX has no `jax.nnn` (did you mean `jax.nn`?); expected a public function of JAX",
    ),
    "no expression": (
        RELU + "  jnp: self +\n",
        "ops_spec/ops.yaml:2: `self +` does not parse: invalid syntax; expected one expression",
    ),
    "a lambda": (
        RELU + "  jnp: '(lambda x: x)(self)'\n",
        "ops_spec/ops.yaml:2: `(lambda x: x)(self)` contains a lambda or binds a name; expected a function of ",
    ),
    "no such overload": (
        "- func: rellu(Tensor self) -> Tensor\n  jnp: self\n",
        "ops_spec/ops.yaml:1: torch {release} has no rellu; expected one of `relu`, `rrelu`, `relu_`",
    ),
    "a schema of a library that is none": (
        "- func: vision::halved(Tenor x) -> Tensor\n  jnp: x\n",
        "ops_spec/ops.yaml:1: `vision::halved(Tenor x) -> Tensor` does not parse; expected the operator's schema",
    ),
    "an operator of a library with the name of torch's": (
        "- func: vision::relu(Tensor x) -> Tensor\n  jnp: x\n",
        "ops_spec/ops.yaml:1: vision::relu has the function name of an op of torch; expected a function name of ",
    ),
    "a changed argument": (
        "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=2) -> Tensor\n  jnp: self\n",
        "ops_spec/ops.yaml:1: add.Tensor: argument `Scalar alpha=2` became `Scalar alpha=1`; expected "
        "`add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`, the schema of torch {release}",
    ),
    "a new and a lost argument": (
        "- func: relu(Tensor self, Tensor out) -> Tensor\n  jnp: self\n",
        "ops_spec/ops.yaml:1: relu: argument `Tensor out` is gone; expected `relu(Tensor self) -> Tensor`, the ",
    ),
    "no schema": (
        "- func: relu(Tensr self)\n  jnp: self\n",
        "ops_spec/ops.yaml:1: `relu(Tensr self)` does not parse: ",
    ),
    "a second entry": (
        RELU + "  jnp: self\n" + RELU + "  jnp: self\n",
        "ops_spec/ops.yaml:3: relu has a second entry; the first is ops_spec/ops.yaml:1; expected one entry",
    ),
    "a variant that is derived": (
        "- func: relu_(Tensor(a!) self) -> Tensor(a!)\n  jnp: self\n",
        "ops_spec/ops.yaml:1: relu_ is derived from relu; expected an entry for relu",
    ),
    "a derivative with respect to a number": (
        ADD + "  jnp: self\n  derivative: {alpha: grad}\n",
        "ops_spec/ops.yaml:3: `alpha` is not a Tensor of add.Tensor; expected some of `self`, `other`",
    ),
    "an unknown name in a derivative": (
        RELU + "  jnp: self\n  derivative: {self: grads}\n",
        "ops_spec/ops.yaml:3: unknown name `grads`",
    ),
    "a composite that would lose its gradient": (
        "- func: kron(Tensor self, Tensor other) -> Tensor\n  jnp: self * other\n",
        "ops_spec/ops.yaml:1: kron is CompositeImplicitAutograd: a lowering of it silently loses its gradient; "
        "expected `grad: vjp`, or no entry (torch decomposes it)",
    ),
    "a formula that torch does not have": (
        "- func: kron(Tensor self, Tensor other) -> Tensor\n  jnp: jnp.kron(self, other)\n  grad: formula\n",
        "ops_spec/ops.yaml:3: `formula`, and torch has none for kron; expected vjp, or no such key",
    ),
    "a number that a composite kept whole would trace": (
        "- func: dropout(Tensor input, float p, bool train) -> Tensor\n  jnp: input\n  grad: vjp\n",
        "ops_spec/ops.yaml:3: p is a traced number; expected `static: [p]`",
    ),
    "a view": (
        "- func: permute(Tensor(a) self, int[] dims) -> Tensor(a)\n  jnp: jnp.transpose(self, dims)\n",
        "ops_spec/ops.yaml:1: permute is a view: a lowering would return a copy in its place; expected no entry",
    ),
    "an unknown dtype": (
        RELU + "  dtypes: floating real\n  jnp: self\n",
        "ops_spec/ops.yaml:2: unknown dtype `real`; expected `bool`, `integral`, `unsigned`, `floating`, `complex`, ",
    ),
    "a misspelled dtype": (
        RELU + "  dtypes: floating integrall\n  jnp: self\n",
        "ops_spec/ops.yaml:2: unknown dtype `integrall`; expected `integral`",
    ),
    "dtypes of no tensor": (
        ADD + "  dtypes: {alpha: floating}\n  jnp: self\n",
        "ops_spec/ops.yaml:2: `alpha` is not a Tensor of add.Tensor; expected some of `self`, `other`",
    ),
    "an unknown kind": (
        RELU + "  promote: DEFALT(self)\n  jnp: self\n",
        "ops_spec/ops.yaml:2: unknown kind `DEFALT`; expected `DEFAULT`",
    ),
    "promotion of no argument": (
        RELU + "  promote: DEFAULT(other)\n  jnp: self\n",
        "ops_spec/ops.yaml:2: relu has no argument `other`; expected `self`",
    ),
    "promotion of several results": (
        FREXP + "  promote: DEFAULT(self)\n  jnp: self\n",
        "ops_spec/ops.yaml:2: frexp.Tensor does not have exactly one Tensor as its result; expected no `promote`",
    ),
    "a static argument that is no number": (
        ADD + "  jnp: self\n  static: [other]\n",
        "ops_spec/ops.yaml:3: `other` is not a Scalar or float of add.Tensor; expected some of `alpha`",
    ),
    "a special value of a tensor": (
        ADD + "  jnp: self\n  special: {other: [0]}\n",
        "ops_spec/ops.yaml:3: `other` is not a traced number of add.Tensor; expected some of `alpha`",
    ),
    "a special value of a static number": (
        ADD + "  jnp: self\n  static: [alpha]\n  special: {alpha: [0]}\n",
        "ops_spec/ops.yaml:4: `alpha` is not a traced number of add.Tensor; expected some of `alpha`",
    ),
    "a written argument that is no tensor": (
        ADD + "  jnp: self\n  writes: {alpha: unmarked}\n",
        "ops_spec/ops.yaml:3: `alpha` is not an unmarked Tensor of add.Tensor; expected some of `self`, `other`",
    ),
    "a generator without a key": (
        NORMAL + "  jnp: self\n",
        "ops_spec/ops.yaml:1: normal_ has a generator but no key; expected `random: true`",
    ),
    "a key without randomness": (
        RELU + "  jnp: self\n  random: true\n",
        "ops_spec/ops.yaml:3: torch does not mark relu as random; expected no such key",
    ),
    "an unknown way to write": (
        ADD + "  jnp: self\n  writes: {self: unraed}\n",
        "ops_spec/ops.yaml:3: unknown word `unraed`; expected one of `unread`, `unmarked`",
    ),
    "an op without an in-place form that does not read what it writes": (
        "- func: mm(Tensor self, Tensor mat2) -> Tensor\n  jnp: self @ mat2\n  writes: {self: unread}\n",
        "ops_spec/ops.yaml:3: no in-place form of mm writes `self`; expected no such word",
    ),
    "an optional write of an argument that is not written": (
        NORMAL + "  jnp: self\n  random: true\n  writes: {mean: optional}\n",
        "ops_spec/ops.yaml:4: normal_ does not write `mean`; expected some of `self`",
    ),
    "draws by an unknown argument": (
        NORMAL + "  jnp: self\n  random: [men]\n",
        "ops_spec/ops.yaml:3: normal_ has no argument `men`; expected `mean`",
    ),
    "an unknown preparation": (
        RELU + "  jnp: self\n  prepare: called.expend(self)\n",
        "ops_spec/ops.yaml:3: runtime/aten/called.py defines no `expend`; expected `expand`",
    ),
    "a preparation without a module": (
        RELU + "  jnp: self\n  prepare: expand(self)\n",
        "ops_spec/ops.yaml:3: `prepare`: `expand(self)` does not parse; expected module.function(arguments), such as ",
    ),
    "a preparation of too many arguments": (
        ADD + "  jnp: self\n  prepare: called.expand(self, other)\n",
        "ops_spec/ops.yaml:3: expand at runtime/aten/called.py:2 takes (signature, indices); expected (signature, 2 ",
    ),
    "a preparation of an unknown argument": (
        ADD + "  jnp: self\n  prepare: called.move(othr)\n",
        "ops_spec/ops.yaml:3: add.Tensor has no argument `othr`; expected `other`",
    ),
    "a check by a function for something else": (
        RELU + "  jnp: self\n  check: called.contiguous(self)\n",
        "ops_spec/ops.yaml:3: contiguous at runtime/aten/called.py:18 takes (values, outputs, rows); expected (1 ",
    ),
    "checks by two functions": (
        RELU + "  jnp: self\n  check: [called.in_axis(self), called.in_axis(self)]\n",
        "ops_spec/ops.yaml:3: `check`: several functions of runtime/aten/; expected one",
    ),
    "an unknown module of layouts": (
        RELU + "  jnp: self\n  results: call.contiguous\n",
        "ops_spec/ops.yaml:3: there is no runtime/aten/call.py (did you mean `called`?); expected a module that defin",
    ),
    "results of a function for something else": (
        RELU + "  jnp: self\n  results: called.expand\n",
        "ops_spec/ops.yaml:3: expand at runtime/aten/called.py:2 takes (signature, indices); expected (values, output",
    ),
    "no such kernel module": (
        RELU + "  kernel: bend.relu\n",
        "ops_spec/ops.yaml:2: there is no runtime/kernels/bend.py; expected a module that defines `relu`",
    ),
    "a kernel module misspelt": (
        RELU + "  kernel: curvs.relu\n",
        "ops_spec/ops.yaml:2: there is no runtime/kernels/curvs.py (did you mean `curve`?); expected a module that ",
    ),
    "no such kernel": (
        RELU + "  kernel: curve.gelo\n",
        "ops_spec/ops.yaml:2: runtime/kernels/curve.py defines no `gelo`; expected `gelu`",
    ),
    "a kernel with other parameters": (
        RELU + "  kernel: curve.erf\n",
        "ops_spec/ops.yaml:2: erf at runtime/kernels/curve.py:6 takes (input); expected (self)",
    ),
    "a function for the host of an op of known shapes": (
        RELU + "  jnp: self\n  on_host: curve.gelu\n",
        "ops_spec/ops.yaml:3: the result shapes of relu do not depend on data; expected it with `dynamic`",
    ),
    "a function for the host with other parameters": (
        RELU + "  jnp: self\n  dynamic: for this test\n  on_host: curve.erf\n",
        "ops_spec/ops.yaml:4: erf at runtime/kernels/curve.py:6 takes (input); expected (self)",
    ),
    "a kernel with another default": (
        SOFTPLUS + "  kernel: curve.softplus\n",
        "ops_spec/ops.yaml:2: softplus at runtime/kernels/curve.py:18 has the defaults (threshold=0); expected (thres",
    ),
    "a partial function with other parameters": (
        RELU + "  kernel: curve.tanh\n",
        "ops_spec/ops.yaml:2: tanh at runtime/kernels/curve.py:29 takes (self, scale); expected (self)",
    ),
    "a list op over nothing": (
        FOREACH + "  each: add.Tensor(self, other, alpha=alpha)\n",
        "ops_spec/ops.yaml:2: add.Tensor has no lowering; expected an overload with a jnp, kernel or each entry",
    ),
    "a list op with a wrong call": (
        FOREACH + "  each: add.Tensor(self, other, beta=alpha)\n" + ADD + "  jnp: self\n",
        "ops_spec/ops.yaml:2: `add.Tensor(self, other, beta=alpha)` does not fit add.Tensor; expected its arguments "
        "`self`, `other`, `alpha`",
    ),
    "a decomposition by nobody": (RELU + "  decompose: jax\n", "ops_spec/ops.yaml:2: `jax`; expected torch"),
    "a line too long to read": (
        RELU + f"  jnp: {' + '.join(['self'] * 20)}\n",
        "ops_spec/ops.yaml:2: `relu` becomes a line of 148 characters; expected at most 120, or a kernel",
    ),
    "an expression ruff would write otherwise": (
        RELU + "  jnp: self+self\n",
        "ops_spec/ops.yaml:2: `self+self` is not formatted; expected `self + self`",
    ),
}


BOUNDS = """
- check: in_bounds(index, size)
  that: jnp.all(index < size)
  error: "IndexError: index out of range"
"""
TAKE = "- func: take(Tensor self, Tensor index) -> Tensor\n  jnp: self.reshape(-1)[index]\n"
NAMED = {
    "a check without a definition": (
        BOUNDS,
        TAKE + "  check: in_bound(index, self.size)\n",
        "ops_spec/ops.yaml:3: `in_bound(index, self.size)` is not a named check; expected one of ops_spec/checks.yaml "
        "(in_bounds)",
    ),
    "a check with other arguments": (
        BOUNDS,
        TAKE + "  check: in_bounds(index)\n",
        "ops_spec/ops.yaml:3: `in_bounds(index)`; expected the arguments of in_bounds(index, size)",
    ),
    "a check of unknown arguments": (
        BOUNDS,
        TAKE + "  check: in_bounds(indx, self.size)\n",
        "ops_spec/ops.yaml:3: unknown name `indx` (did you mean `index`?); expected an argument (self, index), a word",
    ),
    "a check that nothing names": (
        BOUNDS,
        TAKE,
        "ops_spec/checks.yaml:2: no entry uses the check in_bounds; expected an entry that uses it",
    ),
    "a check of something else than its parameters": (
        BOUNDS.replace("index < size", "index < self.size"),
        TAKE + "  check: in_bounds(index, self.size)\n",
        "ops_spec/checks.yaml:2: unknown name `self`; expected one of `index`, `size` or a word",
    ),
    "a check without an error": (
        BOUNDS.partition("  error")[0],
        TAKE,
        "ops_spec/checks.yaml:2: an entry with the keys check, that; expected the keys check, that, error",
    ),
    "a check with two definitions": (
        BOUNDS + BOUNDS,
        TAKE + "  check: in_bounds(index, self.size)\n",
        "ops_spec/checks.yaml:6: the check in_bounds is already defined at line 2; expected one definition",
    ),
    "a check with a text that names no exception": (
        BOUNDS.replace("IndexError: ", ""),
        TAKE,
        "ops_spec/checks.yaml:4: `index out of range`; expected an exception and a message, such as `IndexError: ",
    ),
}


@pytest.mark.parametrize(("checks", "text", "message"), NAMED.values(), ids=NAMED.keys())
def test_a_wrong_named_check_is_refused(checks: str, text: str, message: str, built: Callable[..., Build]) -> None:
    faults = [str(f) for f in built(text, checks=checks).faults]
    assert message in [f[: len(message)] for f in faults], faults


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_entry_is_refused_with_its_place(text: str, message: str, built: Callable[..., Build]) -> None:
    build = built(text)
    wanted = message.replace("{release}", build.schemas.release)
    assert wanted in [str(f)[: len(wanted)] for f in build.faults], [str(f) for f in build.faults]


ACCEPTED = {
    "an operator of a library": "- func: vision::halved(Tensor x, SymInt n=2) -> Tensor\n  jnp: x / n\n",
    "a kernel": GELU + "  kernel: curve.gelu\n",
    "a kernel made by a table": "- func: sin(Tensor self) -> Tensor\n  kernel: curve.sin\n",
    "a kernel that serves a longer schema too": (
        "- func: mean(Tensor self, *, ScalarType? dtype=None) -> Tensor\n  kernel: curve.mean\n"
    ),
    "a comprehension": STACK + "  jnp: jnp.stack([t for t in tensors], dim)\n",
    "a lowering by name": RELU + "  jnp: abs(self)\n- func: abs(Tensor self) -> Tensor\n  jnp: jnp.abs(self)\n",
    "an abbreviated schema": "- func: _cudnn_rnn(...) -> ...\n  unsupported: a cuDNN call; use nn.LSTM\n",
    "a composite with its gradient": (
        "- func: kron(Tensor self, Tensor other) -> Tensor\n  jnp: jnp.kron(self, other)\n  grad: vjp\n"
    ),
    "a composite with torch's gradient": "- func: matmul(Tensor self, Tensor other) -> Tensor\n  jnp: self @ other\n",
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_right_entry_is_accepted(text: str, built: Callable[..., Build]) -> None:
    assert not built(text).faults


def test_an_entry_that_calls_a_wrong_one_is_refused_with_it(built: Callable[..., Build]) -> None:
    build = built(RELU + "  jnp: gelu(self)\n" + GELU + "  jnp: slef\n")
    assert [f.line for f in build.faults] == [2, 4]
    assert not build.rows


def test_a_fault_leaves_the_rest_of_its_file(built: Callable[..., Build]) -> None:
    build = built(RELU + "  jnp: slef\n" + ADD + "  jnp: self + alpha * other\n")
    assert "add.Tensor" in [r.name for r in build.rows]


def test_a_module_that_does_not_parse_is_one_fault(built: Callable[..., Build], root: Path) -> None:
    """Without its functions, many entries would seem wrong, and their lowerings would be removed from generated/."""
    for name in ("runtime/kernels/curve.py", "runtime/words.py", "runtime/aten/called.py"):
        (root / name).write_text((text := (root / name).read_text()) + "\ndef broken(:\n")
        with pytest.raises(SpecError) as error:
            built(RELU + "  kernel: curve.relu\n")
        where, _, rest = str(error.value).partition(":")
        assert (where, rest.partition(": ")[2]) == (name, "does not parse: invalid syntax; expected Python")
        (root / name).write_text(text)

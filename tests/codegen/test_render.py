"""Rendering: one plain typed function per entry, laid out as ruff would, that JAX alone can run."""

from __future__ import annotations

import difflib
import subprocess
import sys
from collections.abc import Callable

import pytest

from tenax.codegen.build import Build

Built = Callable[..., Build]

ADD = """
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  promote: DEFAULT(self, other)
  jnp: self + alpha * other
"""

RELU = "- func: relu(Tensor self) -> Tensor\n"
GELU = "- func: gelu(Tensor self, *, str approximate='none') -> Tensor\n"

RENDERED = {
    "promotion": (
        ADD,
        '''def add__Tensor(self: Array, other: Array, *, alpha: ArrayLike = 1) -> Array:
    """add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    Spec: ops_spec/ops.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(add(self, scaled(other, alpha)), dtype)
''',
    ),
    "a dtype the caller gives": (
        """
- func: cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
  promote: INT_TO_LONG(self)
  jnp: jnp.cumsum(self, axis(self, dim))
""",
        '''def cumsum(self: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/ops.yaml
    """
    dtype, self = INT_TO_LONG(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(jnp.cumsum(self, axis(self, dim)), dtype)
''',
    ),
    "promotion of a list": (
        """
- func: cat(Tensor[] tensors, int dim=0) -> Tensor
  promote: NO_OPMATH(tensors)
  jnp: jnp.concatenate(tensors, dim)
""",
        """    dtype, *tensors = NO_OPMATH(*tensors)
    return cast(jnp.concatenate(tensors, dim), dtype)
""",
    ),
    "an operator beside other expressions": (
        ADD.replace(
            "self + alpha * other", "jnp.where(self > 0, (self - other) * self, alpha) + jnp.exp(self * other)"
        ),
        "    dtype, self, other, alpha = DEFAULT(self, other, scalars=(alpha,))\n"
        "    return cast(jnp.where(self > 0, mul(sub(self, other), self), alpha) + jnp.exp(mul(self, other)), dtype)\n",
    ),
    "a quotient that may be one of integers": (
        "- func: div.Tensor(Tensor self, Tensor other) -> Tensor\n  promote: DEFAULT(self, other)\n"
        "  jnp: self / other\n",
        "    return cast(self / other, dtype)\n",
    ),
    "a quotient of floats": (
        "- func: div.Tensor(Tensor self, Tensor other) -> Tensor\n  promote: INT_TO_FLOAT(self, other)\n"
        "  jnp: (self + other) / other\n",
        "    return cast(div(add(self, other), other), dtype)\n",
    ),
    "operators without promotion": (
        "- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  jnp: self * other\n",
        "    return self * other\n",
    ),
    "a static number": (
        """
- func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
  promote: DEFAULT(self)
  static: [beta]
  jnp: jnp.where(self > threshold, self, self * beta)
""",
        "    dtype, self, threshold = DEFAULT(self, scalars=(threshold,))\n",
    ),
    "a number with special values": (
        """
- func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
  promote: DEFAULT(self)
  special: {beta: [0, -inf, sign]}
  jnp: jnp.where(self > threshold, self, self * cast(beta, self.dtype))
""",
        "    dtype, self, threshold = DEFAULT(self, scalars=(threshold,))\n",
    ),
    "a kernel that serves a longer schema too, by name": (
        "- func: mean(Tensor self, *, ScalarType? dtype=None) -> Tensor\n  kernel: curve.mean\n",
        '''def mean(self: Array, *, dtype: DType | None = None) -> Array:
    """mean(Tensor self, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/ops.yaml
    """
    return curve_kernels.mean(self=self, dtype=dtype)
''',
    ),
    "a kernel whose defaults torch alone states": (
        "- func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor\n  kernel: curve.plus\n",
        "    return curve_kernels.plus(self=self, beta=beta, threshold=threshold)\n",
    ),
    "a kernel with promotion": (
        f"{RELU}  promote: DEFAULT(self)\n  kernel: curve.relu\n",
        "    dtype, self = DEFAULT(self)\n    return cast(curve_kernels.relu(self=self), dtype)\n",
    ),
    "a kernel of another overload": (
        f'{GELU}  kernel: curve.gelu\n{RELU}  jnp: gelu(self, approximate="tanh")\n',
        '    return curve_kernels.gelu(self, approximate="tanh")\n',
    ),
    "a list op over a kernel": (
        f"- func: _foreach_neg(Tensor[] self) -> Tensor[]\n  each: gelu(self)\n{GELU}  kernel: curve.gelu\n",
        "    return [curve_kernels.gelu(a) for a in self]\n",
    ),
    "randomness": (
        """
- func: random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)
  random: true
  jnp: jax.random.randint(rng, self.shape, from_, to, dtype=self.dtype)
""",
        "def random___from(rng: Array, self: Array, from_: int, to: int | None) -> Array:\n",
    ),
    "several results": (
        "- func: frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)\n  jnp: jnp.frexp(self)\n",
        "def frexp__Tensor(self: Array) -> tuple[Array, Array]:\n",
    ),
    "a list op": (
        "- func: _foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]\n"
        "  each: add.Tensor(self, other, alpha=alpha)\n" + ADD,
        "    return [add__Tensor(a, b, alpha=alpha) for a, b in zip(self, other, strict=True)]\n",
    ),
    "a list op over numbers": (
        "- func: _foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]\n"
        "  each: add.Tensor(self, scalars)\n" + ADD,
        "    return [add__Tensor(a, b) for a, b in zip(self, scalars, strict=True)]\n",
    ),
    "conditions": (
        """
- func: take(Tensor self, Tensor index) -> Tensor
  jnp: self.reshape(-1)[index]
  check:
  - that: jnp.all(index < self.size)
    error: 'IndexError: out of range'
""",
        '''def take__checks(self: Array, index: Array) -> tuple[Array, ...]:
    """The conditions of take; its row of the table has their errors."""
    return (jnp.all(index < self.size),)
''',
    ),
    "defaults of the schema language": (
        """
- func: >-
    avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False,
    bool count_include_pad=True, int? divisor_override=None) -> Tensor
  jnp: self
""",
        """def avg_pool2d(
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
""",
    ),
    "a call too long for a line with its cast": (
        f"{RELU}  promote: DEFAULT(self)\n  jnp: jnp.where({'self % ' * 11}1 > 0, self, 0)\n",
        f"""    dtype, self = DEFAULT(self)
    result = jnp.where({"self % " * 11}1 > 0, self, 0)
    return cast(result, dtype)
""",
    ),
    "a call too long for a line": (
        f"{RELU}  jnp: jnp.where({'self + ' * 12}1 > 0, self, other=0)\n",
        f"""    return jnp.where(
        {"self + " * 12}1 > 0, self, other=0
    )
""",
    ),
    "an argument with the name of a word": (
        """
- func: >-
    segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None,
    int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor
  jnp: jnp.sum(data, axis)
  check:
  - {that: jnp.all(lengths >= 0), error: "RuntimeError: lengths contains a negative value, which no segment can have"}
  - {that: jnp.all(offsets >= 0), error: "RuntimeError: offsets contains a negative value, which is no position"}
""",
        "    return jnp.sum(data, axis)\n",
    ),
    "a note": (
        "- func: relu(Tensor self) -> Tensor\n  jnp: jnp.maximum(self, 0)\n  note: NaN stays NaN\n",
        '''    """relu(Tensor self) -> Tensor

    NaN stays NaN

    Spec: ops_spec/ops.yaml
    """
''',
    ),
}


def module(build: Build, family: str = "ops") -> str:
    assert not build.faults
    return build.files()[build.tree.generated / f"{family}.py"]


@pytest.mark.parametrize(("text", "source"), RENDERED.values(), ids=RENDERED.keys())
def test_an_entry_becomes_this_function(text: str, source: str, built: Built) -> None:
    assert source in module(built(text))


def test_everything_rendered_is_as_ruff_would_write_it(built: Built) -> None:
    texts = {"f" + str(i): text.replace(ADD, "") for i, (text, _) in enumerate(RENDERED.values()) if text != ADD}
    build = built(ADD, **texts)
    for path, source in build.files().items():
        path.write_text(source)
    first_party = ["--config", 'lint.isort.known-first-party=["tenax"]']
    messages = ["--per-file-ignores", "table.py:E501"]  # as pyproject.toml has it: they are as long as they are
    for command in (["format", "--check", "--diff"], ["check", "--select=E,F,I", *first_party, *messages]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--config=line-length=120", "generated"],
            cwd=build.tree.generated.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_a_lowering_of_another_family_is_called_through_its_module(built: Built) -> None:
    build = built(
        ADD,
        lists="- func: _foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]\n"
        "  each: add.Tensor(self, other, alpha=alpha)\n",
    )
    source = module(build, "lists")
    assert "from tenax.generated import ops as ops_ops\n" in source
    assert "[ops_ops.add__Tensor(a, b, alpha=alpha) for a, b in" in source


def test_a_kernel_with_the_signature_of_the_schema_is_the_lowering(built: Built) -> None:
    build = built(f"{GELU}  kernel: curve.gelu\n")
    assert [(row.name, row.module, row.function) for row in build.rows] == [
        ("gelu", "kernels.curve", "gelu"),
        ("gelu.out", "kernels.curve", "gelu"),
        ("gelu_", "kernels.curve", "gelu"),
    ]
    assert [path.name for path in build.files()] == ["table.py", "__init__.py"]


def test_a_partial_function_has_the_signature_without_what_it_binds(built: Built) -> None:
    build = built(f"{GELU}  kernel: curve.narrow\n")
    assert {(row.module, row.function) for row in build.rows} == {("kernels.curve", "narrow")}
    assert [path.name for path in build.files()] == ["table.py", "__init__.py"]


def test_the_conditions_of_a_kernel_are_generated_alone(built: Built) -> None:
    check = '  check:\n  - {that: jnp.all(self > 0), error: "ValueError: not positive"}\n'
    build = built(f"{GELU}  kernel: curve.gelu\n{check}")
    source = module(build)
    assert source.count("\ndef ") == 1
    assert 'def gelu__checks(self: Array, *, approximate: str = "none") -> tuple[Array, ...]:\n' in source
    assert '"kernels.curve", "gelu", conditions="ops.gelu__checks"' in " ".join(
        build.files()[build.tree.generated / "table.py"].split()
    )


def test_a_named_check_is_one_function_for_all_that_name_it(built: Built) -> None:
    checks = '- check: positive(x)\n  that: jnp.all(x > 0)\n  error: "ValueError: not positive"\n'
    build = built(
        f"{RELU}  jnp: self\n  check: positive(self)\n{GELU}  jnp: self\n  check:\n    - positive(relu(self))\n"
        '    - {that: jnp.all(self < 9), error: "ValueError: too large"}\n',
        checks=checks,
    )
    assert "    return (checks.positive(self),)\n" in module(build)
    assert "    return (checks.positive(relu(self)), jnp.all(self < 9))\n" in module(build)
    assert "from tenax.generated import checks\n" in module(build)
    made: dict = {}
    exec(build.files()[build.tree.generated / "table.py"], made)
    assert made["ROWS"]["relu"].checks == (("ValueError", "not positive"),)
    assert made["ROWS"]["gelu_"].checks == (("ValueError", "not positive"), ("ValueError", "too large"))
    assert module(build, "checks").endswith(
        '''

def positive(x: Any) -> Array:
    """ValueError: not positive"""
    return jnp.all(x > 0)
'''
    )


def test_a_module_imports_what_it_uses_and_no_more(built: Built) -> None:
    head = module(built(ADD)).partition("\n\n\ndef")[0]
    assert head.splitlines()[-4:] == [
        "from jax.typing import ArrayLike",
        "",
        "from tenax.kernels.arithmetic import add, scaled",
        "from tenax.words import DEFAULT, Array, cast",
    ]


def test_an_import_that_is_too_long_has_one_name_a_line(built: Built) -> None:
    names = ["INT64", *"as_long axes axis cast contract double is_complex is_float is_int opmath real_dtype".split()]
    halves = zip(("neg", "relu"), (names[:6], names[6:]), strict=True)
    text = "".join(f"- func: {op}(Tensor self) -> Tensor\n  jnp: ({', '.join(half)})\n" for op, half in halves)
    source = module(built(text))
    listed = "".join(f"    {name},\n" for name in ["INT64", "Array", *names[1:]])
    assert f"from tenax.words import (\n{listed})\n" in source


def test_one_changed_line_of_a_spec_changes_one_function(built: Built) -> None:
    relu = "- func: relu(Tensor self) -> Tensor\n  jnp: jnp.maximum(self, 0)\n"
    tail = "- func: neg(Tensor self) -> Tensor\n  jnp: -self\n"
    old = built(ADD + relu + tail).files()
    new = built("# a line above\n" + ADD + relu.replace("0", "self * 0") + tail).files()
    changed = {path.name: (old[path], new[path]) for path in new if old[path] != new[path]}
    assert list(changed) == ["ops.py"]
    lines = [x for x in difflib.ndiff(*(text.splitlines() for text in changed["ops.py"])) if x[0] in "+-"]
    assert lines == ["-     return jnp.maximum(self, 0)", "+     return jnp.maximum(self, self * 0)"]


def test_the_table_has_the_special_values_of_numbers(built: Built) -> None:
    build = built(RENDERED["a number with special values"][0])
    made: dict = {}
    exec(build.files()[build.tree.generated / "table.py"], made)
    assert made["ROWS"]["softplus"].special == (("beta", (0, float("-inf"), "sign")),)
    assert made["ROWS"]["softplus.out"].special == made["ROWS"]["softplus"].special


def test_the_table_says_what_the_runtime_needs(built: Built) -> None:
    neg = "- func: neg(Tensor self) -> Tensor\n  dtypes: not bool\n  jnp: -self\n"
    each = "- func: _foreach_neg(Tensor[] self) -> Tensor[]\n  each: neg(self)\n"
    build = built(RENDERED["a static number"][0] + RENDERED["conditions"][0] + RENDERED["randomness"][0] + neg + each)
    made: dict = {}
    exec(build.files()[build.tree.generated / "table.py"], made)
    row = made["Row"]
    assert made["ROWS"]["softplus"] == row("generated.ops", "softplus", static=("beta",))
    assert made["ROWS"]["softplus.out"] == row("generated.ops", "softplus", form="out", static=("beta",))
    assert made["ROWS"]["take"] == row(
        "generated.ops", "take", conditions="ops.take__checks", checks=(("IndexError", "out of range"),)
    )
    assert made["ROWS"]["random_.from"] == row("generated.ops", "random___from", form="inplace", random=True)
    assert made["ROWS"]["_foreach_neg_"] == row(
        "generated.ops", "_foreach_neg", form="inplace", dtypes=(("", "not bool"),)
    )
    assert made["UNSUPPORTED"]["_cudnn_rnn"] == "a call into a vendor's library"


FIELDS = {
    "how an argument is written": ("writes: {self: unread}", 'overwrites=("self",)'),
    "a function": ("results: called.contiguous", 'results="called.contiguous"'),
    "a call": ("prepare: called.move(self, other)", 'prepare=("called.move", "self", "other")'),
    "a call with a text": ('prepare: called.expand("torch.add")', 'prepare=("called.expand", "torch.add")'),
    "a check by a function": ("check: called.in_axis(self)", 'guard=("called.in_axis", "self")'),
}


@pytest.mark.parametrize(("key", "field"), FIELDS.values(), ids=FIELDS.keys())
def test_the_rows_of_an_entry_and_its_variants_say_what_a_key_says(key: str, field: str, built: Built) -> None:
    build = built(f"{ADD}  {key}\n")
    assert not build.faults
    made: dict = {}
    table = build.files()[build.tree.generated / "table.py"]
    exec(table, made)
    row = made["ROWS"]["add.Tensor"]
    assert field in table
    assert getattr(row, field.partition("=")[0])
    assert {n: r._replace(form="functional") for n, r in made["ROWS"].items()} == dict.fromkeys(made["ROWS"], row)
    assert {n: r.form for n, r in made["ROWS"].items()} == {
        "add.Tensor": "functional",
        "add_.Tensor": "inplace",
        "add.out": "out",
    }


def test_a_rendered_module_runs_on_jax_alone(built: Built) -> None:
    import jax.numpy as jnp

    made: dict = {"__name__": "rendered"}
    exec(compile(module(built(ADD)), "ops.py", "exec"), made)
    x = jnp.asarray([1.0, 2.0], jnp.float32)
    assert made["add__Tensor"](x, x, alpha=2).tolist() == [3.0, 6.0]


def test_a_derivative_is_that_of_its_formula(built: Built) -> None:
    import jax
    import jax.numpy as jnp

    made: dict = {"__name__": "rendered"}
    text = "- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  promote: DEFAULT(self, other)\n"
    source = module(built(f"{text}  jnp: self * other\n  derivative: {{self: grad * 7 * other}}\n"))
    exec(compile(source, "ops.py", "exec"), made)
    x, y = jnp.asarray([1.0, 2.0]), jnp.asarray(3.0)
    of_x, of_y = jax.jit(jax.grad(lambda x, y: made["mul__Tensor"](x, y).sum(), (0, 1)))(x, y)
    assert (of_x.tolist(), of_y.tolist()) == ([21.0, 21.0], 3.0)  # an argument without a formula: JAX's
    assert jax.jvp(lambda x: made["mul__Tensor"](x, y), (x,), (x,))[1].tolist() == [21.0, 42.0]


def test_an_operator_of_a_library_keeps_its_name_in_the_table_and_the_docstring(built: Built) -> None:
    made = built("- func: vision::halved(Tensor x, SymInt n=2) -> Tensor\n  jnp: x / n\n")
    source = module(made)
    assert "def halved(x: Array, n: int = 2) -> Array:" in source
    assert '"""vision::halved(Tensor x, SymInt n=2) -> Tensor' in source
    assert [(row.name, row.function) for row in made.rows] == [("vision::halved", "halved")]

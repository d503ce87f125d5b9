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

RENDERED = {
    "promotion": (
        ADD,
        '''def add__Tensor(self: Array, other: Array, *, alpha: ArrayLike = 1) -> Array:
    """add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    Spec: ops_spec/ops.yaml
    """
    dtype, self, other, alpha = DEFAULT(self, other, scalars=(alpha,))
    return cast(self + alpha * other, dtype)
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
    "a static number": (
        """
- func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
  promote: DEFAULT(self)
  static: [beta]
  jnp: jnp.where(self > threshold, self, self * beta)
""",
        "    dtype, self, threshold = DEFAULT(self, scalars=(threshold,))\n",
    ),
    "a kernel, by name": (
        "- func: gelu(Tensor self, *, str approximate='none') -> Tensor\n  kernel: curve.gelu\n",
        '''def gelu(self: Array, *, approximate: str = "none") -> Array:
    """gelu(Tensor self, *, str approximate='none') -> Tensor

    Spec: ops_spec/ops.yaml
    """
    return curve_kernels.gelu(self=self, approximate=approximate)
''',
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
    """What must hold for take; see its row of the table."""
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
        f"{RELU}  promote: DEFAULT(self)\n  jnp: jnp.where({'self + ' * 11}1 > 0, self, 0)\n",
        f"""    dtype, self = DEFAULT(self)
    result = jnp.where({"self + " * 11}1 > 0, self, 0)
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


def test_a_module_imports_what_it_uses_and_no_more(built: Built) -> None:
    head = module(built(ADD)).partition("\n\n\ndef")[0]
    assert head.splitlines()[-3:] == [
        "from jax.typing import ArrayLike",
        "",
        "from tenax.words import DEFAULT, Array, cast",
    ]


def test_one_changed_line_of_a_spec_changes_one_function(built: Built) -> None:
    relu = "- func: relu(Tensor self) -> Tensor\n  jnp: jnp.maximum(self, 0)\n"
    tail = "- func: neg(Tensor self) -> Tensor\n  jnp: -self\n"
    old = built(ADD + relu + tail).files()
    new = built("# a line above\n" + ADD + relu.replace("0", "self * 0") + tail).files()
    changed = {path.name: (old[path], new[path]) for path in new if old[path] != new[path]}
    assert list(changed) == ["ops.py"]
    lines = [x for x in difflib.ndiff(*(text.splitlines() for text in changed["ops.py"])) if x[0] in "+-"]
    assert lines == ["-     return jnp.maximum(self, 0)", "+     return jnp.maximum(self, self * 0)"]


def test_the_table_says_what_the_runtime_needs(built: Built) -> None:
    neg = "- func: neg(Tensor self) -> Tensor\n  dtypes: not bool\n  jnp: -self\n"
    each = "- func: _foreach_neg(Tensor[] self) -> Tensor[]\n  each: neg(self)\n"
    build = built(RENDERED["a static number"][0] + RENDERED["conditions"][0] + RENDERED["randomness"][0] + neg + each)
    made: dict = {}
    exec(build.files()[build.tree.generated / "table.py"], made)
    row = made["Row"]
    assert made["ROWS"]["softplus"] == row("ops", "softplus", static=("beta",))
    assert made["ROWS"]["softplus.out"] == row("ops", "softplus", "out", static=("beta",))
    assert made["ROWS"]["take"] == row("ops", "take", checks=(("IndexError", "out of range"),))
    assert made["ROWS"]["random_.from"] == row("ops", "random___from", "inplace", random=True)
    assert made["ROWS"]["_foreach_neg_"] == row("ops", "_foreach_neg", "inplace", dtypes=(("", "not bool"),))
    assert made["UNSUPPORTED"]["_cudnn_rnn"] == "a call into a vendor's library"


def test_a_rendered_module_runs_on_jax_alone(built: Built) -> None:
    import jax.numpy as jnp

    made: dict = {"__name__": "rendered"}
    exec(compile(module(built(ADD)), "ops.py", "exec"), made)
    x = jnp.asarray([1.0, 2.0], jnp.float32)
    assert made["add__Tensor"](x, x, alpha=2).tolist() == [3.0, 6.0]


def test_an_operator_of_a_library_keeps_its_name_in_the_table_and_the_docstring(built: Built) -> None:
    made = built("- func: vision::halved(Tensor x, SymInt n=2) -> Tensor\n  jnp: x / n\n")
    source = module(made)
    assert "def halved(x: Array, n: int = 2) -> Array:" in source
    assert '"""vision::halved(Tensor x, SymInt n=2) -> Tensor' in source
    assert [(row.name, row.function) for row in made.rows] == [("vision::halved", "halved")]

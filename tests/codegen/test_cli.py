"""The commands of the generator."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tenax.codegen import dtypes, promotion, watch
from tenax.codegen.build import build
from tenax.codegen.cli import app
from tenax.codegen.fault import SpecError
from tenax.codegen.schema import facts, releases, supported
from tenax.codegen.spec import DTYPES
from tenax.codegen.tree import Tree

Run = Callable[..., tuple[int, str]]

TAKEN = {"hypot": ("float16", "bfloat16", "float32", "float64")}
RELU = "- func: relu(Tensor self) -> Tensor\n  jnp: jnp.maximum(self, 0)\n"
MM = "- func: mm(Tensor self, Tensor mat2) -> Tensor\n  jnp: self @ mat2\n"


@pytest.fixture
def specs(root: Path) -> Path:
    (root / "ops_spec" / "curves.yaml").write_text(RELU)
    (root / "ops_spec" / "blas.yaml").write_text(MM)
    return root / "ops_spec"


@pytest.fixture
def run(root: Path, specs: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command on the tree; its exit status and all it printed. Torch is not asked, which takes seconds."""
    monkeypatch.setattr("tenax.codegen.dtypes.supported", lambda base: frozenset(TAKEN.get(base, ())))

    def invoke(*args: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["--root", str(root), *args], catch_exceptions=False)
        return result.exit_code, result.output

    return invoke


def test_a_run_writes_what_changed_and_nothing_else(run: Run, root: Path, specs: Path) -> None:
    code, said = run()
    assert code == 0
    assert [line for line in said.splitlines() if "wrote" in line] == [
        "wrote generated/blas.py",
        "wrote generated/curves.py",
        "wrote generated/table.py",
        "wrote generated/__init__.py",
    ]
    before = (root / "generated" / "blas.py").stat().st_mtime_ns
    (specs / "curves.yaml").write_text(RELU.replace("0", "self * 0"))
    assert "wrote generated/curves.py\n2 lowered" in run()[1]
    assert (root / "generated" / "blas.py").stat().st_mtime_ns == before
    assert run("--check") == (0, "")


def test_check_fails_when_a_spec_changed_and_says_how(run: Run, root: Path, specs: Path) -> None:
    run()
    (specs / "curves.yaml").write_text(RELU.replace("0", "self * 0"))
    code, said = run("--check")
    assert code == 1
    assert said.startswith(
        "generated/curves.py: differs from the specs; expected the output of `python -m tenax.codegen`\n"
    )
    assert "-    return jnp.maximum(self, 0)\n" in said
    assert "+    return jnp.maximum(self, self * 0)\n" in said
    assert "jnp.maximum(self, 0)" in (root / "generated" / "curves.py").read_text()


def test_check_fails_when_a_generated_file_was_edited_or_its_spec_is_gone(run: Run, root: Path, specs: Path) -> None:
    run()
    with (root / "generated" / "blas.py").open("a") as file:
        file.write("\n# by hand\n")
    (specs / "curves.yaml").unlink()
    code, said = run("--check")
    assert code == 1
    assert "generated/blas.py: differs" in said
    assert "generated/curves.py: differs" in said
    assert "removed generated/curves.py" in run()[1]
    assert not (root / "generated" / "curves.py").exists()


def test_check_fails_when_a_spec_does_not_load(run: Run, specs: Path) -> None:
    run()
    (specs / "curves.yaml").write_text(RELU + "  jmp: self\n")
    code, said = run("--check")
    assert code == 1
    assert "ops_spec/curves.yaml:3: unknown key `jmp`; expected `jnp`" in said


@pytest.mark.parametrize("arguments", [(), ("--check",), ("--only", "blas")])
def test_a_file_that_cannot_be_read_is_one_message_and_changes_nothing(
    arguments: tuple[str, ...], run: Run, root: Path, specs: Path
) -> None:
    run()
    before = {path: path.read_text() for path in (root / "generated").iterdir()}
    (specs / "curves.yaml").write_text(RELU + "  jnp: [self\n")
    code, said = run(*arguments)
    assert code == 1
    assert said.startswith("ops_spec/curves.yaml:") and "not YAML" in said and len(said.splitlines()) == 1
    assert {path: path.read_text() for path in (root / "generated").iterdir()} == before


def test_only_works_on_one_family_while_another_is_broken(run: Run, root: Path, specs: Path) -> None:
    (specs / "curves.yaml").write_text(RELU + "  jmp: self\n")
    code, said = run("--only", "blas")
    assert code == 0
    assert "ops_spec/curves.yaml:3" in said
    assert (root / "generated" / "blas.py").exists()
    assert not (root / "generated" / "curves.py").exists()
    assert '"mm.out"' in (root / "generated" / "table.py").read_text()
    assert run("--check", "--only", "blas")[0] == 0
    assert run()[0] == 1


def test_only_refuses_a_family_without_a_spec(run: Run) -> None:
    code, said = run("--only", "blass")
    assert code == 2
    assert "no ops_spec/blass.yaml; expected one of blas, curves" in said


def test_new_appends_a_stub_of_the_functional_form_beside_its_relatives(run: Run, specs: Path) -> None:
    code, said = run("new", "relu6_")
    assert (code, said) == (
        1,
        "relu6: CompositeImplicitAutograd; expected an op that torch does not decompose itself\n",
    )
    (specs / "curves.yaml").write_text(
        RELU + "- func: gelu(Tensor self, *, str approximate='none') -> Tensor\n  jnp: self\n"
    )
    assert run("new", "gelu_backward.grad_input")[0] == 0
    assert (
        (specs / "curves.yaml")
        .read_text()
        .endswith(
            "\n\n- func: gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor\n"
            "  kernel: curves.gelu_backward\n"
        )
    )


@pytest.mark.parametrize(
    ("overload", "words"),
    [
        ("atan2", "INT_TO_FLOAT(self, other)"),
        ("eq.Tensor", "ALWAYS_BOOL(self, other)"),
        ("abs", "COMPLEX_TO_FLOAT(self)"),
        ("cumsum", "INT_TO_LONG(self)"),
        ("maximum", "DEFAULT(self, other)"),
        ("bitwise_left_shift.Tensor", "DEFAULT(self, other)"),
        ("mm", ""),
        ("argmax", ""),
    ],
)
def test_promotion_is_what_cpu_torch_does(overload: str, words: str) -> None:
    assert promotion.observe(overload) == words


@pytest.mark.slow
def test_new_states_the_dtypes_that_torch_takes(run: Run, specs: Path) -> None:
    assert run("new", "hypot", "--family", "curves") == (
        0,
        "ops_spec/curves.yaml: added\n- func: hypot(Tensor self, Tensor other) -> Tensor\n  dtypes: floating\n"
        "  promote: DEFAULT(self, other)\n  kernel: curves.hypot\n",
    )
    assert "hypot(Tensor self, Tensor other) -> Tensor\n  dtypes: floating\n" in (specs / "curves.yaml").read_text()
    code, said = run("new", "digamma", "--family", "curves")
    assert code == 0
    assert "dtypes:" not in said.partition("digamma: not in torch's database of operators")[0]


WORDED = {
    "bool uint8 int8 int16 int32 int64": "bool integral",
    "float16 bfloat16 float32 float64 int64": "int64 floating",
    "float32 float64": "float32 float64",
    " ".join(d for word, group in DTYPES.items() if word != "float8" for d in group): "not float8",
    " ".join(d for group in DTYPES.values() for d in group): "",
    "": "",
}


@pytest.mark.parametrize("listed", WORDED)
def test_dtypes_are_said_in_few_words(listed: str) -> None:
    assert dtypes.words(listed.split()) == WORDED[listed]


def test_new_says_why_it_wrote_nothing(run: Run, specs: Path) -> None:
    assert run("new", "relu_") == (
        1,
        "relu: has an entry at ops_spec/curves.yaml:1; expected an overload without one\n",
    )
    assert run("new", "add.Tensr")[1].startswith("add.Tensr: torch ")
    assert "expected one of relu" in run("new", "relux")[1]
    assert run("new", "bincount") == (
        1,
        "bincount: no spec file has a related entry; expected --family with one of blas, curves\n",
    )
    assert run("new", "hypot", "--family", "curvs") == (
        1,
        "no ops_spec/curvs.yaml; expected one of blas, curves, or an empty file of that name\n",
    )
    assert not (specs / "curvs.yaml").exists()


def test_explain_goes_from_schema_to_code(run: Run) -> None:
    run()
    code, said = run("explain", "relu_")
    assert code == 0
    heads = [line.split("  ")[0] for line in said.splitlines() if line and not line.startswith(" ")]
    assert heads == ["schema", "status", "spec", "code", "variant", "variant"], said
    assert "ops_spec/curves.yaml:1" in said
    assert "generated/curves.py, relu (form: inplace)" in said
    assert "    return jnp.maximum(self, 0)\n" in said


def test_explain_shows_the_kernel_that_is_a_lowering(run: Run, specs: Path) -> None:
    gelu = "- func: gelu(Tensor self, *, str approximate='none') -> Tensor\n  kernel: curve.gelu\n"
    (specs / "curves.yaml").write_text(gelu)
    code, said = run("explain", "gelu_")
    assert code == 0
    assert "runtime/kernels/curve.py:2, gelu (form: inplace)" in said
    assert 'def gelu(self, *, approximate="none"):\n              return self\n' in said
    assert "stale" not in said


def test_explain_of_an_unknown_overload_offers_near_ones(run: Run) -> None:
    code, said = run("explain", "rellu")
    assert code == 2
    assert "torch has no overload rellu" in said


def test_status_lists_the_overloads_of_one(run: Run) -> None:
    assert run("status", "lowered")[1] == "mm  ops_spec/blas.yaml\nrelu  ops_spec/curves.yaml\n"
    assert "missing" in run("status")[1]


def test_diff_names_what_a_release_changed_and_what_it_means(run: Run, tmp_path: Path) -> None:
    old = tmp_path / "torch-9.0.tsv"
    lines = [str(native) for native in supported() if not native.name.startswith("relu")]
    old.write_text("\n".join(lines).replace("mm(Tensor self, Tensor mat2)", "mm(Tensor self, int mat2)"))
    code, said = run("diff", str(old), releases()[-1])
    assert code == 0
    assert (
        "changed mm: argument `int mat2` became `Tensor mat2`: entry to change: argument `int mat2` became `Tensor "
        "mat2`  [ops_spec/blas.yaml:1]\n"
    ) in said
    assert "added   relu(Tensor self) -> Tensor: lowered: ops_spec/curves.yaml  [ops_spec/curves.yaml:1]\n" in said
    assert run("diff", str(tmp_path / "nothing.tsv"))[0] == 1


def test_facts_writes_what_a_release_states(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = facts(releases()[-1])
    monkeypatch.setattr("tenax.codegen.schema.FOLDER", tmp_path)
    code, said = run("facts", str(source))
    assert (code, said.splitlines()[0]) == (
        0,
        f"wrote codegen/releases/{source.name}: {len(source.read_text().splitlines())} overloads",
    )
    assert (tmp_path / source.name).read_text() == source.read_text()
    assert run("facts", "nothing")[0] == 1


@pytest.fixture
def watched(root: Path, specs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[list[str]], str]]:
    """Watch while edits are made, one before each poll; the entries that were tested, and what was said."""
    results = root / "tests" / "coverage" / "results"
    results.mkdir(parents=True)
    calls = {"op_db/nn.functional.relu": ["relu"], "op_db/special.mish": ["mish"], "op_db/mish": ["mish", "mul.Tensor"]}
    calls |= {"op_db/matmul": ["mm", "mul.Tensor"], "op_db/addmm": ["mm"]}
    entries = {key: {"ops": ops} for key, ops in calls.items()}
    (results / "torch-2.13.json").write_text(json.dumps({"entries": entries}))
    (specs / "more.yaml").write_text("- func: mish(Tensor self) -> Tensor\n  kernel: curve.relu\n")
    tested: list[list[str]] = []
    said: list[str] = []
    monkeypatch.setattr(watch, "test", tested.append)

    def generate() -> int:
        try:
            faults = build(Tree.at(root), supported()).faults
        except SpecError as error:
            faults = [error.fault]
        said.extend(map(str, faults))
        return len(faults)

    def run(*edits: Callable[[], object]) -> tuple[list[list[str]], str]:
        left = iter(edits)
        monkeypatch.setattr(watch, "wait", lambda: next(left)())
        watch.watch(Tree.at(root), generate, said.append, iter(range(len(edits))))
        return tested, "\n".join(said)

    return run


Watched = Callable[..., tuple[list[list[str]], str]]


def test_watching_tests_the_edited_entries_and_those_of_an_edited_kernel(
    watched: Watched, root: Path, specs: Path
) -> None:
    kernels = root / "runtime" / "kernels" / "curve.py"
    text = kernels.read_text()
    tested, said = watched(
        lambda: (specs / "curves.yaml").write_text(RELU.replace("0", "self * 0")),
        lambda: None,
        lambda: kernels.write_text(text.replace("def relu(self):\n", "def relu(self):\n    self = -self\n")),
        lambda: (specs / "new.yaml").write_text("- func: sin(Tensor self) -> Tensor\n  jnp: jnp.sin(self)\n"),
        lambda: (specs / "new.yaml").unlink(),
    )
    assert tested == [["op_db/nn.functional.relu"], ["op_db/special.mish", "op_db/mish"]]
    assert "no entry of torch's databases tests sin; expected a test in tests/" in said


def test_after_a_slip_watching_tests_what_was_edited_since_the_last_round_without_one(
    watched: Watched, root: Path, specs: Path
) -> None:
    """A slip hides the other entries of its file, and a mended file differs from the broken one in all of them."""
    kernels = root / "runtime" / "kernels" / "curve.py"
    text = kernels.read_text()
    both = RELU + "- func: sigmoid(Tensor self) -> Tensor\n  jnp: jax.nn.sigmoid(self)\n"
    (specs / "curves.yaml").write_text(both)
    other = both.replace("0", "self * 0")
    tested, said = watched(
        lambda: (specs / "curves.yaml").write_text(other.replace("(self)", "(slef)")),
        lambda: (specs / "curves.yaml").write_text(f"\t{other}"),
        lambda: (specs / "curves.yaml").write_text(other),
        lambda: kernels.write_text(f"{text}\ndef broken(:\n"),
        lambda: kernels.write_text(text),
    )
    assert tested == [["op_db/nn.functional.relu"]]
    assert "not YAML" in said and "sigmoid" not in said.partition("not YAML")[2]
    assert said.count("does not parse") == 1


def test_watching_notices_a_named_check(watched: Watched, specs: Path) -> None:
    check = "- check: is_true(x)\n  that: x\n  error: 'RuntimeError: no'\n"
    mm = f"{MM}  check: is_true(mat2)\n"
    tested, _ = watched(
        lambda: (specs / "checks.yaml").write_text(check) and (specs / "blas.yaml").write_text(mm),
        lambda: (specs / "checks.yaml").write_text(f"# A comment.\n{check}"),
        lambda: (specs / "checks.yaml").write_text(check.replace("no", "false")),
    )
    assert tested == [["op_db/addmm"], ["op_db/addmm"]]


def test_an_edit_of_many_entries_tests_some_and_says_which_it_left_out(watched: Watched, specs: Path) -> None:
    names = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp")
    text = "".join(f"- func: {name}(Tensor self) -> Tensor\n  jnp: self\n" for name in names)
    results = specs.parent / "tests" / "coverage" / "results"
    entries = {f"op_db/{name}": {"ops": [name]} for name in names}
    (results / "torch-2.12.json").write_text(json.dumps({"entries": entries}))
    tested, said = watched(lambda: (specs / "trigonometry.yaml").write_text(text))
    assert [len(found) for found in tested] == [watch.SEVERAL], said
    assert "left out, to be quick: tenax coverage run --dtypes float32 --only op_db/tan,op_db/tanh" in said


def test_entries_of_the_databases_are_found_by_name_or_else_by_what_they_call() -> None:
    calls = {"op_db/add": ["add.Tensor"], "op_db/softmax": ["_softmax"], "op_db/nn.functional.nll_loss": ["nll"]}
    calls |= {
        "op_db/nn.functional.cross_entropy": ["nll", "_softmax"],
        "foreach_db/_foreach_add": ["_foreach_add.List"],
    }
    assert watch.covering(["add.Scalar", "_softmax", "nll", "_foreach_add.List", "mm"], calls) == {
        "add.Scalar": ["op_db/add"],
        "_softmax": ["op_db/softmax"],
        "nll": ["op_db/nn.functional.nll_loss"],
        "_foreach_add.List": ["foreach_db/_foreach_add"],
        "mm": [],
    }


def test_an_edited_definition_is_found_with_what_uses_it() -> None:
    module = "LIMIT = 1\ndef f(x):\n    return LIMIT\ndef g(x):\n    return f(x)\ndef h(x):\n    return 2\n"
    other = "from tenax.kernels import low\nfrom tenax.kernels.low import g as near\n"
    other += "def k(x):\n    return near(x)\ndef m(x):\n    return low.h(x)\n"
    before = {"low": module, "high": other}
    found = watch.edited(before, {**before, "low": module.replace("1", "3")})
    assert found == {"low.LIMIT", "low.f", "low.g", "high.k"}
    assert watch.edited(before, {**before, "low": module.replace("2", "3")}) == {"low.h", "high.m"}
    assert watch.edited(before, {**before, "low": "# a comment\n" + module}) == set()

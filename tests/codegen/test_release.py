"""Releases: what each states of its ops, and one set of specs for all that are supported."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tenax.codegen import index, release
from tenax.codegen.build import Build, build
from tenax.codegen.schema import (
    Native,
    Schemas,
    committed,
    facts,
    installed,
    installed_release,
    minor,
    packaged,
    parse,
    releases,
    supported,
)
from tenax.codegen.tree import Tree

DISTANCE = "_pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor"
PRODUCT = "grad_output * self * pdist"
BEFORE = DISTANCE.replace("grad_output", "grad")


def schemas(*lines: str, name: str = "9.0") -> Schemas:
    return parse(lines, name)


def union(new: str, old: str) -> Schemas:
    """The schemas of two releases of one op."""
    functions = schemas(new).functions
    return Schemas(functions, "8.0 to 9.0", {name: {"8.0": Native(old)} for name in functions})


@pytest.fixture
def checked(root: Path) -> Callable[[str, Schemas], Build]:
    def make(text: str, found: Schemas) -> Build:
        (root / "ops_spec" / "ops.yaml").write_text(text)
        return build(Tree.at(root), found)

    return make


@pytest.mark.skipif(not facts(installed_release()).exists(), reason="a torch whose facts are not committed")
def test_the_committed_facts_are_what_the_installed_torch_states() -> None:
    found = {str(f) for f in installed()}
    held = {str(f) for f in committed(minor(installed_release()))}
    assert found == held, "run `python -m tenax.codegen facts`"


def test_committed_facts_print_back_to_their_lines() -> None:
    for name in releases():
        assert [str(f) for f in committed(name)] == facts(name).read_text().splitlines()


def test_the_specs_are_held_against_every_overload_of_the_supported_releases() -> None:
    both = supported()
    assert set(both.functions) == {f.name for name in releases() for f in committed(name)}
    newest = committed(releases()[-1])
    assert all(both[f.name] == f for f in newest)
    assert both.earlier["_pdist_backward"].keys() == {"2.13"}
    assert "relu" not in both.earlier


def test_the_table_names_an_argument_that_another_release_calls_otherwise(
    checked: Callable[[str, Schemas], Build],
) -> None:
    found = checked(f"- func: {DISTANCE}\n  jnp: {PRODUCT}\n", union(DISTANCE, BEFORE))
    assert not found.faults
    assert 'renamed=(("grad_output", "grad"),)' in found.files()[found.tree.generated / "table.py"]


@pytest.mark.parametrize(
    ("old", "new", "served"),
    [
        ("f(Tensor x) -> Tensor", "f(Tensor x, int n=1) -> Tensor", True),
        ("f(Tensor x, int n=2) -> Tensor", "f(Tensor x, int n=1) -> Tensor", True),
        ("f(Tensor x, int m) -> Tensor", "f(Tensor x, int n) -> Tensor", True),
        ("f(int n, Tensor x) -> Tensor", "f(Tensor x, int m) -> Tensor", False),
        ("f(Tensor x) -> Tensor", "f(Tensor x, int n) -> Tensor", False),
        ("f(Tensor x, int n=1) -> Tensor", "f(Tensor x) -> Tensor", False),
        ("f(Tensor x, int n) -> Tensor", "f(Tensor x, int[] n) -> Tensor", False),
        ("f(Tensor x) -> Tensor", "f(Tensor x) -> (Tensor, Tensor)", False),
    ],
)
def test_a_lowering_serves_an_earlier_schema_whose_arguments_it_can_leave_out(
    checked: Callable[[str, Schemas], Build], old: str, new: str, served: bool
) -> None:
    body = "(x, x)" if "Tensor, Tensor" in new else "x"
    assert (not checked(f"- func: {new}\n  jnp: {body}\n", union(new, old)).faults) == served


def test_changes_say_what_each_means_for_the_specs(root: Path) -> None:
    specs = ("relu(Tensor self) -> Tensor", "old(Tensor self) -> Tensor", "sub(Tensor self, Tensor other) -> Tensor")
    text = "".join(f"- func: {schema}\n  jnp: self\n" for schema in specs)
    (root / "ops_spec" / "ops.yaml").write_text(text)
    before = schemas("old(Tensor self) -> Tensor\tCPU", "gone(Tensor self) -> Tensor\tCPU", f"{specs[2]}\tCPU")
    after = schemas(
        f"{specs[0]}\tCPU CUDA",
        "relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\tCPU",
        "fresh(Tensor self) -> Tensor\tCPU",
        "view_of(Tensor(a) self) -> Tensor(a)\tCPU\tview",
        "made(Tensor self) -> Tensor\tCompositeImplicitAutograd",
        "split_up(Tensor self) -> Tensor\tCompositeExplicitAutograd",
        "vendor(Tensor self) -> Tensor\tCUDA",
        "sub(Tensor self, Tensor other, int n) -> Tensor\tCPU",
        "later(Future x) -> Tensor\tCPU",
    )
    found = {c.name: (c.kind, c.means, c.where) for c in release.changes(before, after, Tree.at(root))}
    assert found == {
        "relu": ("added", "lowered: ops_spec/ops.yaml", "ops_spec/ops.yaml:1"),
        "relu.out": ("added", "derived: relu", "ops_spec/ops.yaml:1"),
        "fresh": ("added", "needs an entry", ""),
        "view_of": ("added", "a view: needs review, because the runtime may not implement it", ""),
        "made": ("added", "composite", ""),
        "split_up": ("added", "decomposed", ""),
        "vendor": ("added", "unsupported: torch implements it for CUDA only", ""),
        "later": ("added", "takes a type that the installed torch does not know", ""),
        "sub": ("changed", "entry to change: argument `int n` is new", "ops_spec/ops.yaml:5"),
        "old": ("removed", "entry to delete", "ops_spec/ops.yaml:3"),
        "gone": ("removed", "nothing to do", ""),
    }


def test_a_wheel_is_read_by_its_own_torchgen(tmp_path: Path) -> None:
    package = packaged().parent
    path = tmp_path / "torch-9.1.0-cp311-cp311-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file in package.rglob("*"):
            if file.suffix in (".py", ".yaml"):
                text = file.read_text().replace("- func: relu(", "- func: rectified(")
                text = text.replace("- func: relu_(", "- func: rectified_(").replace(
                    "- name: relu(", "- name: rectified("
                )
                wheel.writestr(f"torchgen/{file.relative_to(package)}", text)
    found = release.load(str(path))
    assert found.release == "9.1.0"
    assert "relu" not in found
    assert found["rectified"].differentiated
    assert len(found.functions) == len(installed().functions)


def test_a_source_without_schemas_is_an_error_that_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(release.ReleaseError, match="nothing: not found; expected `installed`, a release such as 2"):
        release.load("nothing")
    path = tmp_path / "torch-9.1.0-cp311.whl"
    zipfile.ZipFile(path, "w").close()
    with pytest.raises(release.ReleaseError, match="contains no torchgen/; expected a torch wheel"):
        release.load(str(path))


def test_without_a_package_index_the_error_names_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(release.ReleaseError, match=r"torch 1\.0\.0: http://127.*; expected a wheel: pip download"):
        release.load("1.0.0")


def test_a_remote_file_is_read_by_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    held = bytes(range(200))
    asked: list[tuple[int, int]] = []

    def get(self: index.Remote, first: int, last: int) -> tuple[bytes, str]:
        asked.append((first, last))
        return held[first : last + 1], f"bytes {first}-{last}/{len(held)}"

    monkeypatch.setattr(index.Remote, "_get", get)
    remote = index.Remote("https://example.org/x")
    remote.seek(-10, 2)
    assert remote.read(4) == held[190:194]
    assert remote.read() == held[194:]
    assert remote.read(1) == b""
    assert asked[:2] == [(0, 0), (190, 193)]

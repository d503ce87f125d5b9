"""What the documentation shows is true: its Python runs, its specs build, its commands exist.

The Python blocks of a page run in order in a fresh process, and each sees what those above it defined. An HTML comment
right above a block says what is special about it:

    <!-- not run: REASON -->           it cannot run here
    <!-- in a process of its own -->   it runs in a process of its own, in the folder of the page's other blocks
    <!-- a page without tenax -->      the page's blocks run as one program in a new interpreter without the device
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import tenax.cli
import tenax.codegen.cli
from tenax.codegen import spec
from tenax.codegen.build import build
from tenax.codegen.schema import supported
from tenax.codegen.tree import PACKAGE, Tree
from tenax.planning.targets import library
from tests.ecosystem.page import PROGRAMS
from tests.helpers.documentation import PAGES, ROOT, Block, blocks, commands, prose

NOT_RUN, ALONE, WITHOUT = "not run: ", "in a process of its own", "a page without tenax"
# How many Python blocks of each page do not run. A block that is added here needs a reason, in its comment.
SKIPPED = {"CONTRIBUTING.md": 1, "docs/distributed.md": 1, "docs/distributed_ranks.md": 2}

RECORDED = json.loads((ROOT / "tests/ecosystem/results.json").read_text())["rows"]

BLOCKS = [block for page in PAGES for block in blocks(page)]
WITH_PYTHON = [page for page in PAGES if any(b.language == "python" for b in blocks(page))]
SPECS = [block for block in BLOCKS if block.language == "yaml" and "- func:" in block.text]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


# Runs the blocks of a page, which are read as JSON; with lines before each, so that a traceback shows the page's.
RUN = """
import json, sys
scope = {"__name__": "__main__"}
for name, line, text in json.load(sys.stdin):
    exec(compile("\\n" * line + text, name, "exec"), scope)
"""


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_the_python_of_a_page_runs_in_a_fresh_process(page: Path, tmp_path: Path) -> None:
    if name(page) == "docs/tpu.md" and library() is None:
        pytest.skip("the compiler of TPUs is not installed")
    shown = [b for b in blocks(page) if b.language == "python" and not b.mark.startswith(NOT_RUN)]
    without = any(block.mark == WITHOUT for block in shown)
    together = [b for b in shown if b.mark != ALONE]
    program = json.dumps([(name(page), block.line, block.text) for block in together])
    run_alone(RUN, name(page), tmp_path, program, TENAX_AUTOLOAD="0" if without else "1")
    for block in shown:
        if block.mark == ALONE:
            run_alone(block.text, block.place, tmp_path)


def run_alone(program: str, place: str, folder: Path, text: str = "", **variables: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        input=text,
        cwd=folder,
        env={**os.environ, **variables},
        timeout=300,
    )
    assert not done.returncode, f"{place}: {done.stderr[-2000:]}"


def test_a_block_that_does_not_run_is_counted_and_says_why() -> None:
    marks = [block for block in BLOCKS if block.mark.startswith(NOT_RUN)]
    assert Counter(name(block.page) for block in marks) == SKIPPED
    for block in marks:
        assert block.language == "python" and len(block.mark) > len(NOT_RUN) + 20, block.place


def test_a_language_or_mark_is_not_misspelt() -> None:
    """Such a block would not run, or not as it says."""
    for block in BLOCKS:
        if block.language.lower().startswith(("py", "yaml", "yml")):
            assert block.language in ("python", "yaml"), block.place
        assert block.mark in ("", ALONE, WITHOUT) or block.mark.startswith(NOT_RUN), block.place


@pytest.mark.parametrize("block", SPECS, ids=lambda block: block.place)
def test_a_spec_of_a_page_builds(block: Block, tmp_path: Path) -> None:
    """Entries of a page, in the place of the committed ones for the same operators."""
    shown, faults = spec.parse(block.text, "shown")
    assert shown and not faults
    names = {entry.name for entry in shown}
    real = Tree.at(PACKAGE)
    for path in (real.autocast, real.checks):
        shutil.copy(path, tmp_path)
    for path in real.spec_files():
        lines, entries = path.read_text().splitlines(keepends=True), spec.load(path)[0]
        ends = [*(entry.line - 1 for entry in entries[1:]), len(lines)]
        for entry, end in reversed(list(zip(entries, ends, strict=True))):
            if entry.name in names:
                del lines[entry.line - 1 : end]
        (tmp_path / path.name).write_text("".join(lines))
    (tmp_path / "shown.yaml").write_text(block.text)
    made = build(Tree(tmp_path, real.generated, real.runtime), supported())
    # Faults elsewhere are of entries that call the replaced ones.
    assert not [str(fault) for fault in made.faults if fault.file == made.tree.spec_name("shown")]
    assert names <= {entry.name for entry in made.entries}


def test_the_yaml_of_a_page_is_yaml() -> None:
    for block in BLOCKS:
        if block.language == "yaml":
            assert yaml.safe_load(block.text) is not None, block.place


@pytest.mark.parametrize("page", [p for p in PAGES if any(commands(p))], ids=name)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    for program, arguments in commands(page):
        if program == "make":
            done = subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, capture_output=True, text=True)
            assert not done.returncode, f"make {' '.join(arguments)}: {done.stderr}"
        else:
            assert_parsed(program, arguments)


def assert_parsed(program: str, arguments: tuple[str, ...]) -> None:
    """A command with these options exists; `--help` keeps it from running."""
    arguments = arguments[:1] if arguments[:1] == ("xla",) else arguments  # what follows is for the script
    app = {"tenax": tenax.cli.app, "python -m tenax.codegen": tenax.codegen.cli.app}[program]
    own = arguments[:1] if arguments[:1] == ("run",) else arguments  # what follows `tenax run` is another program's
    done = CliRunner().invoke(app, [*own, "--help"])
    assert not done.exit_code, f"{program} {' '.join(arguments)}: {done.output}"


def test_a_command_that_does_not_exist_is_found() -> None:
    for arguments in (("coverage", "rnu"), ("coverage", "run", "--onyl", "add"), ("codegen", "explian"), ("docter",)):
        with pytest.raises(AssertionError):
            assert_parsed("tenax", arguments)


def test_links_of_the_pages_lead_to_files() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose(page)):
            assert "://" in target or (page.parent / target).exists(), f"{name(page)}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    folders = "runtime|codegen|generated|ops_spec|tests|benchmarks|examples|docs"
    paths = re.findall(rf"`((?:{folders})/[\w./]+\.(?:py|yaml|md|txt))`", page.read_text())
    assert not [path for path in paths if not (ROOT / path).exists()]


COUNTED = re.compile(r"\b[0-9][0-9,]* (?:lowerings|overloads|operators|entries|tests|checks|libraries)\b")
# Counts of the prose that nothing generates, with what they are now.
COUNTS = {
    ("README.md", f"{sum(row['result'] == 'agrees' and row['library'] in PROGRAMS for row in RECORDED)} libraries"),
}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_count_in_the_prose_is_that_of_the_recorded_runs(page: Path) -> None:
    """Tables between markers are generated, and other tests compare them."""
    written = re.sub(r"<!-- (\w+): written by.*?<!-- /\1 -->", "", prose(page), flags=re.DOTALL)
    found = {(name(page), count) for count in COUNTED.findall(written)}
    assert found == {count for count in COUNTS if count[0] == name(page)}

"""Run the test suites of other libraries on the CPU and on the device: `python -m tests.ecosystem.suites`.

The tests come from the library's source distribution, or from its repository at the tag of the installed release if
the distribution has none, and lie below build/suites without the library itself: the installed one is tested. A test
that fails needs a line in explanations.yaml; without one, and for a line that explains nothing, the exit status is 1.
If the tests of a library cannot be downloaded, or it is not installed, the reason is printed, the other suites run, and
the exit status is 1 too. `--only WORD,WORD` selects by name. `--write` keeps the results, beside the earlier ones of
suites that did not run, and writes docs/ecosystem.md.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.ecosystem import suite_page
from tests.ecosystem.command import keep, parser, selected
from tests.ecosystem.page import ROOT, version
from tests.ecosystem.suite_page import Suite as Result
from tests.ecosystem.suite_page import explanations, faults

FOLDER = ROOT / "build/suites"
PLUGIN = Path(__file__).with_name("plugin")
DEVICES = ("cpu", "jax:0")


@dataclasses.dataclass(frozen=True)
class Suite:
    """Where the tests of a library are, and how they choose a device.

    `choice` is `default` if they have no parameter for a device, so that `torch.set_default_device` chooses it. Of
    the files in a folder, those run that contain `word`.
    """

    tests: tuple[str, ...]
    word: str = ""
    choice: str = "default"
    repository: str = ""
    tag: str = "{}"
    options: tuple[str, ...] = ()
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)


# All folders but `examples` and `variational`, which train many Gaussian processes and take several times as long.
GPYTORCH = (
    *("constraints", "distributions", "functions", "kernels", "lazy", "likelihoods", "means"),
    *("metrics", "mlls", "models", "optim", "priors", "utils"),
)

SUITES = {
    "einops": Suite(("einops/tests",), variables={"EINOPS_TEST_BACKENDS": "torch"}),
    "gpytorch": Suite(tuple(f"test/{name}" for name in GPYTORCH)),
    "kornia": Suite(
        ("tests/color", "tests/filters", "tests/morphology"),
        choice="option",
        repository="https://github.com/kornia/kornia",
        tag="v{}",
        options=("--device={device}", "--dtype=float32"),
    ),
    "torch-geometric": Suite(
        ("test",),
        word="withDevice",
        choice="variable",
        repository="https://github.com/pyg-team/pytorch_geometric",
        variables={"TORCH_DEVICE": "jax:0", "TORCH_BACKEND": "tenax"},
    ),
}


def obtain(library: str, release: str) -> Path:
    """The folder of a library's tests, downloaded if it is not there yet.

    Raises:
        RuntimeError: neither the package index nor the repository could be read.
    """
    suite, target = SUITES[library], FOLDER / f"{library}-{release}"
    if target.exists():
        return target
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        made = Path(folder) / "source"
        if suite.repository:
            tag = suite.tag.format(release)
            finish("git", "clone", "--quiet", "--depth=1", f"--branch={tag}", suite.repository, str(made))
        else:
            pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", library)
            finish(*pip, f"{library}=={release}", "--dest", folder)
            with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
                archive.extractall(folder, filter="data")
            next(path for path in Path(folder).iterdir() if path.is_dir()).rename(made)
        package = made / library.replace("-", "_")
        if not suite.tests[0].startswith(package.name):
            shutil.rmtree(package)
        made.rename(target)
    return target


def finish(*command: str) -> None:
    """Run a command that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} …: {done.stderr.strip()[-300:]}")


def run(library: str, device: str, folder: Path, again: bool) -> Result:
    """Run one suite on one device, in a process of its own; or read the results that the last run left."""
    results = folder / f"results-{device.partition(':')[0]}.jsonl"
    if again or not results.exists():
        start(SUITES[library], device, folder, results)
    ends = outcomes(results.read_text())
    counts = [sum(end == kind for end, _ in ends.values()) for kind in ("passed", "failed", "skipped")]
    failures = {name: message for name, (end, message) in sorted(ends.items()) if end == "failed"}
    return Result(library, version(library) or "", device, *counts, failures)


def start(suite: Suite, device: str, folder: Path, results: Path) -> None:
    """Run a suite; what ends as it should not is seen in its results, or in their absence."""
    results.unlink(missing_ok=True)
    variables = {name: text.format(device=device) for name, text in suite.variables.items()}
    own = {
        "SUITE_DEVICE": device,
        "SUITE_CHOICE": suite.choice,
        "SUITE_OFFERED": DEVICES[1],
        "SUITE_RESULTS": str(results),
    }
    options = [option.format(device=device) for option in suite.options]
    plugins = ("-p", "suite_device", "-p", "no:cacheprovider", "--rootdir=.")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-W", "ignore", "-o", "addopts=", *plugins]
    tests = [file for name in suite.tests for file in files(folder, name, suite.word)]
    done = subprocess.run(
        [*command, *options, *tests],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **variables, **own, "PYTHONPATH": str(PLUGIN), "MPLBACKEND": "agg"},
    )
    (folder / f"output-{device}.txt").write_text(done.stdout + done.stderr)
    if not results.exists():
        raise RuntimeError(f"{folder.name}: no test ran: {done.stdout[-1000:]}{done.stderr[-1000:]}")


def files(folder: Path, name: str, word: str) -> list[str]:
    """A folder of tests, or those of its files that contain a word."""
    if not word:
        return [name]
    found = sorted((folder / name).glob("**/test_*.py"))
    return [str(path.relative_to(folder)) for path in found if word in path.read_text()]


def outcomes(lines: str) -> dict[str, tuple[str, str]]:
    """How each test ended, and with which message; one that began and did not end has ended the process."""
    worst = ("failed", "skipped", "passed", "began")
    found: dict[str, tuple[str, str]] = {}
    for entry in map(json.loads, lines.splitlines()):
        end = (entry["outcome"], entry.get("message", ""))
        known = found.get(entry["id"], ("began", ""))
        found[entry["id"]] = min(known, end, key=lambda one: worst.index(one[0]))
    return {
        name: ("failed", "the process ended") if end == "began" else (end, text) for name, (end, text) in found.items()
    }


def main() -> None:
    """Run the suites, print the table and the failures that nothing explains."""
    arguments = parser("tests.ecosystem.suites", __doc__, "Select by words of names, with commas between.")
    arguments.add_argument("--device", choices=DEVICES, help="Run on one device.")
    arguments.add_argument("--kept", action="store_true", help="Read the results of the last run where there are some.")
    options = arguments.parse_args()
    found, not_run = {}, []
    for library in selected(arguments, SUITES, options.only):
        release = version(library)
        try:
            if release is None:
                raise RuntimeError("not installed; expected the extra `ecosystem`")
            folder = obtain(library, release)
            for device in [options.device] if options.device else DEVICES:
                found[library, device] = run(library, device, folder, not options.kept)
        except RuntimeError as error:
            not_run.append(f"{library}: not run: {error}")
            print(not_run[-1], flush=True)
    table = Table("library", "release", "device", "passed", "failed", "skipped")
    for result in found.values():
        table.add_row(*map(str, result.cells))
    Console().print(table)
    wrong = faults(found.values(), explanations()) + not_run
    print("\n".join(wrong))
    if options.write:
        partial = bool(options.only or options.device or not_run)
        keep(suite_page, found, lambda one: (one.library, one.device), partial)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

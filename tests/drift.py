"""What fails with the newest releases of JAX, torch and the libraries around them, whatever the caps.

`python tests/drift.py` installs them into build/drift-venv for the newest interpreter on the path, runs a tier of the
tests and an example, and prints the failures by cause; the exit status is 1 if there are any. It also names libraries
whose newest release needs another interpreter. `--pre` takes prereleases, and `--index URL` adds a package index, such
as one of nightly builds. It imports the standard library alone, because it runs outside of its environment.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "drift-venv"
PYTHON = str(FOLDER / "bin" / "python")
WATCHED = ("jax", "flax", "optax", "torch")
SECONDS = 15 * 60
TIER = (
    *("structure/test_seams", "xla/test_options", "xla/test_mlir_contexts", "kernels/test_in_place_programs"),
    *("dispatch/test_dispatcher", "dispatch/test_donation", "aten/test_memory", "lazy/test_programs"),
    *("jit/test_functions", "jit/test_attributes", "jit/test_autograd", "jit/test_guards", "jit/test_state"),
    *("compile/test_modules", "export/test_artifacts", "interop/test_calls", "interop/test_modules"),
)
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "TENAX_ALLOW_UNTESTED": "1",
    "XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1",
}
VERSION = "import sys; from importlib import metadata; print(metadata.version(sys.argv[1]))"


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def newest_interpreter() -> str:
    """The newest Python on the path that can make environments; 3.13.0 is known not to work."""
    usable = "import ensurepip, sys, venv; sys.exit(sys.version_info[:3] == (3, 13, 0))"
    names = [f"python3.{minor}" for minor in range(30, sys.version_info.minor, -1)]
    for path in filter(None, map(shutil.which, names)):
        if not subprocess.run([path, "-c", usable], stderr=subprocess.DEVNULL, check=False).returncode:
            return path
    return sys.executable


def install(options: list[str]) -> None:
    """Install tenax, and the newest releases of all that it and its tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    names = [re.split(r"[^\w.-]", requirement)[0] for requirement in needed]
    output(newest_interpreter(), "-m", "venv", "--clear", str(FOLDER))
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    output(*pip, *options, *names)
    output(*pip, "--no-deps", "--ignore-requires-python", "-e", str(ROOT))


def report_versions(options: list[str]) -> None:
    """Print what is installed, and which newer releases the interpreter does not get."""
    print(output(PYTHON, "--version"))
    for name in WATCHED:
        installed = output(PYTHON, "-c", VERSION, name)
        index = output(PYTHON, "-m", "pip", "index", "versions", "--ignore-requires-python", *options, name)
        newest = index.partition("(")[2].partition(")")[0]
        held = "" if newest == installed.partition("+")[0] else f": {newest} needs another interpreter"
        print(f"{name} {installed}{held}", flush=True)


def run_tests(report: Path) -> dict[str, list[str]]:
    """Run the tier; return the tests that failed, by the first line of their message."""
    files = [f"tests/{name}.py" for name in TIER]
    report.unlink(missing_ok=True)
    command = [PYTHON, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-m", "not slow", f"--junitxml={report}"]
    try:
        subprocess.run([*command, *files], cwd=ROOT, env={**os.environ, **SETTINGS}, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {f"the tests did not end within {SECONDS // 60} minutes": files}
    causes: dict[str, list[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        for outcome in (*case.findall("failure"), *case.findall("error")):
            cause = (outcome.get("message") or "no message").splitlines()[0]
            causes.setdefault(cause, []).append(f"{case.get('classname')}::{case.get('name')}")
    return causes


def main() -> int:
    """Install, run and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pre", action="store_true", help="Take prereleases too.")
    parser.add_argument("--index", help="A package index to search as well.")
    chosen = parser.parse_args()
    options = [*(["--pre"] if chosen.pre else []), *(["--extra-index-url", chosen.index] if chosen.index else [])]
    install(options)
    report_versions(options)
    causes = run_tests(ROOT / "build" / "drift.xml")
    example = [PYTHON, str(ROOT / "examples" / "digits.py")]
    if subprocess.run(example, env={**os.environ, **SETTINGS}, check=False).returncode:
        causes["examples/digits.py failed"] = [" ".join(example)]
    print("\nBy cause:" if causes else "\nNothing failed.")
    for cause, tests in sorted(causes.items(), key=lambda item: -len(item[1])):
        print(f"{len(tests)} x {cause}", *tests, sep="\n    ")
    return 1 if causes else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""One check of a machine with an NVIDIA GPU: does everything run there, and how fast?

`make gpu`, or `python benchmarks/gpu.py`, needs a checkout and nothing of an earlier run. It takes at most nine minutes
(`--minutes`). Each part runs in a process of its own with a time limit, and its results are written while it runs, so
that a run that is cut off loses no more than the row that it was measuring:

- `build/gpu/results.jsonl`: the tables; `python benchmarks/gpu.py --merge FILE` puts them into docs/benchmarks.md
  and benchmarks/results/gpu.md, on any machine;
- `build/gpu/PART.log`: what each part printed;
- `build/gpu/summary.json`: the machine, and how each part ended.

`--platform cpu` runs the same parts on the CPU, each as small as it gets: a test of this file.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGES = "torch", "jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda13-plugin", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"
GIVEN_UP = 124


class Part(NamedTuple):
    """A command, and the seconds that it may take."""

    name: str
    seconds: float
    command: list[str]


def script(name: str, *arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *arguments, "--write"]


def parts(small: bool, torch_python: str | None) -> Iterator[Part]:
    """The parts in the order of what one wants to know first. `small` ones take seconds on a CPU."""
    coverage = [str(Path(sys.executable).with_name("tenax")), "coverage", "run", "--quick", "--dtypes", "float32"]
    tests = [sys.executable, "-m", "pytest", "-q", "-m", "gpu and not slow", "-p", "no:cacheprovider"]
    if small:
        size = [f"--{name}={value}" for name, value in SMALL.items()]
        yield Part("gpt", 300, script("gpu_gpt", "all", "--variants=tenax,jax", *size))
        yield Part("compiled", 300, script("compiled", "--only=MLP", "--seconds=0.1", "--repeats=1"))
        yield Part("steps tenax.jit", 300, script("first_steps", "--only=MLP", "--mode=tenax.jit", "--seconds=0.1"))
        yield Part("eager", 120, script("eager", "--seconds=0.01", "--warmup=0", "--only=sum"))
        yield Part("coverage", 120, [*coverage, "--jobs=1", "--only=hypot", "--suites=op_db"])
        yield Part("tests", 120, [*tests, "tests/storage/test_dtype_views.py"])
        return
    variants = (
        ["--variants=tenax,jax,torch", f"--torch-python={torch_python}"] if torch_python else ["--variants=tenax,jax"]
    )
    yield Part("gpt", 200, script("gpu_gpt", "all", *variants))
    yield Part("compiled", 150, script("compiled", "--seconds=1", "--repeats=1"))
    yield Part("coverage", 120, [*coverage, f"--jobs={min(8, os.cpu_count() or 1)}"])
    yield Part("tests", 90, [*tests, "-n4", "tests"])
    for mode in ("tenax.jit", "JAX by hand", "eager", "torch.compile"):
        yield Part(f"steps {mode}", 60, script("first_steps", f"--mode={mode}", "--seconds=2"))
    yield Part("eager", 60, script("eager", "--seconds=0.5", "--warmup=0.5"))


SMALL = {"device": "cpu", "layers": 1, "width": 32, "heads": 2, "length": 16, "vocabulary": 64, "batch": 2, "steps": 2}


def machine(platform: str) -> dict[str, str]:
    """What the machine is.

    Raises:
        SystemExit: JAX does not see the platform.
    """
    found = subprocess.run(
        [sys.executable, "-c", "import jax; d = jax.devices()[0]; print(d.platform, d.device_kind, sep='|')"],
        capture_output=True,
        text=True,
    )
    seen, _, kind = (found.stdout.splitlines() or ["nothing|"])[-1].partition("|")
    if seen != platform:
        sys.exit(f"JAX sees {seen}, no {platform}: `tenax doctor` says why (README.md, installation)")
    versions = {p.metadata["Name"]: p.version for p in importlib.metadata.distributions()}
    known = {name: versions[name] for name in PACKAGES if name in versions}
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        driver = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        driver = "no nvidia-smi"
    return {"device": kind, "driver": driver, **known}


def cuda_python(candidate: str) -> str | None:
    """The interpreter, if its PyTorch sees CUDA."""
    program = "import torch; assert torch.cuda.is_available()"
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run([candidate, "-c", program], capture_output=True, env=environment)
    return None if done.returncode else candidate


# What the bindings of JAX 0.12 print at the end of a process.
_NOISE = re.compile(r" - |nanobind: |See https://nanobind")


def run(part: Part, out: Path, seconds: float) -> dict[str, object]:
    """Run a part; say how it ended, after how many seconds, and its last line."""
    environment = {**os.environ, "BENCHMARKS_OUT": str(out / "results.jsonl"), "PYTHONUNBUFFERED": "1"}
    environment.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # some parts have several processes
    log = out / f"{part.name.replace(' ', '_')}.log"
    started = time.monotonic()
    with log.open("w") as file:
        process = subprocess.Popen(
            part.command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = GIVEN_UP
            os.killpg(process.pid, signal.SIGKILL)  # the processes that it started end with it
            process.wait()
    last = [line for line in log.read_text().splitlines() if line.strip() and not _NOISE.match(line)][-1:]
    return {"status": status, "seconds": round(time.monotonic() - started, 1), "last line": "".join(last)}


def main() -> None:
    """Run the parts, or merge the tables of an earlier run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", choices=("gpu", "cpu"), default="gpu")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu", help="Folder of the results.")
    parser.add_argument("--torch-python", default=sys.executable, help="Interpreter of a PyTorch for CUDA.")
    parser.add_argument("--merge", type=Path, help="Put the tables of this file into their pages.")
    options = parser.parse_args()
    if options.merge:
        from tables import merge

        print(*merge(options.merge), sep="\n")
        return
    ends = time.monotonic() + 60 * options.minutes
    os.environ["JAX_PLATFORMS"] = {"gpu": "cuda", "cpu": "cpu"}[options.platform]
    summary: dict[str, object] = {"machine": machine(options.platform)}
    print(json.dumps(summary["machine"], indent=1), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.jsonl").unlink(missing_ok=True)
    for part in parts(options.platform == "cpu", cuda_python(options.torch_python)):
        left = ends - time.monotonic()
        summary[part.name] = run(part, options.out, min(part.seconds, left)) if left > 5 else "no time left"
        (options.out / "summary.json").write_text(json.dumps(summary, indent=1))
        print(part.name, summary[part.name], flush=True)


if __name__ == "__main__":
    main()

"""torch's own tests of process groups (`torch.testing._internal.distributed.distributed_test`), on device jax.

`python -m tests.distributed.torch_suite --write` runs each of its tests that gloo takes, with tensors on the CPU and
gloo, and with those on jax and the backend "tenax", and writes the results beside those of the other databases. The
tests make tensors without a device; the default device says where. Processes that hang or die are replaced by new ones,
which go on with the next test.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.testing._internal import common_utils

import tenax  # noqa: F401

REPOSITORY = Path(__file__).parents[2]
RELEASE = ".".join(torch.__version__.split(".")[:2])
RESULTS = REPOSITORY / "tests" / "coverage" / "results" / f"distributed-{RELEASE}.json"
RANKS, PATIENCE = 3, 60  # seconds for one test
TIMEOUT = timedelta(seconds=30)
FAST = "--xla_backend_optimization_level=0"  # to compile, not to run
BACKENDS = {"cpu": "gloo", "jax": "tenax"}


def suite() -> Any:
    """The module with the tests. It reads the environment when it is imported."""
    os.environ.update(BACKEND="gloo", WORLD_SIZE=str(RANKS))
    with contextlib.redirect_stdout(io.StringIO()):
        return importlib.import_module("torch.testing._internal.distributed.distributed_test")


def names() -> list[str]:
    """The tests."""
    return sorted(n for n in dir(suite().DistributedTest._DistTestBase) if n.startswith("test_"))


def outcome_of(case: Any, name: str) -> tuple[str, str]:
    """How a test ends on this rank, and why."""
    try:
        method = getattr(case, name)
        if getattr(method, "__unittest_skip__", False):
            return "skipped", method.__unittest_skip_why__
        method()
        return "passed", ""
    except unittest.SkipTest as why:
        return "skipped", str(why)
    except SystemExit as code:  # torch's way to skip a test in a process
        return "skipped", f"exit code {code}"
    except BaseException as error:
        return "failed", f"{type(error).__name__}: {error}".splitlines()[0][:200]


def run_rank(rank: int, device: str, folder: str, first: int) -> None:
    module = suite()
    os.environ["TEMP_DIR"] = folder
    if device == "jax":
        torch.set_default_device("jax")
        for name, value in vars(module).items():
            if isinstance(value, torch.nn.Module):
                setattr(module, name, value.to("jax"))
    store = dist.TCPStore("127.0.0.1", int(os.environ["SUITE_PORT"]), RANKS, is_master=False)
    base = module.DistributedTest._DistTestBase
    case = type("Case", (base, common_utils.TestCase), {"rank": rank, "world_size": RANKS, "runTest": None})()
    for i, name in [*enumerate(json.loads((Path(folder) / "names").read_text()))][first:]:
        if dist.is_initialized():
            dist.destroy_process_group()
        own = dist.PrefixStore(f"{i}", store)
        dist.init_process_group(BACKENDS[device], store=own, rank=rank, world_size=RANKS, timeout=TIMEOUT)
        torch.manual_seed(0)
        print(json.dumps(["begin", name, rank]), flush=True)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            outcome = outcome_of(case, name)
        print(json.dumps(["end", name, rank, *outcome]), flush=True)
        store.set(f"ended/{i}/{rank}", "")
        store.wait([f"ended/{i}/{r}" for r in range(RANKS)], timedelta(seconds=2 * PATIENCE))


def run(device: str, every: list[str], deadline: float) -> dict[str, list[str]]:
    """How each test ends: the worst of its ranks. Those that have not begun at a time do not run."""
    found: dict[str, list[str]] = {}
    first = 0
    order = ("passed", "skipped", "failed")
    while first < len(every):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("barrier", "test_dir", "init_dir"):
                (Path(folder) / name).mkdir()
            (Path(folder) / "names").write_text(json.dumps(every))
            store = dist.TCPStore("127.0.0.1", 0, RANKS, is_master=True, wait_for_workers=False)
            arguments = [sys.executable, "-m", "tests.distributed.torch_suite", "--device", device, "--folder", folder]
            children = [
                subprocess.Popen(
                    [*arguments, "--rank", str(rank), "--first", str(first)],
                    cwd=REPOSITORY,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    start_new_session=True,
                    env={**os.environ, "SUITE_PORT": str(store.port), "XLA_FLAGS": FAST},
                )
                for rank in range(RANKS)
            ]
            for child in children:
                os.set_blocking(child.stdout.fileno(), False)
            ended: Counter[str] = Counter()
            begun, last, over = "", time.monotonic(), False
            while (
                any(child.poll() is None for child in children)
                and not any(child.poll() for child in children)
                and time.monotonic() - last < PATIENCE
                and time.monotonic() < deadline
                and not over
            ):
                time.sleep(0.05)
                for line in (line for child in children for line in child.stdout):
                    if not line.startswith('["'):
                        continue
                    if over:  # what begins in processes that are not to go on is begun again
                        break
                    kind, name, _rank, *outcome = json.loads(line)
                    last = time.monotonic()
                    begun = name
                    if kind == "end":
                        ended[name] += 1
                        if ended[name] == RANKS:
                            print(device, name, *outcome, file=sys.stderr, flush=True)
                        if order.index(outcome[0]) >= order.index(found.get(name, ["passed"])[0]):
                            found[name] = outcome
                    # After an error or a timeout, a process may still wait for another in XLA.
                    over = ended[name] == RANKS and (found[name][0] == "failed" or "timeout" in name)
            for child in children:
                if child.poll() is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if ended[every[-1]] == RANKS:
            break
        if time.monotonic() >= deadline:
            return {name: outcome for name, outcome in found.items() if ended[name] == RANKS or name != begun}
        stopped = begun or every[first]
        if ended[stopped] < RANKS:
            found[stopped] = ["failed", "its processes hang or die"]
        first = every.index(stopped) + 1
    return found


def main() -> None:
    """Run the tests on both devices, or be one of their processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store the results")
    parser.add_argument("--minutes", type=float, default=60, help="for each device; the rest is left out")
    for hidden in ("--device", "--folder", "--rank", "--first"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank is not None:
        run_rank(int(options.rank), options.device, options.folder, int(options.first))
        return
    on_cpu = run("cpu", names(), time.monotonic() + 60 * options.minutes)
    asked = [name for name, (how, _) in on_cpu.items() if how == "passed"]
    report = run("jax", asked, time.monotonic() + 60 * options.minutes)
    print(f"{len(asked)} pass on the CPU, of which {len(report)} ran on the device")
    for name, (how, why) in report.items():
        if how != "passed":
            print(f"{name}: {how}: {why}")
    print(Counter(how for how, _ in report.values()))
    if options.write:
        versions = {"torch": torch.__version__, "ranks": RANKS, "not run": len(asked) - len(report)}
        RESULTS.write_text(json.dumps({"versions": versions, "tests": report}, indent=1) + "\n")


if __name__ == "__main__":
    main()

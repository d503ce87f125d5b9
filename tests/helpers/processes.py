"""Programs in new processes, forked from one that has imported torch and tenax: half the time of a small program.

The fork comes before the import of JAX, after which the device would not work in it. A test of what imports do, or of
an environment variable that one of them reads, starts an interpreter of its own instead.
"""

from __future__ import annotations

import functools
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The new process returns from `serve`, and so runs its program and ends as a script does.
_SERVER = "from tests.helpers.processes import serve\nexec(serve())"


def run(
    program: str,
    *arguments: str,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    timeout: int = 600,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """The status and output of a program, as `subprocess.run` gives them for `python -c program arguments`.

    A program that takes longer than `timeout` seconds is ended by SIGALRM.
    """
    environment = dict(os.environ if env is None else env)
    with tempfile.TemporaryDirectory() as folder:
        outputs = [str(Path(folder, name)) for name in ("stdout", "stderr")]
        process = _server()
        assert process.stdin is not None
        assert process.stdout is not None
        pickle.dump((program, arguments, str(cwd), environment, timeout, outputs), process.stdin)
        process.stdin.flush()
        done = subprocess.CompletedProcess(
            [program, *arguments], pickle.load(process.stdout), *(Path(path).read_text() for path in outputs)
        )
    if check:
        assert done.returncode == 0, done.stderr
    return done


@functools.cache
def _server() -> subprocess.Popen[bytes]:
    from tenax.coverage.apart import interpreter  # not in the server, which forks before JAX is imported

    return interpreter(_SERVER, cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})


def serve() -> str:
    """Fork for each request on standard input. Returns the program of a request in its process."""
    import tenax  # noqa: F401

    threads = Path("/proc/self/task")
    assert not threads.exists() or len([*threads.iterdir()]) == 1, "a fork loses the other threads"
    statuses = os.fdopen(os.dup(1), "wb")
    while True:
        try:
            program, arguments, cwd, environment, timeout, outputs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return ""
        pid = os.fork()
        if not pid:
            break
        pickle.dump(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), statuses)
        statuses.flush()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv[1:] = arguments
    for number, path in enumerate([os.devnull, *outputs]):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    signal.alarm(timeout)
    return str(program)

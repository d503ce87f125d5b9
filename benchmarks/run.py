"""Run every benchmark suite, one after the other, each in a process of its own: some set how tenax compiles."""

import subprocess
import sys
from pathlib import Path

for suite in ("eager", "eager_steps", "lowerings", "compiled", "calls", "rows", "changing", "distributed"):
    subprocess.run([sys.executable, Path(__file__).parent / f"{suite}.py"], check=True)

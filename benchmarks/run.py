"""Run every benchmark suite, one after the other."""

import runpy
from pathlib import Path

for suite in ("eager", "eager_steps", "lowerings", "compiled", "calls", "rows", "changing", "distributed"):
    runpy.run_path(str(Path(__file__).parent / f"{suite}.py"), run_name="__main__")

"""`tenax xla script.py`: run a script or module with PyTorch/XLA's names."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from . import install


def run(args: Sequence[str]) -> None:
    """Run `script.py args...` or `-m module args...` as `python` would, with tenax's `torch_xla`.

    Raises:
        FileNotFoundError: there is no such script.
    """
    install()
    if args[0] == "-m":
        sys.argv = [*args[1:]]
        sys.path.insert(0, "")
        runpy.run_module(args[1], run_name="__main__", alter_sys=True)
        return
    path = Path(args[0])
    code = compile(path.read_bytes(), str(path), "exec")
    sys.argv = [*args]
    sys.path.insert(0, str(path.resolve().parent))
    # The module is kept in `sys.modules`, because spawned processes and pickles refer to it.
    main = ModuleType("__main__")
    main.__file__ = str(path)
    sys.modules["__main__"] = main
    try:
        exec(code, vars(main))
    except Exception as error:
        traceback.print_exception(error.with_traceback(error.__traceback__.tb_next if error.__traceback__ else None))
        raise SystemExit(1) from None

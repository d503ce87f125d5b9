"""Call functions once a module has been imported, which may have happened already, or may never happen.

The cost is a finder in `sys.meta_path`, which delegates to the other finders.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_waiting: dict[str, list[Callable[[], None]]] = {}  # by module


def after_import(name: str, then: Callable[[], None]) -> None:
    """Call `then` when the module `name` has been imported: now, or at the end of its import.

    An `ImportError` in `then` does not make that import fail.
    """
    _waiting.setdefault(name, []).append(then)
    if name in sys.modules:
        _imported(name)
    elif _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def _imported(name: str) -> None:
    for then in _waiting.pop(name, ()):
        with contextlib.suppress(ImportError):  # the first tensor of the device raises it
            then()


class _Finder(MetaPathFinder):
    """Finds a module through the other finders, and calls its functions after the module has been executed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the module, with a loader that calls the functions."""
        if fullname not in _waiting:
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((s for f in others if (s := f.find_spec(fullname, path, target)) is not None), None)
        if spec is None or spec.loader is None:
            return None
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # restore the class's method
            execute(module)
            _imported(fullname)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_finder = _Finder()

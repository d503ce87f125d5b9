"""Names operations in compiled programs after the module that runs them, for profiles and HLO."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import torch
from torch.nn.modules import module as modules


@contextmanager
def named(reached: Sequence[tuple[str, torch.nn.Module]]) -> Iterator[None]:
    """Name operations while a function is traced; `reached` pairs modules with paths, others are named by class.

    An inner module is named by its path in the outer one, as in `blocks.0`, because a list of modules is never called.
    """
    paths = {id(module): path for path, module in reached}
    open_scopes: list[Any] = []
    open_paths: list[str] = []
    thread = threading.get_ident()  # the hooks are called on every thread

    def enter(module: torch.nn.Module, _: Any) -> None:
        if threading.get_ident() != thread:
            return
        path = paths.get(id(module), "")
        outer = next((p for p in reversed(open_paths) if path.startswith(f"{p}.")), "")
        name = path.removeprefix(f"{outer}.") if outer else path.rpartition(".")[2]
        scope = jax.named_scope((name or type(module).__name__).replace("/", "_"))
        scope.__enter__()
        open_scopes.append(scope)
        open_paths.append(path)

    def leave(module: torch.nn.Module, _: Any, __: Any) -> None:
        if threading.get_ident() == thread:
            open_scopes.pop().__exit__(None, None, None)
            open_paths.pop()

    if any(type(module).__name__ == "OptimizedModule" for _, module in reached):
        yield  # torch.compile warns about hooks, and its graphs have names of their own
        return
    before = modules.register_module_forward_pre_hook(enter)
    after = modules.register_module_forward_hook(leave, always_call=True)
    try:
        yield
    finally:
        before.remove()
        after.remove()
        while open_scopes:
            open_scopes.pop().__exit__(None, None, None)

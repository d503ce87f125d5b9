"""Names of PyTorch/XLA that tenax lacks: they can be imported, and raise where they are used.

The rows "not" of `table.py` list them. A module that has only such names is created from the table. `REEXPORTS` lists
the modules that have names of others.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from ..alias import Reexports, Table, refused

HOME = __package__
PUBLIC = "torch_xla"
_CHECKPOINTS = f"{HOME}.experimental.distributed_checkpoint"
REEXPORTS: Table = {
    f"{HOME}._dynamo.dynamo_bridge": {
        ".core.dynamo_bridge": "extract_compiled_graph",
        ".ordinals": "is_xla_tensor",
        ".utils.buffer_donor_context": "alias_with_buffer_donor_config",
    },
    f"{HOME}._internal.utils": {".devices": "parse_xla_device"},
    f"{HOME}._patched_functions": {"torch.nn.utils": "clip_grad_norm_"},
    f"{HOME}.amp.autocast_mode": {".amp": "autocast"},
    f"{HOME}.amp.grad_scaler": {".amp": "GradScaler"},
    f"{HOME}.amp.syncfree.adam": {".amp.syncfree": "Adam"},
    f"{HOME}.amp.syncfree.adamw": {".amp.syncfree": "AdamW"},
    f"{HOME}.amp.syncfree.sgd": {".amp.syncfree": "SGD"},
    f"{HOME}.experimental.distributed_checkpoint.manager": {
        ".experimental.distributed_checkpoint": "CheckpointManager"
    },
    f"{_CHECKPOINTS}.planners": {_CHECKPOINTS: "SPMDLoadPlanner SPMDSavePlanner"},
    f"{_CHECKPOINTS}.util": {_CHECKPOINTS: "prime_optimizer"},
    f"{HOME}.experimental.scan_layers": {".experimental.scan": "scan_layers"},
    f"{HOME}.experimental.xla_sharding": {
        ".distributed.spmd": (
            "HybridMesh Mesh ShardingSpec ShardingType XLAShardedTensor clear_sharding get_1d_mesh get_global_mesh "
            "mark_sharding set_global_mesh"
        )
    },
    f"{HOME}.torch_xla": {
        HOME: "compile device device_count devices launch manual_seed real_devices step sync",
    },
}


@cache
def _rows() -> dict[str, dict[str, str]]:
    """What replaces each name that is missing, by module."""
    from .table import NOT, ROWS

    found: dict[str, dict[str, str]] = {}
    for row in ROWS:
        if row.status == NOT:
            found.setdefault(row.module, {}).update(dict.fromkeys(row.names, row.tenax))
    return found


def exists(module: str) -> bool:
    """Whether this package has a module."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its package is missing
        return False


def missing_module(name: str) -> ModuleType | None:
    """The module `torch_xla...` if all its names are missing; None if it is not in the table, or exists."""
    if name in sys.modules:
        return sys.modules[name]
    inner = any(known.startswith(f"{name}.") for known in _rows())
    if (name not in _rows() and not inner) or exists(HOME + name.removeprefix(PUBLIC)):
        return None
    module = ModuleType(name, f"The module {name} of PyTorch/XLA, whose names raise.")
    module.__getattr__ = names_of(HOME + name.removeprefix(PUBLIC))  # type: ignore[method-assign]
    if inner:
        module.__path__ = []
    sys.modules[name] = module
    return module


def names_of(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module of this package: its submodules, imported at their first use, and the names that
    raise. `import torch_xla` alone makes `torch_xla.experimental.eager_mode` available."""
    public = PUBLIC + module.removeprefix(HOME)

    def get(name: str) -> Any:
        if not name.startswith("__"):
            instead = _rows().get(public, {}).get(name)
            if instead is not None:
                return refused(f"{public}.{name}", "PyTorch/XLA", instead)
            path = f"{module}.{name}"
            if getattr(sys.modules.get(module), "__path__", None) and exists(path):
                return importlib.import_module(path)
            found = missing_module(f"{public}.{name}")
            if found is not None:
                return found
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get


sys.meta_path.append(Reexports(HOME, REEXPORTS, lambda module, name: names_of(module)(name)))

"""`torch_xla.stablehlo`: programs of `torch.export` as StableHLO, with `tenax.export`."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from ... import export
from ..._torch import pytree
from ...trace.transfer import from_jax, to_jax


@dataclass
class StableHLOExportOptions:
    """Options of the export, of which only the defaults are supported."""

    override_tracing_arguments: Any = None


class StableHLOGraphModule:
    """A program as StableHLO that can be called with tensors."""

    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        self._weights, self._function = export.exported_to_jax(program)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        arguments, keywords = to_jax(pytree.tree_map_only(torch.Tensor, _on_device, (args, kwargs)))
        return from_jax(self._function(self._weights, *arguments, **keywords)[0])

    def get_stablehlo_text(self, method_name: str = "forward") -> str:
        """The module as text."""
        return export.to_stablehlo(self.program)

    def get_stablehlo_bytecode(self, method_name: str = "forward") -> bytes:
        """The module as portable bytecode."""
        return export.to_stablehlo(self.program, bytecode=True)

    def save(self, directory: str | PathLike[str]) -> None:
        """Write `program.tenax`, the artifact of `tenax.export.save`, and `program.mlir` to a folder."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        export.save(self.program, folder / "program.tenax")
        (folder / "program.mlir").write_text(self.get_stablehlo_text())


def _on_device(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to("jax")


def exported_program_to_stablehlo(
    exported_model: ExportedProgram, options: StableHLOExportOptions | None = None
) -> StableHLOGraphModule:
    """An exported program as StableHLO.

    Raises:
        NotImplementedError: as in `tenax.export.exported_to_jax`.
    """
    return StableHLOGraphModule(exported_model)


def save_as_stablehlo(
    exported_model: ExportedProgram, stablehlo_dir: str | PathLike[str], options: Any = None
) -> StableHLOGraphModule:
    """Write an exported program to a folder; see `StableHLOGraphModule.save`."""
    module = exported_program_to_stablehlo(exported_model)
    module.save(stablehlo_dir)
    return module


def save_torch_model_as_stablehlo(torchmodel: nn.Module, args: Any, path: str, options: Any = None) -> None:
    """Export a module and write it to a folder."""
    save_as_stablehlo(torch.export.export(torchmodel, tuple(args)), path)

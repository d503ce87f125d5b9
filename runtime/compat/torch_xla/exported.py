"""Programs as StableHLO: those of `torch.export`, with `tenax.export`, and recorded ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import jax
import torch
from torch import nn
from torch.export import ExportedProgram

from ... import export
from ..._lazy.mode import own_tape
from ..._torch import NAME, pytree
from ...storage.random import draw_key
from ...storage.tensors import cell_of
from ...trace.transfer import from_jax, to_jax


@dataclass
class StableHLOExportOptions:
    """Options of the export, of which only the defaults are supported."""

    override_tracing_arguments: Any = None

    def __post_init__(self) -> None:
        if self.override_tracing_arguments is not None:
            raise NotImplementedError(
                "StableHLOExportOptions: override_tracing_arguments; expected None, because tenax.export does not "
                "trace again with other arguments: pass them to torch.export.export"
            )


class StableHLOGraphModule:
    """A program as StableHLO that can be called with tensors."""

    def __init__(self, program: ExportedProgram) -> None:
        self.program: ExportedProgram | None = program
        self._weights, self._function = export.exported_to_jax(program)
        self._is_random = self._function.is_random  # type: ignore[attr-defined]

    @classmethod
    def load(cls, stablehlo_dir: str | PathLike[str]) -> StableHLOGraphModule:
        """Read a program from a folder that `save` has written. It runs on the platforms for which it was saved.

        Raises:
            FileNotFoundError: there is no `program.tenax` in the folder. The files of PyTorch/XLA are others.
        """
        module = cls.__new__(cls)
        module.program = None
        module._weights, exported = export.load(Path(stablehlo_dir) / "program.tenax")
        module._function = jax.jit(exported.call)
        module._is_random = "rng" in jax.tree.unflatten(exported.in_tree, exported.in_avals)[1]
        return module

    def __call__(self, *args: Any, method_name: str = "forward", **kwargs: Any) -> Any:
        _check_method(method_name)
        arguments, keywords = to_jax(pytree.tree_map_only(torch.Tensor, _on_device, (args, kwargs)))
        if self._is_random:
            keywords["rng"] = draw_key()
        return from_jax(self._function(self._weights, *arguments, **keywords)[0])

    def evaluate(self, method_name: str, args: Sequence[Any]) -> Any:
        """Call the method of a name, which is 'forward', with arguments."""
        return self(*args, method_name=method_name)

    def _exported(self, name: str) -> ExportedProgram:
        if self.program is None:
            raise NotImplementedError(
                f"StableHLOGraphModule.{name} of a module that was loaded; expected the module that was saved, or the "
                "file program.mlir in its folder"
            )
        return self.program

    def get_stablehlo_text(self, method_name: str = "forward") -> str:
        """The module as text."""
        _check_method(method_name)
        return export.to_stablehlo(self._exported("get_stablehlo_text"))

    def get_stablehlo_bytecode(self, method_name: str = "forward") -> bytes:
        """The module as portable bytecode."""
        _check_method(method_name)
        return export.to_stablehlo(self._exported("get_stablehlo_bytecode"), bytecode=True)

    def save(self, directory: str | PathLike[str]) -> None:
        """Write `program.tenax`, the artifact of `tenax.export.save`, and `program.mlir` to a folder."""
        program = self._exported("save")
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        export.save(program, folder / "program.tenax")
        (folder / "program.mlir").write_text(self.get_stablehlo_text())


def _check_method(name: str) -> None:
    if name != "forward":
        raise NotImplementedError(f"StableHLOGraphModule: method {name!r}; expected 'forward', the only one")


def _check_options(options: Any) -> None:
    if options is not None and not isinstance(options, StableHLOExportOptions):
        raise TypeError(f"options: got {type(options).__name__}; expected StableHLOExportOptions or None")


def _on_device(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(NAME)


def exported_program_to_stablehlo(
    exported_model: ExportedProgram, options: StableHLOExportOptions | None = None
) -> StableHLOGraphModule:
    """An exported program as StableHLO.

    Raises:
        NotImplementedError: as in `tenax.export.exported_to_jax`.
    """
    _check_options(options)
    return StableHLOGraphModule(exported_model)


def save_as_stablehlo(
    exported_model: ExportedProgram, stablehlo_dir: str | PathLike[str], options: StableHLOExportOptions | None = None
) -> StableHLOGraphModule:
    """Write an exported program to a folder; see `StableHLOGraphModule.save`."""
    module = exported_program_to_stablehlo(exported_model, options)
    module.save(stablehlo_dir)
    return module


def save_torch_model_as_stablehlo(
    torchmodel: nn.Module, args: Any, path: str, options: StableHLOExportOptions | None = None
) -> None:
    """Export a module and write it to a folder."""
    save_as_stablehlo(torch.export.export(torchmodel, tuple(args)), path, options)


def get_stablehlo(tensors: Sequence[torch.Tensor] | None = None) -> str:
    """The program that would compute tensors, as StableHLO text. Nothing is computed.

    Args:
        tensors: recorded tensors that have not been computed; by default, all.

    Raises:
        RuntimeError: nothing is recorded, as in eager mode.
    """
    return str(lowered(tensors).as_text())


def get_stablehlo_bytecode(tensors: Sequence[torch.Tensor] | None = None) -> bytes:
    """The program that would compute tensors, as StableHLO bytecode; see `get_stablehlo`."""
    file = BytesIO()
    module: Any = lowered(tensors).compiler_ir("stablehlo")
    module.operation.write_bytecode(file)
    return file.getvalue()


def lowered(tensors: Sequence[torch.Tensor] | None) -> jax.stages.Lowered:
    """The program that would compute recorded tensors, by default all, as JAX lowers it.

    Raises:
        RuntimeError: nothing is recorded, as in eager mode.
    """
    try:
        return own_tape().lowered([cell_of(t).pending for t in tensors or ()])
    except ValueError as error:
        raise RuntimeError(
            f"xm.get_stablehlo: {error}; expected tensors of lazy mode (tenax.lazy, tenax xla), or "
            "tenax.export.to_stablehlo of a torch.export.export'ed module"
        ) from None

"""The folders that the generator reads and writes: those of a repository, an installed package, or a test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Tree:
    """The folders of one set of specs; `runtime` contains words.py and kernels/."""

    specs: Path
    generated: Path
    runtime: Path

    @classmethod
    def at(cls, root: Path = PACKAGE) -> Tree:
        """The repository at `root`, or the installed package, where `runtime` is `tenax` itself."""
        runtime = root / "runtime"
        return cls(root / "ops_spec", root / "generated", runtime if runtime.is_dir() else root)

    @property
    def words(self) -> Path:
        return self.runtime / "words.py"

    @property
    def autocast(self) -> Path:
        """The file of autocast policies."""
        return self.specs / "autocast.yaml"

    @property
    def checks(self) -> Path:
        """The file of named checks."""
        return self.specs / "checks.yaml"

    @property
    def kernels(self) -> Path:
        """The folder of lowerings longer than a line."""
        return self.runtime / "kernels"

    @property
    def aten(self) -> Path:
        """The folder of the functions that `prepare`, `check` and `results` name."""
        return self.runtime / "aten"

    def spec_files(self) -> list[Path]:
        """The files of entries, one per family."""
        return sorted(path for path in self.specs.glob("*.yaml") if path not in (self.autocast, self.checks))

    def modules(self) -> list[Path]:
        """The modules that expressions and entries name functions of: the words, and the kernels with their helpers."""
        return [path for path in [self.words, *sorted(self.kernels.rglob("*.py"))] if path.exists()]

    def spec_name(self, family: str) -> str:
        """The name of a spec file in messages and generated headers."""
        return f"ops_spec/{family}.yaml"

    def kernel(self, module: str) -> Path:
        return self.kernels / f"{module}.py"

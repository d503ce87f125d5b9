"""The recorded results of models, and the part of docs/ecosystem.md that is made from them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("models.json")
MODES = ("eager", "lazy", "jit")
HEAD = (
    "## Models\n\n"
    "Small models with random weights take two steps of SGD on the CPU and on the device: eagerly, in lazy mode, and "
    "as one program of `tenax.jit`. Columns show the relative error of losses and trained parameters. "
    "`python -m tests.ecosystem.models --write` runs them in the same environment.\n"
)


@dataclasses.dataclass(frozen=True)
class Model:
    """The result of one model; `errors` are relative, by mode."""

    library: str
    model: str
    version: str
    result: str
    errors: dict[str, float] = dataclasses.field(default_factory=dict)
    seconds: int | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        errors = (f"{self.errors[mode]:.1e}" if mode in self.errors else "" for mode in MODES)
        return self.library, self.model, self.version, self.result, *errors, str(self.seconds or "")


def read() -> dict[str, Any]:
    """The kept results; the rows are objects."""
    found = json.loads(RESULTS.read_text())
    return {**found, "rows": [Model(**row) for row in found["rows"]]}


def write(where: Mapping[str, str], models: Iterable[Model]) -> None:
    """Keep results."""
    rows = [dataclasses.asdict(one) for one in sorted(models, key=lambda m: (m.library, m.model))]
    RESULTS.write_text(json.dumps({**where, "rows": rows}, indent=1) + "\n")


def section() -> str:
    """The part of the page: a table."""
    found = read()
    lines = [
        HEAD,
        f"Recorded on {found['date']} with torch {found['torch']} and jax {found['jax']}.\n",
        f"| library | model | release | result | {' | '.join(MODES)} | s |",
        f"| --- | --- | --- | --- | {' | '.join('---:' for _ in MODES)} | ---: |",
        *(f"| {' | '.join(row.cells)} |" for row in found["rows"]),
    ]
    return "\n".join(lines) + "\n"

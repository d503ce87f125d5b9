"""The results of other libraries and of their models on the device, which `make ecosystem ECOSYSTEM=--write` and
`python -m tests.ecosystem.models --write` keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "ecosystem"


def libraries(torch_version: str) -> dict[str, Any]:
    """The results with this release of torch: `rows` of libraries, and `programs` that need no library but torch.

    Empty without a checkout, or for other releases.
    """
    found = _read("results.json", torch_version)
    if found:
        # A program that needs no library but torch has torch's release.
        found["programs"] = [row for row in found["rows"] if row["version"] == found["torch"]]
        found["rows"] = [row for row in found["rows"] if row not in found["programs"]]
    return found


def models(torch_version: str) -> dict[str, Any]:
    """The results of models with this release of torch; empty without a checkout, or for other releases."""
    return _read("models.json", torch_version)


def _read(name: str, torch_version: str) -> dict[str, Any]:
    path = FOLDER / name
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found if found and found["torch"].partition("+")[0] == torch_version else {}

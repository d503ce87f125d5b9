"""The results of programs of other libraries on the device, which `make ecosystem ECOSYSTEM=--write` keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "ecosystem" / "results.json"


def libraries(torch_version: str) -> dict[str, Any]:
    """What was tried and how it ended, with this release of torch; empty without a checkout, or for other releases."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found if found and found["torch"].partition("+")[0] == torch_version else {}

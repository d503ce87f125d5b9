"""The results of torch's own tests of process groups, which `python -m tests.distributed.torch_suite` writes."""

from __future__ import annotations

import json
from collections import Counter

from .results import FOLDER


def tests_of(torch_version: str) -> dict[str, tuple[str, str]]:
    """How each test that passes with gloo on the CPU ends on the device, and why; empty where nobody ran them."""
    path = FOLDER / f"distributed-{'.'.join(torch_version.split('+')[0].split('.')[:2])}.json"
    if not path.exists():
        return {}
    found: dict[str, tuple[str, str]] = {
        k: (how, why) for k, (how, why) in json.loads(path.read_text())["tests"].items()
    }
    return found


def passing(tests: dict[str, tuple[str, str]]) -> str:
    """The tests that pass, in words."""
    return f"{Counter(how for how, _ in tests.values())['passed']} of {len(tests)}"

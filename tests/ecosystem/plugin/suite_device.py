"""A plugin of pytest that runs the tests of a library on one device and writes down how each of them ended.

Variables of the environment say what to do: `SUITE_DEVICE` is the device, `SUITE_CHOICE` how the suite chooses it,
`SUITE_OFFERED` the device that a test has to offer, and `SUITE_RESULTS` the file that gets a line of JSON for each
phase of a test. The process of a suite sees neither this
repository nor its tests, whose package could hide the library's own, so this file is alone in its folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

DEVICE, CHOICE = os.environ["SUITE_DEVICE"], os.environ["SUITE_CHOICE"]
OFFERED = os.environ["SUITE_OFFERED"]
RESULTS = Path(os.environ["SUITE_RESULTS"])


def pytest_configure(config: pytest.Config) -> None:
    """Choose the device, where the suite has no parameter for it, or make its name known to the suite."""
    if CHOICE == "default":
        torch.set_default_device(DEVICE)
    if DEVICE != "cpu":
        torch.compiler.set_default_backend("tenax")
    for plugin in config.pluginmanager.get_plugins():
        devices = getattr(plugin, "TEST_DEVICES", None)  # the table in kornia's conftest.py
        if isinstance(devices, dict):
            devices.setdefault(DEVICE, torch.device(DEVICE))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that take this device as a parameter, where each test says which devices it offers."""
    if CHOICE != "variable":
        return
    offering = {item.nodeid.partition("[")[0] for item in items if OFFERED in named(item)}
    kept = [item for item in items if DEVICE in named(item) and item.nodeid.partition("[")[0] in offering]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def named(item: pytest.Item) -> set[str]:
    """The devices among the parameters of a test."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return {str(parameters["device"])} if "device" in parameters else set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """Note that a test began: one that ends the process is found by having no end."""
    note(id=item.nodeid, outcome="began")
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how each phase of a test ended, subtests among them."""
    message = ""
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = str(crash.message if crash is not None else report.longrepr)
    elif report.skipped and isinstance(report.longrepr, tuple):
        message = report.longrepr[2]
    if report.when == "call" or not report.passed:
        note(id=report.nodeid, outcome=report.outcome, message=message[:400])


def note(**entry: str) -> None:
    with RESULTS.open("a") as file:
        file.write(json.dumps(entry) + "\n")

"""`torch_xla.debug.metrics_saver`: reports of each step in a file."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from pathlib import Path

from ..ordinals import get_local_ordinal, xrt_world_size
from .metrics import metrics_report

_steps = itertools.count()
_lock = threading.Lock()


def save_metrics(metrics_file: str | None = None) -> None:
    """Append a report to a file.

    Args:
        metrics_file: its name, or STDERR or STDOUT; by default the variable `XLA_METRICS_FILE`, with the ordinal of
            this replica if there are several. Without it, nothing is written.
    """
    if metrics_file is None:
        metrics_file = os.environ.get("XLA_METRICS_FILE")
        if metrics_file is not None and xrt_world_size() > 1:
            metrics_file = f"{metrics_file}.{get_local_ordinal()}"
    if metrics_file is None:
        return
    text = f"[MetricsData; step={next(_steps)}]\n{metrics_report()}\n"
    if metrics_file in ("STDERR", "STDOUT"):
        print(text, file=sys.stderr if metrics_file == "STDERR" else sys.stdout)
        return
    with _lock, Path(metrics_file).open("a") as file:
        file.write(text)

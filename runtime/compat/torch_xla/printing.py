"""What training scripts print and write: rates, lines about steps, and summaries."""

from __future__ import annotations

import os
import sys
import threading
import time
from datetime import datetime
from typing import Any

import torch

from ..statistics import counters
from .hardware import xla_real_devices
from .ordinals import is_master_ordinal

_print_lock = threading.Lock()


def now(format: str = "%H:%M:%S") -> str:
    """The current time as text."""
    return datetime.now().strftime(format)


def print_training_update(
    device: Any,
    step: int,
    loss: Any,
    rate: float,
    global_rate: float,
    epoch: int | None = None,
    summary_writer: Any = None,
) -> None:
    """Print a line about a training step; `loss` is a number or a one-element tensor."""
    value = loss.item() if isinstance(loss, torch.Tensor) else loss
    parts = [f"| Training Device={xla_real_devices([device])[0]}"]
    parts += [f"Epoch={epoch}"] if epoch is not None else []
    parts += [f"Step={step}", f"Loss={value:.5f}", f"Rate={rate:.2f}", f"GlobalRate={global_rate:.2f}", f"Time={now()}"]
    print(" ".join(parts), flush=True)
    if summary_writer is not None:
        write_to_summary(summary_writer, step, {"Rate": rate, "GlobalRate": global_rate})


def print_test_update(device: Any, accuracy: float | None, epoch: int | None = None, step: int | None = None) -> None:
    """Print a line about an evaluation."""
    parts = [f"| Test Device={xla_real_devices([device])[0]}"]
    parts += [f"Step={step}"] if step is not None else []
    parts += [f"Epoch={epoch}"] if epoch is not None else []
    parts += [f"Accuracy={accuracy:.2f}"] if accuracy is not None else []
    print(" ".join([*parts, f"Time={now()}"]), flush=True)


def get_summary_writer(logdir: str | None) -> Any:
    """A TensorBoard writer on the first replica; None on others, and without a folder."""
    if not logdir or not is_master_ordinal(local=False):
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(log_dir=os.fspath(logdir))


def write_to_summary(
    summary_writer: Any,
    global_step: int | None = None,
    dict_to_write: dict[str, Any] | None = None,
    write_xla_metrics: bool = False,
) -> None:
    """Write numbers, and with `write_xla_metrics` the counters, if there is a writer."""
    if summary_writer is None:
        return
    found = dict(dict_to_write or {}) | (counters if write_xla_metrics else {})
    for name, value in found.items():
        summary_writer.add_scalar(name, value, global_step)


def close_summary_writer(summary_writer: Any) -> None:
    """Close a writer, if there is one."""
    if summary_writer is not None:
        summary_writer.close()


def master_print(*args: Any, fd: Any = None, local: bool = False, flush: bool = False) -> None:
    """Print on the first of all replicas, or with `local=True` on the first of each host."""
    if is_master_ordinal(local=local):
        with _print_lock:
            print(*args, file=fd or sys.stdout, flush=flush)


class RateTracker:
    """The rate of items counted by `add`, overall and smoothed."""

    def __init__(self, smooth_factor: float | None = None) -> None:
        """The default of `smooth_factor` is the variable RATE_TRACKER_SMOOTHING, or 0.4."""
        default = float(os.environ.get("RATE_TRACKER_SMOOTHING", "0.4"))
        self._smooth_factor = default if smooth_factor is None else smooth_factor
        self._start_time = self._partial_time = time.time()
        self._count = self._partial_count = 0.0
        self._partial_rate: float | None = None

    def add(self, count: float) -> None:
        """Add to the count."""
        self._count += count
        self._partial_count += count

    def rate(self) -> float:
        """The rate since the last call, smoothed with earlier ones."""
        now = time.time()
        elapsed = max(now - self._partial_time, 1e-9)
        rate = self._partial_count / elapsed
        if self._partial_rate is not None:
            rate = self._smooth_factor * self._partial_rate + (1 - self._smooth_factor) * rate
        self._partial_time, self._partial_count, self._partial_rate = now, 0.0, rate
        return rate

    def global_rate(self) -> float:
        """The rate since creation."""
        return self._count / max(time.time() - self._start_time, 1e-9)

"""`torch_xla.test.test_utils`: output functions of the classic training scripts."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

import torch

from ..devices import xla_real_devices


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
    from ..ordinals import is_master_ordinal

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
    from ...statistics import counters

    if summary_writer is None:
        return
    found = dict(dict_to_write or {}) | (counters if write_xla_metrics else {})
    for name, value in found.items():
        summary_writer.add_scalar(name, value, global_step)


def close_summary_writer(summary_writer: Any) -> None:
    """Close a writer, if there is one."""
    if summary_writer is not None:
        summary_writer.close()

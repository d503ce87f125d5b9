"""`torch_xla.debug.metrics`, which programs import as `met`: reports of `statistics`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import statistics

_PERCENTILES = (0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99)
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def counter_names() -> list[str]:
    """The names of the counters."""
    return sorted(statistics.counters)


def counter_value(name: str) -> int | None:
    """The value of a counter; None if nothing was counted."""
    return statistics.counters.get(name)


def metric_names() -> list[str]:
    """The names of the metrics."""
    return sorted(statistics.metrics)


def metric_data(name: str) -> tuple[int, float, list[tuple[float, float]]] | None:
    """(number of samples, their sum, the latest samples as (when, value)) of a metric; None if there are no samples.

    Values are in nanoseconds if the name ends in "Time", and in bytes if it ends in "Data"; `when` is as in
    `time.time()`.
    """
    metric = statistics.metrics.get(name)
    if metric is None:
        return None
    unit = 1e9 if name.endswith("Time") else 1.0
    return metric.count, metric.total * unit, [(when, value * unit) for when, value in list(metric.samples)]


def executed_fallback_ops() -> list[str]:
    """The counters of operations of the host. The only one is that of reading a value: tenax has no fallback."""
    return [name for name in counter_names() if name.startswith("aten::")]


def clear_all() -> None:
    """Clear all counters and metrics."""
    statistics.clear()


def clear_counters() -> None:
    """Clear all counters."""
    statistics.clear(metrics_too=False)


def clear_metrics() -> None:
    """Clear all metrics."""
    statistics.clear(counters_too=False)


def _shown(name: str, value: float) -> str:
    if name.endswith("Data"):
        return f"{value:.0f}B"
    unit, text = next(((u, t) for u, t in _UNITS if value >= u), _UNITS[-1])
    return f"{value / unit:.3f}{text}"


def _metric(name: str) -> list[str]:
    metric = statistics.metrics[name]
    samples = sorted(value for _, value in metric.samples)
    shown = "; ".join(
        f"{100 * p:.0f}%={_shown(name, samples[min(int(p * len(samples)), len(samples) - 1)])}" for p in _PERCENTILES
    )
    return [
        f"Metric: {name}",
        f"  TotalSamples: {metric.count}",
        f"  Accumulator: {_shown(name, metric.total)}",
        f"  Percentiles: {shown}",
    ]


def metrics_report() -> str:
    """The metrics and counters as text."""
    lines = [line for name in metric_names() for line in _metric(name)]
    for name in counter_names():
        lines += [f"Counter: {name}", f"  Value: {statistics.counters[name]}"]
    return "\n".join(lines) + "\n"


def short_metrics_report(counter_names: Sequence[str] | None = None, metric_names: Sequence[str] | None = None) -> str:
    """A report of the named counters and metrics, by default those of compilation, execution and reading values."""
    wanted_counters = [*(counter_names or ["CachedCompile", "UncachedCompile", "MarkStep"]), *executed_fallback_ops()]
    wanted_metrics = metric_names or ["CompileTime", "ExecuteTime", "TransferToDeviceTime", "TransferFromDeviceTime"]
    lines: list[Any] = [line for n in wanted_metrics if n in statistics.metrics for line in _metric(n)]
    for name in wanted_counters:
        if name in statistics.counters:
            lines += [f"Counter: {name}", f"  Value: {statistics.counters[name]}"]
    return "\n".join(lines) + "\n"

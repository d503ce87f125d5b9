"""Interleaved timing: many rounds that run every contender once, in random order; the result is the median of each.

The random order matters, because the threads of CPU torch spin for a while and slow down the next contender.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping

SETTLED = 20  # calls, in which a program that compiles in the background may be replaced


def interleaved(
    contenders: Mapping[str, Callable[[], object]],
    seconds: float = 1.0,
    *,
    warmup: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
    summary: Callable[[list[float]], float] = statistics.median,
) -> dict[str, float]:
    """Microseconds of one call of each contender: by default the median of the rounds.

    Args:
        contenders: functions without arguments; each is called before the measurement until compiled programs have
            settled, which takes less than `SETTLED` calls.
        seconds: the approximate total time of the measurement.
        warmup: seconds for which each contender is called before it, while programs are compiled in the background.
        clock: what measures a round, in seconds; `time.process_time` counts no other process.
        summary: what becomes of the rounds.
    """
    counts = {}
    for name, call in contenders.items():
        for _ in range(SETTLED):
            call()
        ready = time.perf_counter() + warmup
        while time.perf_counter() < ready:
            call()
        started = time.perf_counter()
        call()
        once = max(time.perf_counter() - started, 1e-7)
        counts[name] = max(1, int(2e-3 / once))
    rng = random.Random(0)
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends or len(next(iter(samples.values()))) < 3:
        for name, call in rng.sample(list(contenders.items()), len(contenders)):
            n = counts[name]
            started = clock()
            for _ in range(n):
                call()
            samples[name].append((clock() - started) / n * 1e6)
    return {name: summary(values) for name, values in samples.items()}

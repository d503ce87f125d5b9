"""Lazy mode in several threads, each of which records its own operations."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress

import torch

import tenax
from tests.helpers.agreement import close


def test_threads_have_tapes_of_their_own() -> None:
    losses: dict[int, list[float]] = {}
    late: list[torch.Tensor] = []

    def work(number: int) -> None:
        with tenax.lazy():
            x = torch.full((4,), float(number), device="jax").requires_grad_()
            for _ in range(3):
                (x * x).sum().backward()
            losses[number] = x.grad.tolist()
        with suppress(StopIteration), tenax.lazy():
            late.append(torch.ones(2, device="jax") + number)
            raise StopIteration  # so that another thread computes it

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert losses == {n: [6.0 * n] * 4 for n in range(4)}
    assert sorted(t[0].item() for t in late) == [1, 2, 3, 4]


def test_two_threads_compute_with_results_that_the_other_records() -> None:
    rounds, latest = 200, [torch.ones(4, device="jax"), torch.zeros(4, device="jax")]
    meeting = threading.Barrier(2, timeout=20)

    def work(number: int) -> None:
        with tenax.lazy():
            for _ in range(rounds):
                own, other = latest[number], latest[1 - number]
                meeting.wait()
                latest[number] = own * 0.75 + other * 0.25
                meeting.wait()

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)
    for tensor in latest:
        close(tensor, torch.full((4,), 0.5))

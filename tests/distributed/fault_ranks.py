"""A rank of two, of which one does something wrong: `python -m tests.distributed.fault_ranks FAULT RANK PORT`.

It prints each error that it gets as a line of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

import tenax

TIMEOUT = timedelta(seconds=3)


def tensor(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="jax")


def report(call: Callable[[], Any]) -> None:
    try:
        call()
    except Exception as error:
        os.write(1, (json.dumps(f"{type(error).__name__}: {error}") + "\n").encode())


def report_while_idle(rank: int, call: Callable[[], Any]) -> None:
    """Report the error of rank 0, while rank 1 lives and does nothing until rank 0 has ended."""
    if rank == 0:
        report(call)
    else:
        store.wait(["ended/0"], 20 * TIMEOUT)


def dies(rank: int) -> None:
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    report(lambda: dist.all_reduce(tensor(4)))
    report(lambda: dist.broadcast(tensor(4), 0))


def first_dies(rank: int) -> None:
    """It is the process that would have the coordinator."""
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    report(lambda: dist.all_reduce(tensor(4)))


def hangs(rank: int) -> None:
    report_while_idle(rank, lambda: dist.all_reduce(tensor(4), async_op=True).get_future().wait())


def disagrees(rank: int) -> None:
    """Each group has a fault of its own."""
    groups = [dist.new_group([0, 1], timeout=TIMEOUT) for _ in range(4)]
    if rank == 1:
        report(lambda: dist.broadcast(tensor(4), 0, group=groups[0]))
    else:
        report(lambda: dist.all_gather_into_tensor(tensor(8), tensor(4), group=groups[0]))
    report(lambda: dist.all_reduce(tensor(5 + rank), group=groups[1]))
    if rank == 1:
        report(lambda: dist.recv(tensor(5), 0, group=groups[2]))
    else:
        report(lambda: dist.send(tensor(4), 1, group=groups[2]))
    report_while_idle(rank, lambda: dist.send(tensor(4), 1, group=groups[3]))


def disagrees_about_known_programs(rank: int) -> None:
    group = dist.new_group([0, 1], timeout=TIMEOUT)
    steps = [tenax.jit(lambda x, n=n: (dist.all_reduce(x, group=group), x + n)[1]) for n in range(2)]
    for n in (5, 6):
        dist.all_reduce(tensor(n))
        steps[n - 5](tensor(n))
        steps[n - 5](tensor(4))
    report(lambda: dist.all_reduce(tensor(5 + rank)))
    report(lambda: steps[rank](tensor(4)))


def disagrees_about_known_programs_of_one_size(rank: int) -> None:
    operations = dist.ReduceOp.SUM, dist.ReduceOp.MAX
    for operation in operations:
        dist.all_reduce(tensor(5), operation)
    dist.all_reduce(tensor(5), operations[rank])

    def calls() -> None:
        for _ in range(64):
            dist.all_reduce(tensor(5))

    report(calls)


def meets_at_a_monitored_barrier(rank: int) -> None:
    dist.monitored_barrier()
    print(json.dumps("met"), flush=True)
    report_while_idle(rank, dist.monitored_barrier)


def never_meets_at_a_monitored_barrier(rank: int) -> None:
    report_while_idle(rank, lambda: dist.monitored_barrier(timeout=timedelta(seconds=1), wait_all_ranks=True))


def forks(rank: int) -> None:
    """The child has neither the arrays nor the threads of its parent."""
    x = tensor(4)
    if rank == 0:
        if not (child := os.fork()):
            report(lambda: dist.all_reduce(x))
            report(dist.barrier)
            os._exit(0)
        os.waitpid(child, 0)
    dist.barrier()
    print(json.dumps("met"), flush=True)


def compiles_another_program(rank: int) -> None:
    """Each function and group has a fault of its own; the last one leaves a thread of rank 0 waiting in XLA."""
    groups = [dist.new_group([0, 1], timeout=10 * TIMEOUT) for _ in range(3)]  # it is not waited for
    report(lambda: tenax.jit(lambda x: (dist.all_reduce(x, group=groups[0]), x.sin() if rank else x.cos()))(tensor(4)))
    step = tenax.jit(lambda x: dist.all_reduce(x, group=groups[1]))
    report(lambda: step(tensor(4)) if rank else dist.all_reduce(tensor(6), group=groups[1]))
    known = tenax.jit(lambda x, y: (dist.all_reduce(x, group=groups[2]), x * y)[1])
    known(tensor(4), tensor(4))
    report(lambda: known(tensor(4), tensor(1 if rank else 4)))  # rank 1 traces anew, and alone


def dies_in_a_program(rank: int) -> None:
    step = tenax.jit(lambda x: (dist.all_reduce(x), x + 1)[1])
    step(tensor(4))
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    report(lambda: step(tensor(4)))


if __name__ == "__main__":
    fault, rank, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    store = dist.TCPStore("127.0.0.1", port, 2, is_master=False)
    dist.init_process_group("tenax", store=store, rank=rank, world_size=2, timeout=TIMEOUT)
    dist.all_reduce(tensor(4))
    globals()[fault](rank)

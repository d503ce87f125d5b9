"""A rank that dies, hangs or calls something else: the others get an error in time, and every process ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch.distributed as dist

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]


def run(fault: str, **environment: str) -> tuple[list[list[str]], list[int]]:
    """The errors that each of two ranks got, and their exit codes."""
    store = dist.TCPStore("127.0.0.1", 0, 2, is_master=True, wait_for_workers=False)
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.distributed.fault_ranks", fault, str(rank), str(store.port)],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **environment},
        )
        for rank in range(2)
    ]
    outputs = []
    try:
        for rank, process in enumerate(ranks):
            outputs.append(process.communicate(timeout=60)[0])
            store.set(f"ended/{rank}", "")
    finally:
        for process in ranks:
            process.kill()
            process.wait()
    errors = [[json.loads(line) for line in output.splitlines() if line.startswith('"')] for output in outputs]
    return errors, [process.returncode for process in ranks]


def test_the_end_of_a_rank_is_an_error_of_the_others() -> None:
    (errors, _), codes = run("dies")
    assert len(errors) == 2
    assert errors[0].startswith("DistBackendError: #2 all_reduce(op=SUM) of float32[4], on rank 0: ")
    assert "the process of rank 1 has died" in errors[0]
    assert "the group is broken" in errors[1]
    assert codes == [0, -9]


def test_the_end_of_the_first_rank_is_an_error_of_the_others() -> None:
    (_, errors), codes = run("first_dies")
    assert len(errors) == 1
    assert "all_reduce(op=SUM) of float32[4], on rank 1: the process of rank 0 has died" in errors[0]
    assert codes == [-9, 0]


def test_a_rank_that_hangs_is_named_after_the_timeout_and_the_process_can_end() -> None:
    (errors, _), codes = run("hangs")
    assert len(errors) == 1
    assert "#2 all_reduce(op=SUM) of float32[4], on rank 0: rank 1" in errors[0]
    assert "its last call was #1 all_reduce" in errors[0]
    assert "did not take part within the timeout of 3 s" in errors[0]
    assert codes == [1, 0]


def test_ranks_that_disagree_are_told_about_what() -> None:
    errors, codes = run("disagrees")
    for rank, found in enumerate(errors):
        assert len(found) == 4 - rank, found
        assert "rank 1 called #1 broadcast(root=0) of float32[4]" in found[0]
        assert "rank 0 called #1 all_gather() of float32[4]" in found[0]
        assert "all_reduce(op=SUM) of float32[5]" in found[1]
        assert "all_reduce(op=SUM) of float32[6]" in found[1]
        assert "float32[4]" in found[2]
        assert "float32[5]" in found[2]
    assert "send of float32[4] from rank 0 to rank 1: no matching call within 3 s" in errors[0][3]
    assert codes == [0, 0]


def test_ranks_that_disagree_about_known_programs_of_one_size_are_told_soon() -> None:
    errors, codes = run("disagrees_about_known_programs_of_one_size")
    for rank, found in enumerate(errors):
        assert len(found) == 1
        other = "SUM" if rank else "MAX", "MAX" if rank else "SUM"
        called = [f"#4 all_reduce(op={name}) of float32[5]" for name in other]
        assert f"rank {1 - rank} has called {called[0]}, and this rank {called[1]}" in found[0] or (
            f"rank {1 - rank} failed at" in found[0]
        )
    assert sum("has called #4" in found[0] for found in errors) >= 1
    assert all(code in (0, 1) for code in codes)  # a thread may wait in XLA for the rank that learned of it first


def test_a_monitored_barrier_names_the_rank_that_does_not_come() -> None:
    errors, codes = run("meets_at_a_monitored_barrier")
    assert errors[0][0] == errors[1][0] == "met"
    assert len(errors[0]) == 2
    assert "Rank 1 failed to pass monitoredBarrier in 3000 ms" in errors[0][1]
    assert codes == [0, 0]


def test_the_first_barrier_is_monitored() -> None:
    errors, codes = run("never_meets_at_a_monitored_barrier")
    assert len(errors[0]) == 1
    assert "Ranks 1 failed to pass monitoredBarrier in 1000 ms" in errors[0][0]
    assert codes == [0, 0]


def test_a_forked_child_of_a_rank_is_told_that_it_has_no_part_in_the_group() -> None:
    errors, codes = run("forks")
    assert len(errors[0]) == 3
    assert all("forked subprocess" in error for error in errors[0][:2])
    assert errors[0][2] == errors[1][0] == "met"
    assert codes == [0, 0]


def test_a_rank_that_compiles_alone_or_another_program_is_named() -> None:
    errors, codes = run("compiles_another_program")
    for found in errors:
        assert len(found) == 3, found
        assert "has traced another program than rank" in found[0]
        assert "fault_ranks.py:" in found[0], found[0]
        assert "rank 1 called #1 the compilation of compiled program 1 of 1 all_reduce" in found[1]
        assert "rank 0 called #1 all_reduce(op=SUM) of float32[6]" in found[1]
        assert "rank 0 called #3 compiled program 1 of 1 all_reduce" in found[2]
        assert "rank 1 called #3 the compilation of compiled program 2 of 1 all_reduce" in found[2]
    assert codes[1] == 0
    assert codes[0] in (0, 1)  # a thread waits in XLA for a program that rank 1 does not run, unless that ended first


def test_the_end_of_a_rank_is_an_error_of_a_compiled_program_of_the_others() -> None:
    (errors, _), codes = run("dies_in_a_program")
    assert len(errors) == 1
    assert "compiled program 1 of 1 all_reduce, on rank 0: the process of rank 1 has died" in errors[0]
    assert codes[1] == -9


def test_every_call_is_compared_in_detail() -> None:
    errors, codes = run("disagrees_about_known_programs", TORCH_DISTRIBUTED_DEBUG="DETAIL")
    for found in errors:
        assert len(found) == 2, found
        assert "float32[5]" in found[0]
        assert "float32[6]" in found[0]
        assert "compiled program 2 of 1 all_reduce" in found[1]
        assert "compiled program 4 of 1 all_reduce" in found[1]
    assert codes == [0, 0]

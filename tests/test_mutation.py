"""Random programs of views, writes and lists agree with CPU torch; `make fuzz` runs many more."""

from __future__ import annotations

from itertools import islice

import torch

from tenax.coverage import mutation


def test_random_programs_agree_with_cpu_torch() -> None:
    differences = [d for d in islice(mutation.search(seed=3), 15) if d is not None]
    assert not differences, "\n\n".join(map(str, differences))


def test_a_lost_write_is_found_and_shrunk() -> None:
    lines = ["p.append(p[0].t())", "p.append(p[0].clone())", "p[1].add_(1 if d == 'cpu' else 2)"]
    shapes = [((2, 3), torch.float32)]
    found = mutation.run(lines, False, shapes, "jax")
    assert found is not None
    shrunk = mutation.shrink(found, "jax")
    assert shrunk.lines == (lines[0], lines[2])
    assert "CPU torch" in str(shrunk)


def test_what_shares_memory_is_compared() -> None:
    a, b = torch.zeros(2), torch.zeros(2)
    assert mutation.compare([a, a], [b, b.clone()]).startswith("storages: [0, 0]; CPU torch: [0, 1]")

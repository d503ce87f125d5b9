"""A process that meets new shapes again and again keeps nothing of those whose executables are evicted."""

from __future__ import annotations

import pytest

from tests.helpers.processes import run

pytestmark = pytest.mark.slow

SIGNATURES = """
import gc, tracemalloc
import torch, tenax
from tenax.dispatch import operands
from tenax.storage import placement, views
from tenax.xla import memory

# Tables that are bounded by a number are full after a few signatures.
memory._REMEMBERED = views._GEOMETRIES = placement._MOST = operands._MAX_SCALARS = 8
SHAPES = 100

def signatures(start):
    # Uploads, operations, views, numbers, fills, writes and results that are resized, of shapes that are new.
    for n in range(start, start + SHAPES):
        x = torch.zeros(3, 7 + n).to("jax")
        (x + 1, x * n, x.t().contiguous(), x.view(-1), x[:, 1:] + 1, x[:, 2:-1] + 1)
        x[1] = 1.0
        torch.neg(x, out=torch.empty(0, device="jax"))
        torch.ones(n, 2, device="jax").zero_()
    memory.code_memory.most = 0  # evicts all executables
    memory.code_memory.shrink()
    memory.code_memory.most = 64
    gc.collect()

def kept():
    # Bytes that lines of tenax have allocated. JAX's caches, which are bounded, hold some of them.
    snapshot = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, tenax.__path__[0] + "/*")])
    return sum(line.size for line in snapshot.statistics("filename"))

signatures(0)
tracemalloc.start()
signatures(SHAPES)
signatures(2 * SHAPES)
sizes = [kept()]
for n in (3, 4):
    signatures(n * SHAPES)
    sizes.append(kept())
print(min(after - before for before, after in zip(sizes, sizes[1:])) // SHAPES)  # a dict that doubles does so in one
"""


def test_shapes_that_do_not_recur_leave_nothing_behind() -> None:
    done = run(SIGNATURES)
    assert int(done.stdout) < 1000, f"{done.stdout.strip()} bytes are kept of each shape; expected less than 1000"

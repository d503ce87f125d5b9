"""Matrix products of few rows, as in decoding: a multilayer perceptron on a handful of tokens.

tenax is compared with hand-written JAX, with matrices as in torch, (out, in), and as in most JAX programs, (in, out),
and with CPU torch. `python benchmarks/rows.py` prints the table; `--write` stores it in benchmarks/results/rows.md.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable

import jax
import torch
from clock import interleaved
from tables import publish
from torch import nn

import tenax

TITLES = (
    "rows",
    "tenax ms",
    "by hand, (out, in) ms",
    "ratio",
    "by hand, (in, out) ms",
    "ratio",
    "CPU torch ms",
    "ratio",
)
ROWS = (1, 2, 8, 32, 64)
LAYERS, WIDTH = 4, 1024


def contenders(rows: int) -> dict[str, Callable[[], object]]:
    """The four implementations of the function, on the same numbers."""
    torch.manual_seed(0)
    block = (nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
    model = nn.Sequential(*(layer for _ in range(LAYERS) for layer in block)).requires_grad_(False)
    x = torch.randn(rows, WIDTH)
    linear = [m for m in model if isinstance(m, nn.Linear)]
    biases = [jax.numpy.asarray(m.bias.numpy()) for m in linear]
    matrices = [jax.numpy.asarray(m.weight.numpy()) for m in linear]
    y = jax.numpy.asarray(x.numpy())

    def by_hand(x: jax.Array, matrices: list[jax.Array], biases: list[jax.Array]) -> jax.Array:
        for i, (w, b) in enumerate(zip(matrices, biases, strict=True)):
            x = x @ w + b
            x = x if i % 2 else jax.nn.gelu(x, approximate=False)
        return x

    plain = jax.jit(by_hand)
    transposed = jax.jit(lambda x, matrices, biases: by_hand(x, [w.T for w in matrices], biases))
    turned = [w.T.copy() for w in matrices]
    compiled, z = tenax.jit(copy.deepcopy(model).to("jax")), x.to("jax")
    torch.testing.assert_close(compiled(z).cpu(), torch.from_dlpack(plain(y, turned, biases)), rtol=1e-4, atol=1e-5)
    return {
        "tenax": lambda: compiled(z).jax().block_until_ready(),
        "(out, in)": lambda: transposed(y, matrices, biases).block_until_ready(),
        "(in, out)": lambda: plain(y, turned, biases).block_until_ready(),
        "torch": lambda: model(x),
    }


def main() -> None:
    """Measure at several numbers of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="Write the table to benchmarks/results/rows.md.")
    parser.add_argument("--seconds", type=float, default=6.0, help="Seconds per row.")
    options = parser.parse_args()
    rows = []
    for count in ROWS:
        times = interleaved(contenders(count), options.seconds)
        ours, *others = (t / 1000 for t in times.values())
        cells = [cell for t in others for cell in (f"{t:.1f}", f"{ours / t:.2f}")]
        rows.append((str(count), f"{ours:.1f}", *cells))
    publish("rows", TITLES, rows, write=options.write)


if __name__ == "__main__":
    main()

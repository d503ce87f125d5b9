"""The sum of sparse tensors over ranks: indices and values of all ranks are gathered, and equal indices are added.

The ranks first exchange how many values each has. Gathered rows are padded to a power of two, so that few programs are
compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..storage.placement import put
from ..storage.tensors import wrap
from ..trace.transfer import read

Run = Callable[..., list[jax.Array]]


class SparsePart:
    """The sparse tensor of this rank."""

    def __init__(self, tensor: torch.Tensor) -> None:
        coalesced = tensor.detach().coalesce()
        self.shape, self.sparse_dim = tuple(tensor.shape), tensor.sparse_dim()
        self.indices, self.values = read(coalesced.indices()), read(coalesced.values())

    def summed(self, run: Run, failed: Callable[[str], Exception]) -> torch.Tensor:
        """The sum over the ranks, coalesced, on the thread of the group; `run` runs a collective.

        Raises:
            DistBackendError: the shapes of the ranks differ.
        """
        own = np.array([self.values.shape[0], self.sparse_dim, *self.shape], np.int64)
        every = np.asarray(run("all_gather", [put(own, 0)])[0]).reshape(-1, own.size)
        if (every[:, 1:] != own[1:]).any():
            shapes = [(*map(int, row[2:]),) for row in every]
            raise failed(f"sparse tensors of shapes {shapes}; expected one shape and one number of sparse dimensions")
        counts = every[:, 0]
        width = 1 << max(int(counts.max()) - 1, 0).bit_length()
        gathered = run("all_gather", [_rows(self.indices.T, width), _rows(self.values, width)])
        kept = np.concatenate([np.arange(n) + rank * width for rank, n in enumerate(counts)])
        indices, values = (wrap(jnp.take(rows, kept, axis=0)) for rows in gathered)
        return torch.sparse_coo_tensor(indices.t(), values, self.shape, check_invariants=False).coalesce()


def _rows(array: jax.Array, width: int) -> Any:
    return jnp.pad(array, ((0, width - array.shape[0]), *[(0, 0)] * (array.ndim - 1)))

"""What the tests of interop share: an argument, and when two trees of arrays are the same."""

from typing import Any

import jax
import numpy as np
import torch

X = np.linspace(-1.3, 1.7, 6, dtype=np.float32).reshape(2, 3)


def close(ours: Any, theirs: Any) -> None:
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        if isinstance(a, torch.Tensor):
            a = a.detach().cpu().numpy()
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-5, atol=2e-6)

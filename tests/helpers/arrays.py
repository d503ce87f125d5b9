"""The array that the tests of interop pass, and what CPU torch computes of such arrays."""

from collections.abc import Callable

import numpy as np
import torch

X = np.linspace(-1.3, 1.7, 6, dtype=np.float32).reshape(2, 3)


def of_torch(function: Callable[..., torch.Tensor], *args: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The value and the gradients of the sum on CPU torch."""
    xs = [torch.tensor(a, requires_grad=True) for a in args]
    y = function(*xs)
    grads = torch.autograd.grad(y.sum(), xs, allow_unused=True, materialize_grads=True)
    return y.detach().numpy(), [g.numpy() for g in grads]

"""The array that the tests of interop pass."""

import numpy as np

X = np.linspace(-1.3, 1.7, 6, dtype=np.float32).reshape(2, 3)

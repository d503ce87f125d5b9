"""The public names of PyTorch/XLA, implemented with tenax: `import tenax.compat.torch_xla as torch_xla`.

Importing this package makes "xla" a name of device "jax". For scripts that import `torch_xla` itself, call `install()`
or run `tenax xla script.py`. `tenax xla --names` prints its names, and `names.py` has the module of each.
"""

from __future__ import annotations

import os
import sys
from functools import partial

from ..._lazy.mode import record_everywhere
from .. import statistics
from ..alias import LibraryFinder
from . import device_type, process
from .presented import present
from .settings import refuse_variables
from .table import MODULES, PUBLIC, VERSION

__version__ = VERSION
_HINT = ". `tenax doctor --xla script.py` lists what a script uses, and `tenax xla --names` what tenax has"
process.take_environment()
device_type.enable()
process.register_backend()
statistics.listen()
refuse_variables()
sys.meta_path.insert(0, MODULES)  # before folders that an earlier release left
__getattr__ = partial(MODULES.get, __name__)


def install() -> None:
    """Make `import torch_xla` mean `tenax.compat.torch_xla`, in spawned processes as well, show devices as "xla", and
    record operations like PyTorch/XLA (see `tenax.lazy`). With `TENAX_LAZY=0` in the environment they run immediately.

    Raises:
        ImportError: PyTorch/XLA itself has been imported.
    """
    if LibraryFinder(PUBLIC, sys.modules[__name__], VERSION, hint=_HINT).install():
        present()
        if os.environ.get("TENAX_LAZY") != "0":
            record_everywhere()

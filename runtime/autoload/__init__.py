"""Device "jax" after a bare `import torch`: the entry point of group `torch.backends`.

A package of its own, because importing anything below `tenax` registers the device, and here it may not be wanted.
"""

from __future__ import annotations

import os


def autoload() -> None:
    """Register the device, unless TENAX_AUTOLOAD=0, or torch finds an accelerator and TENAX_AUTOLOAD is not 1.

    Whoever names the device by TENAX_DEVICE wants it: TENAX_AUTOLOAD is then 1 by default.

    A registered PrivateUse1 device becomes torch's accelerator, so where torch has one of its own the user must ask. A
    build for CUDA, such as PyPI's for Linux, has none on a machine without a GPU. Never raises: an exception here would
    make `import torch` fail.
    """
    import torch

    name = os.environ.get("TENAX_DEVICE")
    wanted = os.environ.get("TENAX_AUTOLOAD", name and "1")
    if wanted == "0" or (wanted != "1" and torch.accelerator.current_accelerator(check_available=True) is not None):
        return
    try:
        import tenax

        if getattr(tenax, "__file__", None) is None:  # Python takes any folder of that name for a package
            raise ImportError(f"the folder {next(iter(tenax.__path__))} hides the package tenax: run from elsewhere")
    except Exception as error:
        import logging  # a warning would raise under -W error

        logging.getLogger("tenax").warning("device %r could not be registered: %s", name or "jax", error)

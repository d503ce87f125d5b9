"""XLA_USE_BF16 and XLA_DOWNCAST_BF16, which PyTorch/XLA has deprecated, raise."""

from __future__ import annotations

import os


def refuse_variables() -> None:
    """Check the variables, which programs and trainers may set after their imports.

    Raises:
        NotImplementedError: one is set.
    """
    for name in ("XLA_USE_BF16", "XLA_DOWNCAST_BF16"):
        if os.environ.get(name, "0") not in ("0", ""):
            raise NotImplementedError(
                f"{name}={os.environ[name]}: values are not stored in less precision than their dtype; expected "
                "model.to(torch.bfloat16) or torch.autocast('xla', torch.bfloat16)"
            )

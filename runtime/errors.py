"""Errors that several modules raise."""

from __future__ import annotations

from collections.abc import Callable

from ._torch import NAME


class TraceError(RuntimeError):
    """A traced program needs an unknown value, or has an effect that would be lost."""


class ResultError(RuntimeError):
    """A lowering returned another shape or dtype than torch specifies."""


class CheckError(RuntimeError):
    """A compiled function, called with `check`, behaved differently from eager mode."""


# Messages of emulated libraries (PyTorch/XLA) about a tensor or device; user programs match on their text.
mixed_device_texts: list[Callable[[object], str | None]] = []


def mixed_devices(op: str, found: object, expected: object) -> RuntimeError:
    """torch's error for operands on different devices, with a remedy. `found` is a tensor or its device."""
    other = getattr(found, "device", found)
    texts = [f"{said}. " for said in (text(found) for text in mixed_device_texts) if said]
    return RuntimeError(
        f"{op}: {''.join(texts)}Expected all tensors to be on the same device, but found at least two devices, "
        f"{expected} and {other}! Move one of them: tensor.to('{expected}') or tensor.to('{other}')"
    )


def no_lowering(op: str) -> NotImplementedError:
    """The error for an overload that no spec covers."""
    expected = f"tenax.register_lowering({op!r}, function)"
    if op.startswith("aten::"):
        expected = f"an entry in ops_spec/ (python -m tenax.codegen new {op.removeprefix('aten::')})"
    return NotImplementedError(f"{op}: there is no lowering for device {NAME!r}; expected {expected}")

"""Errors that several modules raise."""

from __future__ import annotations


class TraceError(RuntimeError):
    """A traced program needs a value that is unknown, or has an effect that would be lost."""


class CheckError(RuntimeError):
    """A compiled function, called with `check`, did something else than eager mode."""


def mixed_devices(op: str, found: object, expected: object) -> RuntimeError:
    """torch's error for operands on different devices, with a remedy."""
    return RuntimeError(
        f"{op}: Expected all tensors to be on the same device, but found at least two devices, {expected} and {found}! "
        f"Move one of them: tensor.to('{expected}') or tensor.to('{found}')"
    )


def no_lowering(op: str) -> NotImplementedError:
    """The error for an overload that no spec covers."""
    if not op.startswith("aten::"):
        return NotImplementedError(
            f"{op}: there is no lowering for device 'jax'; expected tenax.register_lowering({op!r}, function)"
        )
    return NotImplementedError(
        f"{op}: there is no lowering for device 'jax'; expected an entry in ops_spec/ "
        f"(python -m tenax.codegen new {op.removeprefix('aten::')})"
    )

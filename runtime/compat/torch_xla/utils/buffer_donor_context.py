"""`torch_xla.utils.buffer_donor_context`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def alias_with_buffer_donor_config(should_alias: bool = True) -> Iterator[bool]:
    """A context manager that does nothing: compiled functions always reuse the memory of what they overwrite."""
    yield True

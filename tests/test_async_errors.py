"""The assertions of compiled programs: when they are copied, and when they raise."""

from __future__ import annotations

import numpy as np
import pytest

from tenax.trace.async_errors import Assertion, raise_failed_assertions, record_assertions


class OnAccelerator:
    """What is used of an array whose copy to the host has a cost."""

    def __init__(self, *, holds: bool, ready: bool) -> None:
        self.holds, self.ready, self.copies = holds, ready, 0

    def platform(self) -> str:
        return "gpu"

    def is_ready(self) -> bool:
        return self.ready

    def copy_to_host_async(self) -> None:
        self.copies += 1

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array([self.holds])


def test_the_copy_starts_with_the_call_and_no_later_call_waits_for_it() -> None:
    failed = OnAccelerator(holds=False, ready=False)
    record_assertions(failed, (Assertion("IndexError", "index out of range in self", ""),))  # type: ignore[arg-type]
    assert failed.copies == 1
    raise_failed_assertions()  # it is not ready
    failed.ready = True
    with pytest.raises(IndexError, match="index out of range in self"):
        raise_failed_assertions()
    raise_failed_assertions(wait=True)  # it raises once

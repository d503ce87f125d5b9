"""DDP's reducer for device parameters that may not receive a gradient.

The reducer copies a list of the used parameters from pinned memory to the device of the first parameter, but torch's
Python backend has no pinned memory. So an unused CPU parameter is put first: the list stays on the host, and the group
reduces it there. This is also done for a static graph, whose unused parameters the reducer finds in the first step. It
costs a message of 4 bytes, for a gradient that does not exist.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import torch

from .. import patches
from .._torch import NAME

_static_graph: ContextVar[bool] = ContextVar("_static_graph", default=False)  # of the reducer that DDP is creating
_PLACE_OF_FIND_UNUSED, _PLACE_OF_NAMES = 1, 3  # positions in `rest` below


class _Created:
    """A reducer that knows the DDP which created it, and with which arguments."""

    created_by: Callable[[], tuple[Any, tuple[Any, ...]]]


def _with_parameter_of_the_host(plain: Any) -> Callable[..., Any]:
    class JaxReducer(plain, _Created):  # type: ignore[misc]
        """The reducer for device parameters only."""

        def _set_static_graph(self) -> None:
            """Have DDP create another reducer, with the parameter of the host; raise once training has begun."""
            super()._set_static_graph()
            ddp, arguments = self.created_by()
            if ddp._comm_hooks:
                raise NotImplementedError(
                    "DistributedDataParallel: _set_static_graph() after register_comm_hook() is not supported for "
                    f"parameters on device {NAME!r}; expected DistributedDataParallel(..., static_graph=True)"
                )
            ddp._ddp_init_helper(*arguments, True)
            ddp.reducer._set_static_graph()

    def reducer(
        params: Sequence[torch.Tensor],
        bucket_indices: Sequence[Sequence[int]],
        bucket_size_limits: Sequence[int],
        process_group: Any,
        expect_sparse_gradients: Sequence[bool],
        *rest: Any,
    ) -> Any:
        if params[0].device.type != NAME:
            return plain(params, bucket_indices, bucket_size_limits, process_group, expect_sparse_gradients, *rest)
        if rest[_PLACE_OF_FIND_UNUSED] or _static_graph.get():
            params = [torch.nn.Parameter(torch.zeros(1, device="cpu")), *params]
            bucket_indices = [*([i + 1 for i in bucket] for bucket in bucket_indices), [0]]
            bucket_size_limits = [*bucket_size_limits, bucket_size_limits[-1]]
            expect_sparse_gradients = [False, *expect_sparse_gradients]
            names = {0: "(unused)"} | {i + 1: name for i, name in rest[_PLACE_OF_NAMES].items()}
            rest = (*rest[:_PLACE_OF_NAMES], names, *rest[_PLACE_OF_NAMES + 1 :])
            return plain(params, bucket_indices, bucket_size_limits, process_group, expect_sparse_gradients, *rest)
        return JaxReducer(params, bucket_indices, bucket_size_limits, process_group, expect_sparse_gradients, *rest)

    return reducer


def _telling(plain: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(plain)
    def make_reducer(self: Any, parameters: Any, sparse: Any, names: Any, static_graph: bool) -> None:
        token = _static_graph.set(static_graph)
        try:
            plain(self, parameters, sparse, names, static_graph)
        finally:
            _static_graph.reset(token)
        if isinstance(self.reducer, _Created):
            own = weakref.ref(self)
            self.reducer.created_by = lambda: (own(), (parameters, sparse, names))

    return make_reducer


@functools.cache
def install() -> None:
    """Have DDP create such reducers."""
    patches.wrap("torch.distributed.Reducer", _with_parameter_of_the_host)
    patches.wrap("torch.nn.parallel.DistributedDataParallel._ddp_init_helper", _telling)

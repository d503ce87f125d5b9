"""`DistributedDataParallel` on the device: its reducer, and its forward pass in a trace.

**The reducer**, for parameters that may not receive a gradient, copies a list of the used parameters from pinned memory
to the device of the first parameter, but torch's Python backend has no pinned memory. So an unused CPU parameter is put
first: the list stays on the host, and the group reduces it there. This is also done for a static graph, whose unused
parameters the reducer finds in the first step. It costs a message of 4 bytes, for a gradient that does not exist.

**In a trace**, the program averages gradients at the end of a backward pass. torch's reducer would keep tracers in C++
and read their values. Nothing is lost without it: XLA overlaps and fuses the collectives, and the ranks use the same
parameters in every call, because they run the same program.
"""

from __future__ import annotations

import functools
import json
import weakref
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import torch

from .._torch import NAME, pytree
from .._torch.autograd import preserved_versions, queue_callback
from ..errors import TraceError
from ..trace.core import current_trace, user_line

dist: Any = torch.distributed
_static_graph: ContextVar[bool] = ContextVar("_static_graph", default=False)  # of the reducer that DDP is creating
_PLACE_OF_FIND_UNUSED, _PLACE_OF_NAMES = 1, 3  # positions in `rest` below


class _Created:
    """A reducer that knows the DDP which created it, and with which arguments."""

    created_by: Callable[[], tuple[Any, tuple[Any, ...]]]


def with_parameter_of_the_host(plain: Any) -> Callable[..., Any]:
    """`Reducer`, as `plain`, for parameters of the device as well."""

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


def telling(plain: Callable[..., None]) -> Callable[..., None]:
    """`DistributedDataParallel._ddp_init_helper`, as `plain`, whose reducer knows for whom it is made."""

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


def with_traces(plain: Callable[..., Any]) -> Callable[..., Any]:
    """`DistributedDataParallel.forward`, as `plain`, which uses `_forward` in traces."""

    @functools.wraps(plain)
    def forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        if current_trace() is not None:
            return _forward(self, *inputs, **kwargs)
        syncs = self.find_unused_parameters and self.require_backward_grad_sync and torch.is_grad_enabled()
        if syncs and getattr(self, "accumulated_in_program", False):
            raise NotImplementedError(
                f"DistributedDataParallel with find_unused_parameters=True{user_line()}: torch does not know which "
                "parameters a compiled function has used in no_sync; expected a compiled function for this pass, too"
            )
        return plain(self, *inputs, **kwargs)

    return forward


def _forward(ddp: Any, *inputs: Any, **kwargs: Any) -> Any:
    """Run a forward pass whose backward pass averages gradients, unless in `no_sync`."""
    refused = {
        "a communication hook": ddp._comm_hooks,
        "join()": ddp._join_config.enable,
        "mixed_precision; use torch.autocast": ddp.mixed_precision is not None,
        "parameters without their own synchronization": ddp._delay_all_reduce_all_params,
    }
    for what, used in refused.items():
        if used:
            raise NotImplementedError(
                f"DistributedDataParallel in a compiled function, with {what}{user_line()}: not supported; expected "
                "none, or a function that is not compiled"
            )
    if ddp._check_sync_bufs_pre_fwd():
        _synchronize_buffers(ddp)
    output = ddp._run_ddp_forward(*inputs, **kwargs)
    if ddp._check_sync_bufs_post_fwd():
        _synchronize_buffers(ddp)
    ddp.require_forward_param_sync = syncs = torch.is_grad_enabled() and ddp.require_backward_grad_sync
    if torch.is_grad_enabled():
        ddp.accumulated_in_program = not syncs
    if not syncs:
        return output
    leaves, spec = pytree.tree_flatten(output)
    places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor) and x.requires_grad]
    pass_ = _Pass(ddp, user_line())
    for i, new in zip(places, _Sink.apply(pass_, *[leaves[i] for i in places]), strict=True):
        leaves[i] = new
    return pytree.tree_unflatten(leaves, spec)


def _synchronize_buffers(ddp: Any) -> None:
    """Broadcast the buffers of the first rank. torch's method would store them in new lists as attributes of the model,
    and a compiled function would be traced again whenever these lists change."""
    if hasattr(ddp, "buffer_hook"):
        ddp._sync_buffers()
        return
    buffers = [buffer for name, buffer in ddp.module.named_buffers() if name not in ddp.parameters_to_ignore]
    with torch.no_grad(), preserved_versions(tuple(buffers)):
        ddp._default_broadcast_coalesced(buffers)


class _Pass:
    """The backward pass of one forward pass."""

    def __init__(self, ddp: Any, line: str) -> None:
        self.ddp, self.line = ddp, line
        self.begun = False
        self.accumulated: list[torch.Tensor] = []
        self.handles: list[Any] = []

    def begin(self) -> None:
        """Record which parameters receive gradients, to average them at the end."""
        trace = current_trace()
        if trace is None or trace.returned:
            raise RuntimeError(
                f"DistributedDataParallel in a compiled function{self.line}, whose backward pass is outside of it: the "
                "gradients would not be averaged as they are accumulated. Call backward() within"
            )
        if self.begun:
            return
        self.begun = True
        for parameter in self.ddp._module_parameters:
            if parameter.requires_grad:
                self.handles.append(parameter.register_post_accumulate_grad_hook(self.accumulated.append))
        queue_callback(self.end)

    def end(self) -> None:
        for handle in self.handles:
            handle.remove()
        accumulated, self.accumulated, self.begun = self.accumulated, [], False
        if all(p.grad is None for p in accumulated):
            return  # torch.autograd.grad, whose gradients DDP does not average
        # All, because those that this pass does not use may have been accumulated in `no_sync`.
        named = {n: p.grad for n, p in self.ddp.module.named_parameters() if n not in self.ddp.parameters_to_ignore}
        present = {name: gradient for name, gradient in named.items() if gradient is not None}
        gradients = [*present.values()]
        if any(g.layout is not torch.strided for g in gradients):
            raise TraceError("DistributedDataParallel in a compiled function: sparse gradients; expected dense ones")
        self.compare(list(present))
        options = dist.AllreduceOptions()
        options.reduceOp = dist.ReduceOp.AVG
        with torch.no_grad():
            self.ddp.process_group.allreduce(gradients, options).wait()

    def compare(self, own: list[str]) -> None:
        """Raise if the ranks have gradients of different parameters: a program would average these with each other."""
        every = self.ddp.process_group.exchange("the parameters of DistributedDataParallel", json.dumps(own))
        for rank, other in enumerate(map(json.loads, every)):
            if differing := sorted({*own} ^ {*other}):
                raise NotImplementedError(
                    f"DistributedDataParallel in a compiled function{self.line}: only one of rank {rank} and this rank "
                    f"has a gradient of {', '.join(differing)}; expected gradients of the same parameters on every "
                    "rank, or a function that is not compiled"
                )


class _Sink(torch.autograd.Function):
    """The identity on the results of a forward pass, whose backward marks the begin of the backward pass."""

    @staticmethod
    def forward(ctx: Any, pass_: _Pass, *tensors: torch.Tensor) -> Any:
        ctx.set_materialize_grads(False)
        ctx.pass_ = pass_
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        ctx.pass_.begin()
        return None, *gradients

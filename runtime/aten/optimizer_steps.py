"""Default steps of Adam, AdamW and SGD with momentum as one program.

In torch such a step is a dozen operators, each a pass over all parameters; one program does the same arithmetic in one
pass. In a traced training step, Adam and AdamW become torch's fused operator, which is traced once for each shape
instead of once for each parameter. Other steps (differentiable ones, half precision, sparse gradients, tensor
hyperparameters, tensors that share memory) use torch's implementation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import torch

from tenax.generated.table import Row

from .._torch.autograd import in_forward_mode
from .._torch.modes import dispatch_mode_count
from .._torch.operators import fused_adam
from .._torch.tensors import PLAIN_CLASSES
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.list_path import ListKernel
from ..dispatch.signature import Signature
from ..storage.placement import no_jax_trace
from ..trace.core import current_trace
from .registration import library

_DTYPES = {torch.float32, torch.float64}
_dtype = attrgetter("dtype")
_SCHEMAS = {
    "adam_step": "Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
    "Tensor(d!)[] max_exp_avg_sqs, *, float decay, float rest1, float beta2, float rest2, float root, float eps, "
    "float rate, bool decays, bool decoupled, bool maximize",
    "sgd_step": "Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] buffers, *, float decay, float momentum, "
    "float rest, float rate, bool decays, bool maximize",
}


for _name, _schema in _SCHEMAS.items():  # once, whichever threads step first
    library("tenax", "FRAGMENT").define(f"{_name}({_schema}) -> ()")


@functools.cache
def _kernel(name: str) -> ListKernel:
    signature = Signature(f"tenax::{name}", Row("kernels.optim", name, form="inplace"))
    signature.has_meta = False
    return ListKernel(Dispatcher(signature))


def _step(name: str, lists: Sequence[Sequence[torch.Tensor]], **numbers: Any) -> Callable[[], None] | None:
    """Return a function that executes a step; None if it is not supported. Parameters and gradients come first."""
    if torch.is_grad_enabled() or in_forward_mode() or dispatch_mode_count() or not _are_usual(lists):
        return None
    return _kernel(name).prepared([*lists, *numbers.values()])


def _are_usual(lists: Sequence[Sequence[torch.Tensor]]) -> bool:
    return all(PLAIN_CLASSES.issuperset(map(type, part)) and _DTYPES.issuperset(map(_dtype, part)) for part in lists)


def _multi_tensor_adam(plain: Callable[..., None], *lists: Any, **options: Any) -> None:
    """Replacement for `torch.optim.adam._multi_tensor_adam`; `plain` is torch's function."""
    params, _, _, squares, _, counts, *_ = lists
    real = not (options["differentiable"] or options["has_complex"])
    if options["capturable"] and real and current_trace() is not None and _are_usual(lists[:5]):
        fused_adam(*lists, **options)
        return
    beta1, beta2, lr, decay = (options[name] for name in ("beta1", "beta2", "lr", "weight_decay"))
    numbers = (beta1, beta2, lr, decay, options["eps"])
    usual = real and not options["capturable"] and all(type(n) in (float, int) for n in numbers)
    if usual and no_jax_trace() and params and _on_host(counts):
        taken = set(map(torch.Tensor.item, counts))
        if len(taken) == 1:
            count = taken.pop() + 1
            step = _step(
                "adam_step",
                [*lists[:4], lists[4] if options["amsgrad"] else []],
                decay=float(1 - lr * decay if options["decoupled_weight_decay"] else decay),
                rest1=1.0 - beta1,
                beta2=float(beta2),
                rest2=1.0 - beta2,
                root=(1 - beta2**count) ** 0.5,
                eps=float(options["eps"]),
                rate=-lr / (1 - beta1**count),
                decays=decay != 0,
                decoupled=options["decoupled_weight_decay"],
                maximize=options["maximize"],
            )
            if step is not None:
                torch.ops.aten._foreach_add_.Tensor(counts, torch.tensor(1.0, device="cpu"), alpha=1.0)
                step()
                again = params if decay and options["decoupled_weight_decay"] else []
                torch.autograd.graph.increment_version([*again, *squares])  # torch writes these twice
                return
    plain(*lists, **options)


def _on_host(counts: Sequence[torch.Tensor]) -> bool:
    return set(map(type, counts)) == {torch.Tensor} and all(c.is_cpu for c in counts)


def _multi_tensor_sgd(plain: Callable[..., None], *lists: Any, **options: Any) -> None:
    """Replacement for `torch.optim.sgd._multi_tensor_sgd`; `plain` is torch's function."""
    params, grads, buffers, *_ = lists
    decay, momentum, lr, dampening = numbers = [options[n] for n in ("weight_decay", "momentum", "lr", "dampening")]
    usual = not (options["nesterov"] or options["has_sparse_grad"])
    if usual and all(type(n) in (float, int) for n in numbers) and momentum and params:
        kept, written = [b for b in buffers if b is not None], buffers
        if len(kept) < len(buffers) and not dampening:  # the first step stores the gradient: it adds it to zeros
            written = [torch.zeros_like(p) if b is None else b for p, b in zip(params, buffers, strict=True)]
        step = _step(
            "sgd_step",
            [params, grads, written],
            decay=float(decay),
            momentum=float(momentum),
            rest=1.0 - dampening,
            rate=-float(lr),
            decays=decay != 0,
            maximize=options["maximize"],
        )
        if step is not None:
            step()
            torch.autograd.graph.increment_version(kept)  # torch writes these twice, and has not written new ones
            buffers[:] = [w.data if b is None else b for b, w in zip(buffers, written, strict=True)]
            return
    plain(*lists, **options)

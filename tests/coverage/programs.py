"""Programs: the torch code that each check of an operator runs on one sample, on the device of the sample."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.testing._internal.common_utils import noncontiguous_like
from torch.utils import _pytree as pytree

from .agree import Program
from .outcome import InapplicableError
from .samples import Sample

Operator = Callable[..., Any]


def call(op: Operator, sample: Sample, **more: Any) -> Any:
    """Call the operator. Without tensors, Python functions get the device as an argument, others as torch's default."""
    kwargs = {**sample.kwargs, **more}
    if sample.tensors():
        return op(sample.input, *sample.args, **kwargs)
    if "device" in _parameters(op):
        kwargs.setdefault("device", torch.device(sample.device))
    with torch.device(sample.device):
        return op(sample.input, *sample.args, **kwargs)


def tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def forward(op: Operator) -> Program:
    """The result, which inputs it shares memory with, and which inputs were written."""

    def program(sample: Sample) -> Any:
        inputs = sample.tensors()
        versions = [t._version for t in inputs]
        result = call(op, sample)
        shares = [[i for i, t in enumerate(inputs) if _shares(r, t)] for r in tensors(result)]
        written = [t._version != v for t, v in zip(inputs, versions, strict=True)]
        changed = [t if w else None for t, w in zip(inputs, written, strict=True)]
        return {"result": result, "shares memory with": str(shares), "writes": str(written), "written": changed}

    return program


def essence(op: Operator) -> Program:
    """The well-defined part of the result, according to torch's sample."""
    return lambda sample: sample.process(call(op, sample))


def named(op: Operator, place: int, alone: bool) -> Program:
    """The result with its indices replaced by the elements that they select; `alone`: the result is only indices.

    `place` is the position of `dim` among the arguments after the input.
    """

    def program(sample: Sample) -> Any:
        result = call(op, sample)
        if not isinstance(result, tuple) and not alone:
            return result
        *values, indices = [result] if alone else result
        x, args = sample.input, sample.args
        dim = sample.kwargs.get("dim", args[place] if len(args) > place else -1)
        indices = indices if indices.ndim == x.ndim else indices.unsqueeze(dim)
        return values, x.take_along_dim(indices, dim) if x.ndim else x

    return program


def gradient(op: Operator) -> Program:
    """Gradients of every input for fixed cotangents; None for an input without a gradient."""

    def program(sample: Sample) -> Any:
        leaves, outs = _tape(op, sample)
        grads = torch.autograd.grad(outs, leaves, cotangents(outs), allow_unused=True)
        return [_plain(g) for g in grads]

    return program


def pure_gradient(op: Operator) -> Program:
    """Gradients of every input, as JAX computes them for the pure function on the device; 0 for one without effect.

    The program runs on samples that differ in values only, and on the CPU first.
    """
    differentiated: list[bool] = []  # the results that depend on an input, as torch sees it
    compiled: list[Callable[..., Any]] = []

    def results(sample: Sample) -> list[torch.Tensor]:
        return list(filter(_continuous, tensors(sample.process(call(op, sample)))))

    def program(sample: Sample) -> Any:
        if any(t.layout is not torch.strided for t in sample.tensors()):
            raise InapplicableError("JAX has no arrays of this layout")
        leaves, held = sample.leaves(), {id(t): t for t in sample.tensors() if t.device.type == "jax"}
        if not held:
            outs = results(sample)
            differentiated[:] = [o.requires_grad for o in outs]
            outs = [o for o in outs if o.requires_grad]
            if not leaves or not outs:
                raise InapplicableError("no result requires a gradient")
            grads = torch.autograd.grad(outs, leaves, cotangents(outs), allow_unused=True, materialize_grads=True)
            return [_plain(g) for g in grads]
        places = {key: i for i, key in enumerate(held)}

        def function(given: dict[int, torch.Tensor]) -> list[torch.Tensor]:
            made = results(sample.map(lambda t: given[places[id(t)]] if id(t) in places else t))
            return [o for o, d in zip(made, differentiated, strict=True) if d]

        run = compiled[0] if compiled else pulled(function)
        moving = {places[id(t)]: t for t in leaves}
        grads = run(moving, {i: held[key] for key, i in places.items() if i not in moving})
        compiled[:] = [run]
        return [grads[places[id(t)]] for t in leaves]

    return program


def pulled(function: Callable[[dict[Any, Any]], Any]) -> Callable[..., Any]:
    """JAX's derivative of the tensors that a torch function returns for a dict of tensors: the gradients of some."""
    import jax

    from tenax import from_jax, to_jax
    from tenax.interop import j2t, t2j

    @jax.jit
    def gradients(moving: dict[Any, Any], fixed: dict[Any, Any]) -> Any:
        outs, pull = jax.vjp(lambda part: t2j(function)({**part, **fixed}), moving)
        seeds = [to_jax(ramp(torch.empty(o.shape, dtype=j2t(o.dtype))).to("jax").conj().resolve_conj()) for o in outs]
        return jax.tree.map(lambda g: g.conj(), pull(seeds)[0])

    def run(*parts: dict[Any, torch.Tensor]) -> Any:
        return from_jax(gradients(*(to_jax({i: t.detach() for i, t in part.items()}) for part in parts)))

    return run


def gradgrad(op: Operator) -> Program:
    """Gradients of the gradients, for the inputs and for the cotangents."""
    return lambda sample: second_derivatives(*_tape(op, sample))


def second_derivatives(leaves: list[torch.Tensor], outs: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """Gradients of the gradients of `outs`, for the leaves and for the cotangents."""
    seeds = [c.requires_grad_() for c in cotangents(outs)]
    firsts = torch.autograd.grad(outs, leaves, seeds, create_graph=True, allow_unused=True)
    grads = [g for g in firsts if g is not None and g.requires_grad]
    if not grads:
        raise InapplicableError("the gradient depends on nothing that requires a gradient")
    seconds = torch.autograd.grad(grads, [*leaves, *seeds], cotangents(grads), allow_unused=True)
    return [_plain(g) for g in seconds]


def tangents(op: Operator) -> Program:
    """Forward-mode derivatives of every result for fixed tangents of the inputs."""

    def program(sample: Sample) -> Any:
        if not sample.leaves():
            raise InapplicableError("no input requires a gradient")
        with forward_ad.dual_level():
            duals = sample.map(lambda t: forward_ad.make_dual(t.detach(), ramp(t)) if t.requires_grad else t)
            outs = [o for o in tensors(sample.process(call(op, duals))) if _continuous(o)]
            found = [forward_ad.unpack_dual(o).tangent for o in outs]
            return [_plain(t) for t in found]

    return program


def vmapped(op: Operator, alone: bool) -> Program:
    """The op under `torch.func.vmap` with every tensor in a batch of two, or only the first tensor."""

    def program(sample: Sample) -> Any:
        leaves, spec = pytree.tree_flatten(sample.tree)
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        if not places:
            raise InapplicableError("no argument is a tensor")
        chosen = places[:1] if alone else places

        def one(*slices: torch.Tensor) -> tuple[torch.Tensor, ...]:
            filled = list(leaves)
            for place, part in zip(chosen, slices, strict=True):
                filled[place] = part
            x, args, kwargs = pytree.tree_unflatten(filled, spec)
            return tuple(tensors(sample.process(call(op, replace(sample, input=x, args=args, kwargs=kwargs)))))

        return torch.func.vmap(one, randomness="different")(*(_pair(leaves[i]) for i in chosen))

    return program


def inplace(op: Operator, parity: bool) -> Program:
    """Value, identity of the returned object, and version counters of an in-place call.

    With `parity`, an exception of CPU torch (the input cannot store the dtype of the result) is also a result.
    """

    def program(sample: Sample) -> Any:
        own = tensors(sample.input)
        if not own:
            raise InapplicableError("the input is not a tensor")
        if sample.leaves():
            sample = sample.map(lambda t: t.clone() if t.requires_grad else t)
            own = tensors(sample.input)
        versions = [t._version for t in own]
        try:
            result = call(op, sample)
        except RuntimeError as error:
            if not parity or isinstance(error, NotImplementedError):
                raise
            return "RuntimeError"
        returned = tensors(result)
        # A foreach op returns nothing.
        same = not returned or all(r is t for r, t in zip(returned, own, strict=True))
        written = [t._version > v for t, v in zip(own, versions, strict=True)]
        return {"value": [t.detach() for t in own], "returns its input": str(same), "bumps the version": str(written)}

    return program


def on_clones(op: Operator) -> Operator:
    """An in-place operator that writes to clones of its input and returns them."""

    def operator(x: Any, *args: Any, **kwargs: Any) -> Any:
        own = pytree.tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, x)
        result = op(own, *args, **kwargs)
        # A foreach op returns nothing.
        return own if result is None else result

    return operator


# The kinds of `out=`; each function creates one from the result that the call would return.
OUT_CASES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "out= of the right shape": lambda r: _filled(torch.empty(r.shape, dtype=r.dtype, device=r.device)),
    "out= with other strides": lambda r: _filled(_strided(r)),
    "empty out=": lambda r: torch.empty(0, dtype=r.dtype, device=r.device),
    "out= of a wrong shape": lambda r: _filled(torch.empty((*r.shape, 2), dtype=r.dtype, device=r.device)),
    "out= of a wrong dtype": lambda r: torch.empty(r.shape, dtype=_other(r.dtype), device=r.device),
}


def out(op: Operator) -> Program:
    """For each kind of `out=`: values, identity, strides and whether it warned of a resize, or the exception raised."""

    def program(sample: Sample) -> Any:
        results = call(op, sample)
        if not tensors(results):
            raise InapplicableError("the result is not a tensor")
        return {name: _written(op, sample, results, make) for name, make in OUT_CASES.items()}

    return program


def noncontiguous(sample: Sample) -> Sample:
    """The sample with gaps, filled with NaN, in the memory of every strided tensor."""
    return sample.map(lambda t: noncontiguous_like(t) if t.layout is torch.strided else t)


def cotangents(outs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [ramp(o) for o in outs]


def ramp(like: torch.Tensor) -> torch.Tensor:
    """Fixed values between -2 and 2 that every float dtype holds exactly, so that one test serves all precisions."""
    count = torch.arange(like.numel(), dtype=torch.int64)
    values = ((count * 37 + 11) % 64 - 32).to(torch.float64) / 16
    if like.dtype.is_complex:
        values = torch.complex(values, ((count * 23 + 5) % 64 - 32).to(torch.float64) / 16)
    return values.reshape(like.shape).to(like.dtype).to(like.device)


def _parameters(op: Operator) -> Iterable[str]:
    """The names of the parameters of a Python function; none for other callables."""
    try:
        return inspect.signature(op).parameters
    except ValueError:
        return ()


def _pair(t: torch.Tensor) -> torch.Tensor:
    """A batch of the tensor and a copy of it; floats in the copy are halved, which keeps valid arguments valid."""
    return torch.stack([t.detach(), t.detach() / 2 if _continuous(t) and t.dtype.itemsize > 1 else t.detach()])


def _tape(op: Operator, sample: Sample) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    leaves = sample.leaves()
    if not leaves:
        raise InapplicableError("no input requires a gradient")
    outs = [o for o in tensors(sample.process(call(op, sample))) if _continuous(o) and o.requires_grad]
    if not outs:
        raise InapplicableError("no result requires a gradient")
    return leaves, outs


def _continuous(t: torch.Tensor) -> bool:
    return t.dtype.is_floating_point or t.dtype.is_complex


def _plain(t: torch.Tensor | None) -> torch.Tensor | None:
    return None if t is None else t.detach().resolve_conj()


def _shares(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch._C._is_alias_of(a, b))  # type: ignore[attr-defined]


def _written(op: Operator, sample: Sample, results: Any, make: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    targets = pytree.tree_map(make, results)
    targets = tuple(targets) if isinstance(targets, tuple) else targets
    given = tensors(targets)
    wrong_dtype = make is OUT_CASES["out= of a wrong dtype"]
    strides = [t.stride() for t in given]
    shapes = [t.shape for t in given]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            returned = call(op, sample, out=targets)
        except (RuntimeError, TypeError, ValueError) as error:
            # A kernel that does not support the wrong dtype counts as rejecting it.
            if isinstance(error, NotImplementedError) and not wrong_dtype:
                raise
            return "RuntimeError" if wrong_dtype else type(error).__name__
    if sample.device == "cpu" and make is OUT_CASES["out= with other strides"]:
        # Some CPU kernels (avg_pool3d) write as if `out` were dense, so the plain result is the reference.
        for t, r in zip(given, tensors(results), strict=True):
            t.copy_(r)
    # An op on a list of tensors returns nothing.
    same = returned is None or all(a is b for a, b in zip(tensors(returned), given, strict=True))
    kept = [t.stride() == s for t, s, n in zip(given, strides, shapes, strict=True) if t.shape == n and t.numel()]
    return {
        "value": given,
        "returns out": str(same),
        "keeps strides": str(kept),
        "warns of a resize": str(any("resized" in str(w.message) for w in caught)),
    }


def _filled(t: torch.Tensor) -> torch.Tensor:
    """Fill with a value that must not remain in the result."""
    return t.fill_(float("nan") if _continuous(t) else 1)


def _strided(r: torch.Tensor) -> torch.Tensor:
    wide = torch.empty((*r.shape, 2), dtype=r.dtype, device=r.device)
    return wide[..., 0]


def _other(dtype: torch.dtype) -> torch.dtype:
    """A dtype that torch refuses to cast a result of `dtype` to; bool if there is none."""
    if dtype.is_complex:
        return torch.float32
    return torch.int64 if dtype.is_floating_point else torch.bool

"""Samples: a few diverse sample inputs of an entry, and their exact copies (strides, offsets, flags) on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .compare import widen

SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}
UPCAST = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
}
EXACT = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}


@dataclass(frozen=True, eq=False)
class Sample:
    """The arguments of one call. `process` picks the differentiable part of the result, as torch defines it.

    With `hosted`, tensors other than the input stay on the CPU when the sample moves.
    """

    input: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    process: Callable[[Any], Any]
    broadcasts: bool
    label: str
    device: str = "cpu"
    hosted: bool = False

    @classmethod
    def of(cls, raw: Any, label: str = "") -> Sample:
        """Convert torch's `SampleInput`."""
        return cls(
            raw.input, tuple(raw.args), dict(raw.kwargs), raw.output_process_fn_grad, bool(raw.broadcasts_input), label
        )

    @property
    def tree(self) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        return self.input, self.args, self.kwargs

    def tensors(self) -> list[torch.Tensor]:
        return [leaf for leaf in pytree.tree_leaves(self.tree) if isinstance(leaf, torch.Tensor)]

    @property
    def extreme(self) -> bool:
        """Whether a tensor contains an infinity, NaN, or a number above 1000 in absolute value."""
        return any(_is_extreme(t) for t in self.tensors())

    def untied(self) -> Sample:
        """The sample with equal values made distinct, in an unchanged order."""
        return self.map(_untie)

    @property
    def distinct(self) -> bool:
        """Whether no tensor contains equal values."""
        return all(_distinct(t) for t in self.tensors())

    def cut(self) -> Sample:
        """The sample with floats and complex numbers mapped to 0 ... 127, which every integer type can hold."""
        return self.map(
            lambda t: t.detach().abs().nan_to_num(0, 127).clamp(max=127).to(t.dtype) if _continuous(t) else t
        )

    def leaves(self) -> list[torch.Tensor]:
        """The tensors that require a gradient."""
        return [t for t in self.tensors() if t.requires_grad]

    def at(self, values: Sequence[float]) -> Sample:
        """The sample with these values, in turn, in the real tensors that require a gradient: slower in later ones, so
        that elements are paired in every way."""
        steps = {id(t): len(values) ** i for i, t in enumerate(self.leaves()) if t.dtype.is_floating_point}

        def filled(t: torch.Tensor) -> torch.Tensor:
            if id(t) not in steps or t.layout is not torch.strided:
                return t
            turns = torch.arange(t.numel()) // steps[id(t)] % len(values)
            return torch.tensor(values, dtype=t.dtype)[turns].reshape(t.shape).requires_grad_()

        return self.map(filled)

    def map(self, f: Callable[[torch.Tensor], torch.Tensor]) -> Sample:
        """The sample with `f` applied to every tensor; a tensor that occurs twice stays one tensor."""
        memo: dict[int, torch.Tensor] = {}

        def once(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            if id(leaf) not in memo:
                memo[id(leaf)] = f(leaf)
            return memo[id(leaf)]

        x, args, kwargs = pytree.tree_map(once, self.tree)
        return replace(self, input=x, args=args, kwargs=kwargs)

    def on(self, device: str) -> Sample:
        """A copy on the device, with `device` arguments redirected to it."""
        own = {id(t) for t in pytree.tree_leaves(self.input)}
        moved = self.map(lambda t: copy_to(t, "cpu" if self.hosted and id(t) not in own else device))
        kwargs = {k: torch.device(device) if k == "device" and v is not None else v for k, v in moved.kwargs.items()}
        args = tuple(torch.device(device) if isinstance(a, torch.device) or _is_cpu(a) else a for a in moved.args)
        return replace(moved, args=args, kwargs=kwargs, device=device)

    def cast(self, table: dict[torch.dtype, torch.dtype]) -> Sample:
        """The sample with tensors and dtype arguments converted by the table, for a reference of higher precision."""

        def convert(t: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                wide = t.detach().to(table[t.dtype]) if t.dtype in table else t.detach().clone()
            return wide.requires_grad_(t.requires_grad)

        wide = self.map(convert)
        kwargs = {k: table.get(v, v) if isinstance(v, torch.dtype) else v for k, v in wide.kwargs.items()}
        args = tuple(table.get(a, a) if isinstance(a, torch.dtype) else a for a in wide.args)
        return replace(wide, args=args, kwargs=kwargs)


def _untie(t: torch.Tensor) -> torch.Tensor:
    """Replace a tensor with equal values by its ranks; 16-bit floats, which hold few integers, store them as bits."""
    if t.is_complex() or _distinct(t):
        return t
    ranks = t.detach().flatten().argsort(stable=True).argsort().reshape(t.shape)
    # Bits from 1024 on avoid subnormal numbers, which XLA flushes to 0.
    values = ranks.to(torch.int16).add_(1024).view(t.dtype) if t.itemsize == 2 else ranks.to(t.dtype)
    return values.requires_grad_(t.requires_grad)


def _distinct(t: torch.Tensor) -> bool:
    return widen(t.detach()).unique().numel() == t.numel()


def _continuous(t: torch.Tensor) -> bool:
    return t.dtype.is_floating_point or t.dtype.is_complex


def _is_extreme(t: torch.Tensor) -> bool:
    if not _continuous(t) or t.layout is not torch.strided or not t.numel():
        return False
    sizes = t.detach().resolve_conj().resolve_neg().to(torch.complex128).abs()
    return not bool((sizes <= 1000).all())


def _is_cpu(value: Any) -> bool:
    return isinstance(value, str) and value == "cpu"


def copy_to(t: torch.Tensor, device: str) -> torch.Tensor:
    """A copy on the device with the layout of the original, including gaps and overlaps."""
    with torch.no_grad():
        if t.layout is not torch.strided or t.is_quantized or t.is_nested or t.device.type != "cpu":
            return t.detach().to(device, copy=True).requires_grad_(t.requires_grad)
        if t.is_conj():
            return copy_to(t.detach().conj(), device).conj().requires_grad_(t.requires_grad)
        if t.is_neg():
            return copy_to(torch._neg_view(t.detach()), device)._neg_view().requires_grad_(t.requires_grad)
        source = t.detach()
        whole = source.untyped_storage().nbytes() == source.numel() * source.itemsize
        if whole and source.is_contiguous():
            return source.to(device, copy=True).requires_grad_(t.requires_grad)
        count = source.untyped_storage().nbytes() // source.itemsize
        flat = torch.empty(0, dtype=source.dtype).set_(source.untyped_storage(), 0, (count,), (1,))
        moved = flat.to(device, copy=True)
        return moved.as_strided(source.size(), source.stride(), source.storage_offset()).requires_grad_(t.requires_grad)


def describe(value: Any) -> str:
    """A short description of an argument: `f32[3,4]` for a tensor; long text is cut with `…`."""
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        kind = name.rstrip("0123456789")
        short = SHORT[kind] + name[len(kind) :] if kind in SHORT and len(kind) < len(name) else name
        strided = "" if value.layout is not torch.strided or value.is_contiguous() else "'"
        return f"{short}[{','.join(map(str, value.shape))}]{strided}"
    if isinstance(value, list | tuple):
        inner = ", ".join(describe(v) for v in value[:4]) + (", …" if len(value) > 4 else "")
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def label(raw: Any) -> str:
    """The sample as a call: `(f32[5,5], 2, dim=0)`."""
    parts = [describe(raw.input), *(describe(a) for a in raw.args)]
    parts += [f"{k}={describe(v)}" for k, v in raw.kwargs.items()]
    text = f"({', '.join(parts)})"
    return text if len(text) <= 160 else text[:158] + "…)"


def features(sample: Sample) -> set[str]:
    """The features that distinguish a sample: rank, emptiness, layout, dtypes, and every other argument."""
    found = set()
    named: list[tuple[str, Any]] = [("input", sample.input)]
    named += [(str(i), a) for i, a in enumerate(sample.args)]
    named += list(sample.kwargs.items())
    for name, value in named:
        leaves = pytree.tree_leaves(value)
        for t in (leaf for leaf in leaves if isinstance(leaf, torch.Tensor)):
            strided = t.layout is torch.strided
            found |= {f"{name}: rank {t.ndim}", f"{name}: {t.dtype}", f"{name}: dense {strided and t.is_contiguous()}"}
            found |= {f"{name}: empty {t.numel() == 0}", f"{name}: single {t.numel() == 1}"}
        if not any(isinstance(leaf, torch.Tensor) for leaf in leaves):
            found.add(f"{name}: {describe(value)}")
    found.add(f"arguments {len(sample.args)} {sorted(sample.kwargs)}")
    if sample.extreme:
        found.add("extreme values")
    return found


def pick(samples: list[Sample], count: int) -> list[Sample]:
    """At most `count` samples, each chosen for the most features not seen yet; ties go to the earlier sample.

    XLA compiles every new shape, so a few diverse samples are worth more than many similar ones. When no sample has a
    new feature, the one farthest from the chosen ones follows. The samples for a smaller count are always among those
    for a larger one, so a check that passes a full run also passes the quick tier.
    """
    if len(samples) <= count:
        return samples
    described = [features(s) for s in samples]
    chosen: list[int] = []
    seen: set[str] = set()
    for _ in range(count):
        rest = [i for i in range(len(samples)) if i not in chosen]
        best = max(rest, key=lambda i: (len(described[i] - seen), min((abs(i - c) for c in chosen), default=0), -i))
        chosen.append(best)
        seen |= described[best]
    return [samples[i] for i in sorted(chosen)]

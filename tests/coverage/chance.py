"""Chance: properties that random results of two devices must share for any distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .compare import Tolerance, compare, host, nth, widen

# Runs under different seeds on each side. If both sides draw from one distribution, every order of a statistic over
# the 2 * RUNS runs is as likely as any other, so all of one side lie above all of the other once in 1.4 million.
RUNS = 12

# Statistics that differ by less are considered equal, because rounding differs.
ROUNDING = Tolerance(1e-3, 1e-3)

STATISTICS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "least value": lambda x: _finite(x).min(),
    "greatest value": lambda x: _finite(x).max(),
    "mean value": lambda x: _finite(x).mean(),
    "share of finite values": lambda x: x.isfinite().double().mean(),
    "share of zeros": lambda x: (x == 0).double().mean(),
    "share of integers": lambda x: (x == x.round()).double().mean(),
}


def varies(runs: list[Any], override: Tolerance | None = None) -> bool:
    """Whether the values of several runs differ."""
    first = fetched(runs[0])
    return any(compare(fetched(r), first, device="cpu", override=override, strides=False) is not None for r in runs[1:])


def frozen(found: list[Any], wanted: list[Any], override: Tolerance | None = None) -> str | None:
    """The result that varies with the seed on CPU torch but not on the device, or None."""
    return _first(lambda _, actual, expected: _frozen(actual, expected, override), found, wanted)


def separated(
    found: list[Any],
    wanted: list[Any],
    override: Tolerance | None = None,
    exact: Callable[[], Any] | None = None,
) -> str | None:
    """The property that distinguishes the runs of the device (`found`) from those of CPU torch (`wanted`), or None.

    A result that does not depend on the seed must equal that of CPU torch, or be as close to `exact`, the tree in
    float64. For a result that depends on the seed, no statistic may be greater in all runs of one side than in all runs
    of the other.
    """
    count = len(pytree.tree_leaves(wanted[0]))

    def judge(index: int, actual: list[torch.Tensor], expected: list[torch.Tensor]) -> str | None:
        if not varies(expected, override):
            return compare(
                actual[0],
                expected[0],
                device="cpu",
                override=override,
                strides=False,
                dtypes=False,
                exact=None if exact is None else lambda: nth(exact, index, count),
            )
        if wrong := _frozen(actual, expected, override):
            return wrong
        for name, statistic in STATISTICS.items():
            a, e = _summary(actual, statistic), _summary(expected, statistic)
            slack = ROUNDING.absolute + ROUNDING.relative * float(e.abs().max())
            if float(a.min()) > float(e.max()) + slack or float(a.max()) < float(e.min()) - slack:
                return (
                    f"the {name} under {len(found)} seeds is {float(a.min()):.4g} to {float(a.max()):.4g}; "
                    f"expected about {float(e.min()):.4g} to {float(e.max()):.4g}"
                )
        return None

    return _first(judge, found, wanted)


def fetched(tree: Any) -> Any:
    """Copy the tensors of a tree to the host."""
    return pytree.tree_map(lambda leaf: host(leaf) if isinstance(leaf, torch.Tensor) else leaf, tree)


def _frozen(actual: list[torch.Tensor], expected: list[torch.Tensor], override: Tolerance | None) -> str | None:
    if varies(expected, override) and not varies(actual):
        return f"{len(actual)} seeds give the same values"
    return None


def _first(
    judge: Callable[[int, list[torch.Tensor], list[torch.Tensor]], str | None], found: list[Any], wanted: list[Any]
) -> str | None:
    """The first message of `judge` over the tensors of the results, each with its values in all runs."""
    paths = [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(wanted[0])[0]]
    sides = [zip(*(pytree.tree_leaves(fetched(run)) for run in runs), strict=True) for runs in (found, wanted)]
    for index, (path, actual, expected) in enumerate(zip(paths, *sides, strict=True)):
        if isinstance(expected[0], torch.Tensor) and (wrong := judge(index, list(actual), list(expected))):
            return f"{path}: {wrong}" if path else wrong
    return None


def _summary(runs: list[torch.Tensor], statistic: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The statistic of each run."""
    plain = [torch.view_as_real(x) if x.is_complex() else x for x in map(widen, runs)]
    return torch.stack([statistic(x.double().flatten()) for x in plain])


def _finite(x: torch.Tensor) -> torch.Tensor:
    """The finite values, or a single NaN if there are none, because every comparison with NaN is false."""
    kept = x[x.isfinite()]
    return kept if kept.numel() else torch.full((1,), torch.nan, dtype=x.dtype)

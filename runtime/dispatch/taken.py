"""Dtypes that torch refuses: a call that its spec does not list is one that CPU torch is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from tenax.generated.table import DTYPES

from .meta import refuse

if TYPE_CHECKING:
    from .overload import Overload

Dtypes = frozenset[torch.dtype]

_GROUPS = {word: {getattr(torch, name) for name in names} for word, names in DTYPES.items()}
_ALL = frozenset().union(*_GROUPS.values())
# A number is of the lowest dtype of its kind, as in promotion: any other dtype of an argument may be a higher one.
_NUMBERS = {float: _GROUPS["floating"] | _GROUPS["complex"], complex: _GROUPS["complex"]}


@cache
def dtypes(words: str) -> Dtypes:
    """The dtypes that the words of a spec stand for."""
    named = words.removeprefix("not ").split()
    found = frozenset().union(*(_GROUPS.get(w) or {getattr(torch, w)} for w in named))
    return _ALL - found if words.startswith("not ") else found


def refuse_dtypes(overload: Overload, values: Sequence[Any]) -> None:
    """Raise what CPU torch raises of arguments in dtypes that the spec of the op does not list.

    It is asked of zeros. A call that it takes after all, as another release may, goes on.
    """
    if any(not _takes(dtypes(words), given) for words, given in _given(overload, values)):
        refuse(overload.op, overload.names, values, overload.positional)


def _given(overload: Overload, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The words of the spec, each with the arguments of which it speaks."""
    named = {s.parameter: v for s, v in zip(overload.slots, values, strict=True)}
    read = [v for i, v in enumerate(values) if i not in overload.outs]
    for name, words in overload.row.dtypes:
        yield words, named.get(name) if name else named.get("dtype") or read


def _takes(taken: Dtypes, given: Any) -> bool:
    """Whether the tensors and numbers among arguments are of these dtypes."""
    for value in pytree.tree_leaves(given):
        if isinstance(value, torch.Tensor):
            value = value.dtype
        if value.__class__ is torch.dtype and value not in taken:
            return False
        if value.__class__ in _NUMBERS and not taken & _NUMBERS[value.__class__]:
            return False
    return True

"""Dtypes that torch rejects: a call with dtypes that its spec does not list is first tried on CPU torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import torch

from tenax.generated.table import DTYPES

from .._torch import pytree
from .shape_inference import raise_matching_host_error
from .signature import Signature

Dtypes = frozenset[torch.dtype]

_GROUPS = {word: {getattr(torch, name) for name in names} for word, names in DTYPES.items()}
_ALL = frozenset().union(*_GROUPS.values())
_PRECISIONS = ({torch.float32, torch.float64}, {torch.complex64, torch.complex128})
_HALVES = {torch.float16, torch.bfloat16, torch.float32}
_NUMERIC = ("tensor", "number", "numbers")
# A number has the lowest dtype of its kind, as in promotion, so it fits any dtype of at least that kind.
_NUMBERS = {float: _GROUPS["floating"] | _GROUPS["complex"], complex: _GROUPS["complex"]}


@cache
def dtypes_named(words: str) -> Dtypes:
    """The dtypes that the words of a spec name."""
    named = words.removeprefix("not ").split()
    found = frozenset().union(*(_GROUPS.get(w) or {getattr(torch, w)} for w in named))
    return _ALL - found if words.startswith("not ") else found


def check_dtypes(signature: Signature, values: Sequence[Any]) -> None:
    """Raise CPU torch's error for arguments with dtypes that the spec of the op does not list.

    The CPU kernel is called with zeros. If it accepts them, as another torch release may, the call proceeds.
    """
    if any(not _takes(dtypes_named(words), given) for words, given in _restricted(signature, values)):
        raise_matching_host_error(signature, values, half=False)
    for argument, value in zip(signature.arguments, values, strict=True):
        if (argument.name == "alpha" or type(value) is complex) and _is_higher(value, values):
            raise_matching_host_error(signature, values, "alpha|overflow|be cast")


def mixes_dtypes(signature: Signature, values: Sequence[Any]) -> bool:
    """Whether arguments that may be float32 have several dtypes, of which a lowering would silently cast some.

    Half precision beside float32 does not count, because CUDA kernels accept more such calls than the CPU's.
    """
    given = {t.dtype for t in pytree.tree_leaves(values) if isinstance(t, torch.Tensor)}
    if len(given) < 2 or any(given >= pair for pair in _PRECISIONS):
        return len(given) > 1
    found = set[torch.dtype]()
    for words, part in _restricted(signature, values):
        if torch.float32 in dtypes_named(words):
            found.update(t.dtype for t in pytree.tree_leaves(part) if isinstance(t, torch.Tensor))
    return len(found) > 1 and not found <= _HALVES


def _is_higher(number: Any, values: Sequence[Any]) -> bool:
    """Whether the result may be unable to hold a number: it is a bool, or of a higher kind than every tensor."""
    if type(number) is bool:
        return True
    holds = _NUMBERS.get(type(number), _ALL)
    return all(t.dtype not in holds for t in pytree.tree_leaves(values) if isinstance(t, torch.Tensor))


def _restricted(signature: Signature, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The `dtypes:` entries of the spec, each with the arguments to which it applies."""
    given = [_masks(v) if s.kind in _NUMERIC else v for s, v in zip(signature.arguments, values, strict=True)]
    named = {s.parameter: v for s, v in zip(signature.arguments, given, strict=True)}
    read = [v for i, v in enumerate(given) if i not in signature.outs]
    for name, words in signature.row.dtypes:
        yield words, named.get(name) if name else named.get("dtype") or read  # `out` is None in other forms


def _masks(value: Any) -> Any:
    """Replace bools passed for a number or a tensor by `torch.bool`: unlike flags, they are data."""
    if value.__class__ is list:
        return [_masks(v) for v in value]
    return torch.bool if type(value) is bool else value


def _takes(taken: Dtypes, given: Any) -> bool:
    """Whether all tensors and numbers among the arguments have one of these dtypes."""
    for value in pytree.tree_leaves(given):
        if isinstance(value, torch.Tensor):
            value = value.dtype
        if value.__class__ is torch.dtype and value not in taken:
            return False
        if type(value) in _NUMBERS and not taken & _NUMBERS[type(value)]:
            return False
    return True

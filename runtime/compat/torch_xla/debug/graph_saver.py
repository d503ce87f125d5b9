"""`torch_xla.debug.graph_saver`: the programs of recorded tensors in files."""

from __future__ import annotations

import itertools
import os
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from ..core.xla_model import lowered

_numbers: defaultdict[tuple[int, str], Iterator[int]] = defaultdict(itertools.count)
_DIALECTS = {"text": "stablehlo", "hlo": "hlo"}


def save_tensors_graph(save_dir: str, name: str, tensors: Sequence[torch.Tensor]) -> None:
    """Write the program that would compute recorded tensors to `save_dir/name-thread-number.format`.

    The variable `SAVE_GRAPH_FMT` is the format: "text", StableHLO, or "hlo".

    Raises:
        NotImplementedError: the format is another one.
        RuntimeError: nothing is recorded, as in eager mode.
    """
    form = os.environ.get("SAVE_GRAPH_FMT", "text")
    if form not in _DIALECTS:
        raise NotImplementedError(f"save_tensors_graph: SAVE_GRAPH_FMT={form!r}; expected 'text' or 'hlo'")
    text = lowered(tensors).as_text(dialect=_DIALECTS[form])
    thread = threading.get_ident()
    (Path(save_dir) / f"{name}-{thread}-{next(_numbers[thread, name])}.{form}").write_text(text)

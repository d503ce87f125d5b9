"""The facts of the native functions of one torch release, as lines of text.

torchgen reads only the files of its own release, so this module also runs as a script, with the torchgen of a wheel.
It imports torchgen and no other module of this package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from torchgen.gen import parse_native_yaml
from torchgen.model import DispatchKey

# The tags that the generator uses; the others do not concern lowerings.
TAGS = ("generated", "nondeterministic_seeded")


def lines(packaged: Path) -> Iterator[str]:
    """`schema, dispatch keys, marks` of every native function, by name, separated by tabs.

    `packaged` is the folder of that name in a torchgen. The marks are TAGS, `view`, `formula` (autograd has one) and
    `delegate:<overload>` (the structured overload that has the kernels).
    """
    folder = packaged / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    derivatives = packaged / "autograd" / "derivatives.yaml"
    differentiated = formulas(derivatives.read_text(encoding="utf-8"))
    keys: dict[str, list[str]] = {}
    for key, index in parsed.backend_indices.items():
        if isinstance(key, DispatchKey):
            for name in index.index:
                keys.setdefault(str(name), []).append(key.name)
    for f in sorted(parsed.native_functions, key=lambda f: str(f.func.name)):
        name = str(f.func.name)
        marks = [tag for tag in TAGS if tag in f.tags]
        marks += ["view"] if f.is_view_op else []
        marks += ["formula"] if name in differentiated else []
        marks += [f"delegate:{f.structured_delegate}"] if f.structured_delegate else []
        yield "\t".join([str(f.func), " ".join(sorted(keys.get(name, []))), " ".join(sorted(marks))]).rstrip("\t")


def formulas(text: str) -> frozenset[str]:
    """The overloads of a derivatives.yaml, except those whose only formula is for another kind of tensor."""
    entries = re.split(r"^- name: ", text, flags=re.MULTILINE)[1:]
    return frozenset(e.partition("(")[0] for e in entries if "\n  dispatch:" not in e or "\n    Default:" in e)


if __name__ == "__main__":
    print(*lines(Path(sys.argv[1])), sep="\n")

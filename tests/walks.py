"""The functions that a call passes: recorded, and written to docs/walks.md by `python -m tests.walks`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs/walks.md"

HEAD = (
    "# The functions that a call passes\n\n"
    "Each list was recorded, and names every function of tenax that the call enters, once, in the order of the first "
    "entry. Functions of torch and of JAX, lowerings, comprehensions and lambdas are left out. Operations were "
    "compiled as they were called (`TENAX_SYNC_COMPILE=1`). `python -m tests.walks` writes this page, on Python 3.11; "
    "a test records the lists again and looks for the functions that [architecture.md](architecture.md) explains.\n"
)

# What is called, and how.
WALKS = (
    ("`torch.add(x, y)`", "torch.add(x, y)"),
    ("`x[1:3] = 0`", "fill()"),
    ("`tenax.jit(step)`", "step(x)"),
    ('`torch.compile(model, backend="tenax")`', "compiled(x)"),
)

RECORD = """
import sys, torch, tenax

root = tenax.__path__[0] + "/"
x, y = torch.ones(5, 3, device="jax"), torch.ones(5, 3, device="jax")
model = torch.nn.Linear(3, 2).to("jax")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def fill():
    x[1:3] = 0


@tenax.jit
def step(x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


compiled = torch.compile(model, backend="tenax")
entered = {}


def note(frame, event, argument):
    path, name = frame.f_code.co_filename, frame.f_code.co_qualname
    fast = path.startswith("<tenax dispatch")
    if event == "call" and (fast or path.startswith(root)) and not name.rpartition(".")[2].startswith("<"):
        place = "fast path" if fast else path.removeprefix(root)
        if not place.startswith(("kernels/", "words.py", "autoload/")):
            entered.setdefault((place, "kernel" if fast else name.replace("<locals>.", "")))


def record(times):
    entered.clear()
    for _ in range(times - 1):
        CALL
    sys.setprofile(note)
    try:
        CALL
    finally:
        sys.setprofile(None)
    for place, name in entered:
        print(place, name)


record(1)
print("later")
record(3)
"""


def record(call: str) -> list[list[str]]:
    """The functions that the first and a later call enter, as `file function`, in a process of its own."""
    # Nothing of the caller's changes a list, nor what an earlier process compiled.
    environment = {"PYTHONHASHSEED": "0", "PATH": "", "TENAX_CACHE": "0", "TENAX_SYNC_COMPILE": "1"}
    code = RECORD.replace("CALL", call)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return [part.strip().splitlines() for part in run.stdout.split("later\n")]


def walks_of(text: str) -> list[tuple[str, str]]:
    """The functions that a page names, as (file, qualified name)."""
    lines = re.findall(r"^\d+\. `([^`]+)`: (.*)$", text, re.M)
    return [(place, name) for place, names in lines for name in re.findall(r"`([^`]+)`", names)]


def section(title: str, lines: list[str]) -> str:
    """A part of the page: the functions of consecutive entries into one file stand on one line."""
    groups: list[tuple[str, list[str]]] = []
    for line in lines:
        place, _, name = line.rpartition(" ")
        if not groups or groups[-1][0] != place:
            groups.append((place, []))
        groups[-1][1].append(name)
    entries = [
        f"{i}. `{place}`: {', '.join(f'`{name}`' for name in names)}" for i, (place, names) in enumerate(groups, 1)
    ]
    return f"\n## {title}\n\n" + "\n".join(entries) + "\n"


def page() -> str:
    """The text of the page."""
    text = HEAD
    for title, call in WALKS:
        first, later = record(call)
        text += section(f"{title}, first call", first) + section(f"{title}, later calls", later)
    return text


if __name__ == "__main__":
    PAGE.write_text(page())

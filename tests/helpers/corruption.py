"""Loads corrupt checkpoints, in a process of its own.

Orbax abandons the reads beside one that fails, and what they leave would
be reported at any later time, during another test.
"""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from tenax import checkpoint


def saved_linear(folder: Path) -> nn.Module:
    module = nn.Linear(40, 40).to("jax")
    checkpoint.save(folder, {"module": module, "rate": 0.25})
    return module


def corruption(folder: Path, state: dict[str, Any]) -> str:
    """What `load` says of a corrupt checkpoint; the empty string if it loads."""
    message = ""
    try:
        assert checkpoint.load(folder, state)["rate"] == 0.25
    except RuntimeError as error:
        message = str(error)
    assert not message or f"{folder}: corrupt checkpoint" in message
    return message


def changed(folder: Path) -> None:
    """A flipped bit anywhere is noticed, and then nothing is loaded, or it changes no value."""
    module = saved_linear(folder)
    weight, noticed = module.weight.detach().clone(), 0
    for file in [f for f in folder.rglob("*") if f.is_file() and f.stat().st_size]:
        content = file.read_bytes()
        for place in (0, len(content) // 2, len(content) - 1):
            file.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
            with torch.no_grad():
                module.weight.zero_()
            if corruption(folder, {"module": module}):
                assert not module.weight.any(), file
                noticed += 1
            else:
                assert torch.equal(module.weight, weight), file
        file.write_bytes(content)
    assert noticed > 3


def truncated(folder: Path) -> None:
    module = saved_linear(folder)
    largest = max((f for f in folder.rglob("*") if f.is_file()), key=lambda f: f.stat().st_size)
    largest.write_bytes(largest.read_bytes()[: largest.stat().st_size // 2])
    assert corruption(folder, {"module": module})

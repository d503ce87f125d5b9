"""The example of docs/distributed.md: a Llama that trains on a mesh, resumes on a smaller one, and generates."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.helpers.agreement import close

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "fsdp_llama.py"


def test_the_example_learns_resumes_on_fewer_devices_and_generates() -> None:
    command = [sys.executable, EXAMPLE, "--steps", "12", "--bytes", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    losses = [
        *map(float, re.findall(r"on 8 devices: loss (\d+\.\d+)", done.stdout)),
        *map(float, re.findall(r"on 4 devices: loss (\d+\.\d+)", done.stdout)),
    ]
    before, on_eight, on_four = losses[:6], losses[6:12], losses[12:]
    assert len(on_four) == 6
    assert before[0] > 5  # chance is log 256
    assert max(on_eight) < before[2]
    assert on_eight[-1] < 0.65 * before[0]
    assert len(on_four) == len(on_eight)
    assert all(abs(a - b) < 2e-3 for a, b in zip(on_four, on_eight, strict=True))  # as printed
    # Weights are gathered where they are used, and sums of tensor parallelism reduced.
    assert re.search(r"all-gather +\d+ times.* in model\.layers\.\d", done.stdout)
    assert re.search(r"all-reduce +\d+ times.* in model\.layers\.\d", done.stdout)
    assert "lies by P('data', 'model') on {'data': 2, 'model': 2}" in done.stdout
    assert done.stdout.count("'The following ") + done.stdout.count('"The following ') == 4


def test_its_cache_of_keys_gives_the_logits_of_the_whole_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("fsdp_llama", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fsdp_llama", example)  # where its dataclass looks for annotations
    spec.loader.exec_module(example)
    torch.manual_seed(0)
    config = example.Config()
    model = example.Llama(config)
    tokens = torch.randint(256, (2, 7))
    shape = 2, config.kv_heads, config.length, config.width // config.heads
    cache = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(config.layers)]
    with torch.no_grad():
        parts = [model(tokens[:, a:b], torch.arange(a, b), cache) for a, b in ((0, 4), (4, 5), (5, 6), (6, 7))]
        close(torch.cat(parts, dim=1), model(tokens, torch.arange(7)))

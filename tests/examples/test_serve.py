"""The example of a server: slots are refilled while others decode, and each request gets the tokens of the CPU."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import torch

import tenax

PATH = Path(__file__).parents[2] / "examples" / "serve.py"


def test_requests_of_different_lengths_get_the_same_tokens_from_one_compiled_step() -> None:
    spec = importlib.util.spec_from_file_location("serve_example", PATH)
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)

    sys.modules["serve_example"] = example  # dataclasses look it up
    try:
        spec.loader.exec_module(example)
        config = example.Config(vocabulary=32, width=16, hidden=32, layers=1, heads=2, kv_heads=1, slots=2, length=32)
        answers = []
        for device in ("cpu", "jax"):
            torch.manual_seed(0)
            model = example.Llama(config).to(device).eval()
            step = tenax.jit(model) if device == "jax" else model
            requests = example.arrivals(config, 4)
            with torch.no_grad():
                assert example.serve(step, requests, config, device) > 0
            assert [len(r.answer) for r in requests] == [r.wanted for r in requests]
            answers.append([r.answer for r in requests])
        assert answers[0] == answers[1]
        assert "traced once, 1 program" in str(tenax.explain(step))
    finally:
        del sys.modules["serve_example"]

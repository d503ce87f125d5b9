"""The profiler of PyTorch/XLA: recordings of this process, and servers."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
import torch

import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.debug.profiler as xp
from tenax.compat.torch_xla.utils.utils import get_free_tcp_ports

pytestmark = pytest.mark.slow


def test_a_profile_is_one_of_this_process(tmp_path: Path) -> None:
    port = get_free_tcp_ports()[0]
    server = xp.start_server(port)
    assert server is not None
    xp.trace(f"localhost:{port}", str(tmp_path), duration_ms=10)
    assert [*tmp_path.rglob("*.pb")]
    with pytest.raises(NotImplementedError, match=r"'elsewhere:1' is no server of this process"):
        xp.trace("elsewhere:1", str(tmp_path))


def test_a_profile_server_ends_with_its_last_reference(tmp_path: Path) -> None:
    first, second = get_free_tcp_ports(2)
    server = xp.start_server(first)
    assert server is not None
    assert xp.start_server(first) is server
    with pytest.raises(ValueError, match=rf"this process has a server at port {first}; expected one server at a time"):
        xp.start_server(second)
    tracer = threading.Thread(target=xp.trace, args=(f"localhost:{first}", str(tmp_path)))
    tracer.start()
    time.sleep(0.5)
    del server
    assert [*tmp_path.rglob("*.xplane.pb")], "the server was dropped before its recording was written"
    tracer.join()
    with pytest.raises(NotImplementedError, match="is no server of this process"):
        xp.trace(f"localhost:{first}", str(tmp_path))
    assert xp.start_server(second) is not None


def test_a_process_may_end_while_a_thread_writes_a_profile(tmp_path: Path) -> None:
    program = """
        import sys, threading, time
        import torch
        import tenax.compat.torch_xla.debug.profiler as xp

        xp.start_trace(sys.argv[1])
        import torch._dynamo  # thousands of Python calls, which take a while to write
        threading.Thread(target=xp.stop_trace, daemon=True).start()
        time.sleep(0.05)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert [*tmp_path.rglob("*.xplane.pb")]


def test_a_profile_has_the_names_of_traces_and_ends_their_steps(tmp_path: Path) -> None:
    seen: list[float] = []
    xp.start_trace(str(tmp_path))
    for step in range(2):
        with xp.StepTrace("train_mnist", step_num=step):
            with xp.Trace("build_graph"):
                x = torch.full((3,), float(step), device="jax").sum()
            xm.add_step_closure(lambda x: seen.append(x.item()), args=(x,))
        assert len(seen) == step + 1  # the end of a StepTrace is that of a step
    xm.add_step_closure(seen.append, args=(7.0,))
    with pytest.raises(ValueError, match="of the step"), xp.StepTrace("failed"):
        raise ValueError("of the step")
    assert seen == [0.0, 3.0]  # a step that failed has not ended
    xp.trace_me("named")(xm.mark_step)()
    xp.stop_trace()
    (file,) = (tmp_path / "plugins" / "profile").glob("*/*.xplane.pb")
    recorded = file.read_bytes()
    assert all(name in recorded for name in (b"train_mnist", b"build_graph", b"named"))

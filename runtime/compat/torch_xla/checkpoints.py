"""`torch_xla.experimental.distributed_checkpoint`: checkpoints of programs over a mesh, with those of torch.

A program of one process holds all parts of its tensors, so torch's own planners write and read them as a whole.
"""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import jax
import torch
from jax.experimental import multihost_utils
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from ..._torch import NAME, pytree
from ...trace.transfer import read
from .replicas import current
from .transfers import mapped


def prime_optimizer(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """Create the state of an optimizer by a step with zero gradients, so that a checkpoint can be loaded into it."""
    before = [(group, dict(group)) for group in optimizer.param_groups]
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    gradients = [p.grad for p in parameters]
    for group, _ in before:  # with a learning rate of 0 no parameter changes
        group["lr"] = torch.zeros_like(group["lr"]) if isinstance(group["lr"], torch.Tensor) else 0.0
    for p in parameters:
        p.grad = torch.zeros_like(p)
    optimizer.step()
    for p, grad in zip(parameters, gradients, strict=True):
        p.grad = grad
    for group, values in before:
        group["lr"] = values["lr"]
    return optimizer


def _refuse_parts(state: Any) -> None:
    """Raise NotImplementedError if another process has a part of a tensor."""
    for x in pytree.tree_leaves(state):
        if isinstance(x, torch.Tensor) and x.device.type == NAME and not read(x).is_fully_addressable:
            raise NotImplementedError(
                "torch_xla.experimental.distributed_checkpoint: a tensor with parts in other processes; expected "
                "tenax.checkpoint.save(path, state) and load(path, state), by which each process writes its parts"
            )


class _OfOneProcess:
    state_dict: Any

    def __init__(self) -> None:
        super().__init__()

    def create_local_plan(self) -> Any:
        """What to save or load.

        Raises:
            NotImplementedError: another process has a part of a tensor.
        """
        _refuse_parts(self.state_dict)
        return super().create_local_plan()  # type: ignore[misc]


class SPMDSavePlanner(_OfOneProcess, DefaultSavePlanner):
    """Saves tensors by `torch.distributed.checkpoint`; each as a whole, whatever its sharding."""


class SPMDLoadPlanner(_OfOneProcess, DefaultLoadPlanner):
    """Loads tensors by `torch.distributed.checkpoint`, in place; they keep their shardings."""


class CheckpointManager:
    """Checkpoints of the steps of a program, each in a folder with the number of the step."""

    def __init__(
        self,
        path: str,
        save_interval: int,
        max_to_keep: int | None = 0,
        max_pending_async: int | None = 1,
        num_of_threads: int | None = 1,
        process_group: Any = None,
        chkpt_on_preemption: bool = True,
    ) -> None:
        """Find the checkpoints in a folder, which is created.

        Args:
            path: the folder, on a file system of this host.
            save_interval: the number of steps from one checkpoint to the next.
            max_to_keep: the number of checkpoints after which the oldest is deleted; 0 keeps all.
            max_pending_async: the number of checkpoints of `save_async` that are being written, after which it waits.
            num_of_threads: the number of threads that write a checkpoint.
            process_group: the ranks that save together; by default all.
            chkpt_on_preemption: also save when JAX's distributed service, if it runs, has been notified that the
                program will be ended.

        Raises:
            ValueError: a number is out of range.
            NotImplementedError: the path is a URL.
        """
        kept, pending = max_to_keep or 0, 1 if max_pending_async is None else max_pending_async
        if save_interval < 1 or kept < 0 or pending < 1:
            raise ValueError(
                f"CheckpointManager: save_interval={save_interval}, max_to_keep={kept}, max_pending_async={pending}; "
                "expected at least 1, 0 and 1"
            )
        if "://" in str(path):
            raise NotImplementedError(f"CheckpointManager: {path}; expected a folder, such as one of a mounted bucket")
        self.base_path, self.save_interval, self.max_to_keep = Path(path), save_interval, kept
        self.chkpt_on_preemption, self._threads, self._group = chkpt_on_preemption, num_of_threads or 1, process_group
        self._worker = ThreadPoolExecutor(1, "CheckpointManager")
        self._free = threading.Semaphore(pending)
        self._pending: list[Future[None]] = []
        self.base_path.mkdir(parents=True, exist_ok=True)
        complete = [p.parent for p in self.base_path.glob("*/.metadata") if p.parent.name.isdecimal()]
        self._steps = [int(p.name) for p in sorted(complete, key=lambda p: (p / ".metadata").stat().st_mtime)]

    def all_steps(self) -> list[int]:
        """The steps of which there is a checkpoint, oldest first."""
        return sorted(self._steps)

    def should_save(self, step: int) -> bool:
        """Whether `save` would write a checkpoint of a step."""
        return step % self.save_interval == 0 or (self.chkpt_on_preemption and self.reached_preemption(step))

    def reached_preemption(self, step: int) -> bool:
        """Whether JAX's distributed service has been notified that the program will be ended."""
        return jax.distributed.is_initialized() and multihost_utils.reached_preemption_sync_point(step)

    def save(self, step: int, state_dict: dict[str, Any], force: bool | None = False) -> bool:
        """Write a checkpoint if it is due, or with `force`; return whether it was written."""
        if not (force or self.should_save(step)):
            return False
        self.join()
        self._write(step, state_dict)
        return True

    def save_async(self, step: int, state_dict: dict[str, Any], force: bool | None = False) -> bool:
        """As `save`, but the checkpoint is written in the background, from a copy of the state on the CPU.

        Raises:
            Exception: an earlier checkpoint could not be written.
        """
        if not (force or self.should_save(step)):
            return False
        self._raise_failed()
        _refuse_parts(state_dict)
        copied = mapped(state_dict, lambda x: x.detach().to("cpu", copy=True))
        self._free.acquire()
        written = self._worker.submit(self._write, step, copied)
        written.add_done_callback(lambda _: self._free.release())
        self._pending.append(written)
        return True

    def join(self) -> None:
        """Wait until all checkpoints are written.

        Raises:
            Exception: one could not be written.
        """
        wait(self._pending)
        self._raise_failed()

    def restore(self, step: int, state_dict: dict[str, Any]) -> None:
        """Load the checkpoint of a step into the tensors of a state, which keep their shardings.

        Raises:
            ValueError: there is no checkpoint of the step.
        """
        if step not in self._steps:
            raise ValueError(f"CheckpointManager.restore: step {step}; expected one of {self.all_steps()}")
        reader = FileSystemReader(self._folder(step))
        load(state_dict, storage_reader=reader, planner=SPMDLoadPlanner(), process_group=self._group)

    def _raise_failed(self) -> None:
        done, self._pending = self._pending, [f for f in self._pending if not f.done()]
        for written in done:
            if written.done():
                written.result()

    def _folder(self, step: int) -> Path:
        return self.base_path / str(step)

    def _delete(self, step: int) -> None:
        if current().rank == 0:
            shutil.rmtree(self._folder(step), ignore_errors=True)

    def _write(self, step: int, state_dict: dict[str, Any]) -> None:
        self._delete(step)
        writer = FileSystemWriter(self._folder(step), thread_count=self._threads)
        save(state_dict, storage_writer=writer, planner=SPMDSavePlanner(), process_group=self._group)
        self._steps = [*(s for s in self._steps if s != step), step]
        while 0 < self.max_to_keep < len(self._steps):
            self._delete(self._steps.pop(0))

"""The replicas of a program's collectives: this process alone, its threads, or several processes.

`torch_xla.distributed.data_parallel` runs a thread per device, `xmp.spawn` and `torchrun` a process. `current()`
returns the replica of this thread. Collectives are functions of a tensor that return a new one; `groups` lists the
ordinals of each group, None for a single group of all.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..._torch import NAME
from ...device.torch_jax import set_device
from . import process

Tensor = torch.Tensor
Groups = Sequence[Sequence[int]] | None

REDUCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": torch.add,
    "mul": torch.mul,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "min": torch.minimum,
    "max": torch.maximum,
}
_OPERATIONS = {"sum": "SUM", "mul": "PRODUCT", "and": "BAND", "or": "BOR", "min": "MIN", "max": "MAX"}


def check_reduction(kind: str) -> None:
    """Raise ValueError for a reduction that does not exist."""
    if kind not in REDUCTIONS:
        raise ValueError(f"all_reduce: reduce_type {kind!r}; expected one of {', '.join(REDUCTIONS)}")


class Replicas:
    """A single replica; subclasses override the exchange of values."""

    rank = 0
    size = 1
    local_rank = 0

    def members(self, groups: Groups) -> list[int]:
        """The ordinals of this replica's group."""
        if not groups:
            return list(range(self.size))
        found = [list(group) for group in groups if self.rank in group]
        if len(found) != 1:
            raise ValueError(f"groups {groups!r} have ordinal {self.rank} {len(found)} times; expected once")
        return found[0]

    def objects(self, value: Any, ordinals: Sequence[int] = ()) -> list[Any]:
        """The values that the replicas passed, or those of some ordinals, which alone make the call; a barrier."""
        return [value]

    def gathered(self, tensor: Tensor, groups: Groups = None) -> list[Tensor]:
        """The tensors of the group, on the device of this replica."""
        self.members(groups)
        return [tensor.clone()]

    def reduced(self, kind: str, tensors: Sequence[Tensor], groups: Groups = None) -> list[Tensor]:
        """The reduction of each tensor over the group."""
        check_reduction(kind)
        results = []
        for tensor in tensors:
            first, *others = self.gathered(tensor, groups)
            for other in others:
                first = REDUCTIONS[kind](first, other)
            results.append(first)
        return results

    def scattered(self, kind: str, tensor: Tensor, groups: Groups = None) -> Tensor:
        """This replica's part, along dimension 0, of the reduction."""
        members = self.members(groups)
        return self.reduced(kind, [tensor], groups)[0].chunk(len(members))[members.index(self.rank)].clone()

    def exchanged(self, tensor: Tensor, groups: Groups = None) -> Tensor:
        """Exchange parts along dimension 0: the i-th part of each replica goes to the i-th of the group."""
        members = self.members(groups)
        place = members.index(self.rank)
        return torch.cat([x.chunk(len(members))[place] for x in self.gathered(tensor, groups)])

    def permuted(self, tensor: Tensor, pairs: Sequence[Sequence[int]]) -> Tensor:
        """The tensor of this replica's source, or zeros if it is not the target of any pair (source, target)."""
        gathered = self.gathered(tensor)
        sources = [source for source, target in pairs if target == self.rank]
        return gathered[sources[0]] if sources else torch.zeros_like(tensor)


class ThreadGroup:
    """A barrier at which the threads of `DataParallel` exchange values."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._arrived: dict[int, Any] = {}
        self._complete: list[Any] = []  # of the last round
        self._rounds = 0
        self._changed = threading.Condition()
        self._parts: dict[tuple[int, ...], ThreadGroup] = {}
        self._gone: set[int] = set()

    def part(self, ranks: tuple[int, ...]) -> ThreadGroup:
        """The group of some of the threads, whose ranks in it are their places in `ranks`."""
        with self._changed:
            part = self._parts.setdefault(ranks, ThreadGroup(len(ranks)))
            gone = [place for place, rank in enumerate(ranks) if rank in self._gone]
        for place in gone:
            part.end(place)
        return part

    def exchange(self, rank: int, value: Any) -> list[Any]:
        """The values that the threads passed, by rank.

        Raises:
            RuntimeError: another thread has ended and will not arrive.
        """
        with self._changed:
            own = self._rounds
            self._arrived[rank] = value
            if len(self._arrived) == self.size:
                self._complete = [self._arrived[i] for i in range(self.size)]
                self._arrived = {}
                self._rounds += 1
                self._changed.notify_all()
            self._changed.wait_for(lambda: self._rounds != own or self._gone)
            if self._rounds == own:
                raise RuntimeError(
                    f"a collective of replica {rank}: another replica of the {self.size} has returned or raised; "
                    "expected that each of them makes the same calls"
                )
            return self._complete

    def end(self, rank: int) -> None:
        """Record that a thread has ended, so that the others do not wait for it."""
        with self._changed:
            self._gone.add(rank)
            self._changed.notify_all()
            parts = [(part, ranks.index(rank)) for ranks, part in self._parts.items() if rank in ranks]
        for part, place in parts:
            part.end(place)


class ThreadReplicas(Replicas):
    """A thread of `DataParallel`, with its own device."""

    def __init__(self, rank: int, device: torch.device, group: ThreadGroup) -> None:
        self.rank = self.local_rank = rank
        self.size, self.device, self.group = group.size, device, group

    def objects(self, value: Any, ordinals: Sequence[int] = ()) -> list[Any]:
        if not ordinals:
            return list(self.group.exchange(self.rank, value))
        return list(self.group.part(tuple(ordinals)).exchange(ordinals.index(self.rank), value))

    def gathered(self, tensor: Tensor, groups: Groups = None) -> list[Tensor]:
        met = self.group.exchange(self.rank, tensor.detach().clone())  # the clone is not affected by later writes
        return [met[i].to(tensor.device, copy=True) for i in self.members(groups)]


def run_threads(devices: Sequence[torch.device], name: str, call: Callable[[int], None]) -> None:
    """Call a function in a thread for each device. The threads are the replicas of collectives.

    Args:
        devices: those of type "jax".
        name: the name of the threads, before their ranks.
        call: takes the rank of the thread.

    Raises:
        Exception: the first exception of a thread.
    """
    group, errors = ThreadGroup(len(devices)), []

    def run(rank: int) -> None:
        set_device(devices[rank])
        join(ThreadReplicas(rank, devices[rank], group))
        try:
            call(rank)
        except BaseException as error:  # re-raised by the caller
            errors.append(error)
        finally:
            group.end(rank)

    threads = [threading.Thread(target=run, args=(i,), name=f"{name} {i}") for i in range(group.size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class ProcessReplicas(Replicas):
    """A rank of the default group of `torch.distributed`."""

    def __init__(self, dist: Any) -> None:
        self.dist = dist
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.local_rank = int(os.environ.get("LOCAL_RANK", self.rank))
        self._groups: dict[Any, Any] = {}

    def _group(self, groups: Groups) -> Any:
        members = self.members(groups)
        if len(members) == self.size:
            return None
        key = tuple(map(tuple, groups or ()))
        if key not in self._groups:  # every rank gets here with the same groups
            made = [self.dist.new_group(list(ranks), timeout=process.TIMEOUT) for ranks in key]
            self._groups[key] = next(group for ranks, group in zip(key, made, strict=True) if self.rank in ranks)
        return self._groups[key]

    def group_name(self, groups: Groups) -> str:
        """The name of this rank's group, for functional collectives."""
        return str((self._group(groups) or self.dist.group.WORLD).group_name)

    def _part(self, ordinals: Sequence[int]) -> Any:
        """The group of some ordinals, of which only these make a call."""
        key = tuple(sorted(ordinals))
        if key not in self._groups:
            self._groups[key] = self.dist.new_group(list(key), timeout=process.TIMEOUT, use_local_synchronization=True)
        return self._groups[key]

    def objects(self, value: Any, ordinals: Sequence[int] = ()) -> list[Any]:
        if ordinals and len(ordinals) < self.size:
            found: list[Any] = [None] * len(ordinals)
            self.dist.all_gather_object(found, value, group=self._part(ordinals))
            return [found[sorted(ordinals).index(i)] for i in ordinals]
        mine = torch.frombuffer(bytearray(pickle.dumps(value)), dtype=torch.uint8)
        sizes = self.gathered(torch.tensor([mine.numel()], device=NAME))  # whose errors name the rank that is missing
        padded = torch.nn.functional.pad(mine, (0, max(map(int, sizes)) - mine.numel())).to(NAME)
        return [
            pickle.loads(x.cpu().numpy()[: int(n)].tobytes()) for x, n in zip(self.gathered(padded), sizes, strict=True)
        ]

    def gathered(self, tensor: Tensor, groups: Groups = None) -> list[Tensor]:
        tensor = tensor.detach().contiguous()
        parts = [torch.empty_like(tensor) for _ in self.members(groups)]
        self.dist.all_gather(parts, tensor, group=self._group(groups))
        return parts

    def reduced(self, kind: str, tensors: Sequence[Tensor], groups: Groups = None) -> list[Tensor]:
        check_reduction(kind)
        results = [x.detach().clone(memory_format=torch.contiguous_format) for x in tensors]
        if results:  # one program for all of them
            options = self.dist.AllreduceCoalescedOptions()
            options.reduceOp = getattr(self.dist.ReduceOp, _OPERATIONS[kind])
            (self._group(groups) or self.dist.group.WORLD).allreduce_coalesced(results, options).wait()
        return results

    def scattered(self, kind: str, tensor: Tensor, groups: Groups = None) -> Tensor:
        check_reduction(kind)
        length = tensor.shape[0] // len(self.members(groups))
        result = tensor.new_empty((length, *tensor.shape[1:]))
        operation = getattr(self.dist.ReduceOp, _OPERATIONS[kind])
        self.dist.reduce_scatter_single(result, tensor.detach().contiguous(), op=operation, group=self._group(groups))
        return result

    def exchanged(self, tensor: Tensor, groups: Groups = None) -> Tensor:
        result = torch.empty_like(tensor, memory_format=torch.contiguous_format)
        self.dist.all_to_all_single(result, tensor.detach().contiguous(), group=self._group(groups))
        return result


class _Thread(threading.local):
    replicas: Replicas | None = None


_thread = _Thread()
_alone = Replicas()
_processes: list[tuple[Any, ProcessReplicas]] = []  # of the current default group


has_threads = False  # whether a thread of DataParallel has joined; compiled functions check it before each call


def join(replicas: Replicas | None) -> None:
    """Set the replica of this thread."""
    global has_threads
    has_threads = has_threads or replicas is not None
    _thread.replicas = replicas


def place() -> Any:
    """The `rank`, `size` and `local_rank` of this replica; unlike `current`, creates no process group."""
    return current() if _thread.replicas is not None else process.spawned() or current()


def current() -> Replicas:
    """The replica of this thread."""
    if _thread.replicas is not None:
        return _thread.replicas
    dist = process.group()
    if dist is None:
        return _alone
    if not _processes or _processes[0][0] is not dist.group.WORLD:
        _processes[:] = [(dist.group.WORLD, ProcessReplicas(dist))]
    return _processes[0][1]

"""`xm.send` and `xm.recv`: a tensor goes through a numbered channel, which one replica writes and another one reads.

A sender does not know the receiver. The receiver announces itself in the store of the process group, for which a thread
of the sender waits, so that replicas may send to each other in any order. Threads of `DataParallel` share a queue.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import torch

from ..._torch.distributed import default_store
from . import process
from .replicas import ProcessReplicas, Replicas, ThreadReplicas, current

Tensor = torch.Tensor

_TAGS = 1 << 24  # from here on, apart from the tags of a program
_sent: defaultdict[int, Iterator[int]] = defaultdict(itertools.count)
_received: defaultdict[int, Iterator[int]] = defaultdict(itertools.count)
_failed: queue.SimpleQueue[Exception] = queue.SimpleQueue()


def _among_others(name: str, channel_id: int) -> Replicas:
    if torch.compiler.is_dynamo_compiling():
        raise NotImplementedError(f"xm.{name}: in torch.compile; expected a call outside of the compiled function")
    replicas = current()
    if replicas.size == 1:
        raise RuntimeError(f"xm.{name}: channel {channel_id} of a single replica; expected another one at its end")
    if not _failed.empty():
        raise _failed.get()
    return replicas


def send(value: Tensor, channel_id: int) -> Tensor:
    """Send a tensor to the replica that calls `recv` with the same channel.

    Args:
        value: the tensor, whose present values are sent.
        channel_id: the number of a channel, which has one sender and one receiver; tensors arrive in order.

    Returns:
        The tensor.

    Raises:
        RuntimeError: there is no other replica, or an earlier tensor was not received in time.
    """
    replicas = _among_others("send", channel_id)
    copy = value.detach().clone(memory_format=torch.contiguous_format)
    if isinstance(replicas, ThreadReplicas):
        replicas.group.channels[channel_id].put(copy)
        return value
    assert isinstance(replicas, ProcessReplicas)
    number = next(_sent[channel_id])
    threading.Thread(target=_deliver, args=(replicas, copy, channel_id, number), name=f"xm.send {channel_id}").start()
    return value


def _key(channel_id: int, number: int) -> str:
    return f"torch_xla channel {channel_id}/{number}"


def _deliver(replicas: ProcessReplicas, tensor: Tensor, channel_id: int, number: int) -> None:
    key = _key(channel_id, number)
    try:
        store = default_store().clone()
        store.wait([key], process.TIMEOUT)
        receiver = int(store.get(key))
        replicas.dist.send(tensor, receiver, tag=_TAGS + channel_id)
    except Exception as error:
        failure = RuntimeError(
            f"xm.send: nobody received tensor {number} of channel {channel_id} within "
            f"{process.TIMEOUT.total_seconds():g} s: {error}"
        )
        failure.__cause__ = error
        _failed.put(failure)


def recv(output: Tensor, channel_id: int) -> Tensor:
    """Receive a tensor from the replica that calls `send` with the same channel.

    Args:
        output: a tensor of the shape and dtype of the one that is sent; it is overwritten.
        channel_id: the number of a channel; see `send`.

    Returns:
        `output`.

    Raises:
        RuntimeError: there is no other replica, or nothing arrived within `TENAX_XLA_TIMEOUT` seconds.
    """
    replicas = _among_others("recv", channel_id)
    if isinstance(replicas, ThreadReplicas):
        try:
            sent = replicas.group.channels[channel_id].get(timeout=process.TIMEOUT.total_seconds())
        except queue.Empty:
            raise RuntimeError(f"xm.recv: nothing arrived in channel {channel_id}") from None
        if sent.shape != output.shape or sent.dtype != output.dtype:
            raise RuntimeError(
                f"xm.recv: {sent.dtype}{[*sent.shape]} in channel {channel_id}; expected "
                f"{output.dtype}{[*output.shape]}"
            )
        with torch.no_grad():
            return output.copy_(sent)
    assert isinstance(replicas, ProcessReplicas)
    default_store().set(_key(channel_id, next(_received[channel_id])), str(replicas.rank))
    with torch.no_grad():
        received: Any = torch.empty_like(output, memory_format=torch.contiguous_format)
        replicas.dist.recv(received, tag=_TAGS + channel_id)
        return output.copy_(received)

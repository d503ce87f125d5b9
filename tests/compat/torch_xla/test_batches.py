"""Trees of tensors that PyTorch/XLA's loaders and `xm.save` accept: containers, and objects with attributes."""

from __future__ import annotations

import collections
import dataclasses
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence
from transformers import BatchEncoding

import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.distributed.parallel_loader as pl
import tenax.compat.torch_xla.distributed.spmd as xs

device = xm.xla_device()


class Item:
    """An object that holds tensors in a container, and refers to itself."""

    def __init__(self, x: torch.Tensor) -> None:
        self.x, self.nested, self.name = x, {"y": [x + 1]}, "item"
        self.itself = self


@dataclasses.dataclass(frozen=True)
class Record:
    """A frozen record."""

    x: torch.Tensor
    n: int = 0


class Items(list[torch.Tensor]):
    """A subclass of list, with an attribute."""

    label = torch.zeros(0)


Point = collections.namedtuple("Point", ["x"])


class Pair(Point):
    """A subclass of a named tuple."""


def labelled(x: torch.Tensor) -> Items:
    batch = Items([x])
    batch.label = x + 1
    return batch


TREES: dict[str, tuple[Callable[[torch.Tensor], Any], Callable[[Any], list[torch.Tensor]]]] = {
    "encoding": (lambda x: BatchEncoding({"x": x}), lambda b: [b["x"]]),
    "object": (Item, lambda b: [b.x, *b.nested["y"]]),
    "dataclass": (Record, lambda b: [b.x]),
    "set": (lambda x: {x}, list),
    "list": (labelled, lambda b: [*b, b.label]),
    "named tuple": (Pair, lambda b: [b.x]),
    "keys of several types": (lambda x: {0: x, "a": (x, None)}, lambda b: [b[0], b["a"][0]]),
    "packed": (lambda x: pack_padded_sequence(x.view(2, 2, 1), torch.tensor([2, 1])), lambda b: [b.data]),
}


@pytest.mark.parametrize(("made", "tensors"), TREES.values(), ids=TREES)
def test_a_loader_moves_the_tensors_of_objects(made: Any, tensors: Any) -> None:
    rows = torch.arange(8.0)
    loader = torch.utils.data.DataLoader(rows, 4, collate_fn=lambda items: made(torch.stack(items)))
    for i, batch in enumerate(pl.MpDeviceLoader(loader, device)):
        expected = made(rows[4 * i : 4 * i + 4])
        assert type(batch) is type(expected)
        for found, one in zip(tensors(batch), tensors(expected), strict=True):
            assert found.device == device and torch.equal(found.cpu(), one)


def test_objects_keep_what_is_no_tensor() -> None:
    item, layer = Item(torch.ones(2)), torch.nn.Linear(1, 1)
    ((moved, same, words),) = xm.send_cpu_data_to_device([(item, layer, ["a", {"b"}])], device)
    assert moved.name == "item" and item.x.device.type == "cpu" and moved.itself is item
    assert same is layer and layer.weight.device.type == "cpu" and words == ["a", {"b"}]
    (one,) = xm.send_cpu_data_to_device(torch.ones(3, 2), device)
    assert one.shape == (3, 2)


def test_objects_are_saved_with_tensors_on_the_cpu() -> None:
    file = io.BytesIO()
    xm.save({"record": Record(torch.ones(2, device=device), 3)}, file)
    file.seek(0)
    record = torch.load(file, weights_only=False)["record"]
    assert record.x.device.type == "cpu" and record.n == 3


def test_a_share_of_a_batch_is_sharded() -> None:
    spec = xs.ShardingSpec(xs.get_1d_mesh("data"), ("data", None), minibatch=True)
    (batch,) = pl.MpDeviceLoader([torch.arange(32.0).reshape(16, 2)], device, input_sharding=spec)
    assert batch.sharding_spec == "{devices=[8,1]0,1,2,3,4,5,6,7}" and batch[3].tolist() == [6, 7]


def test_sharding_of_inputs_by_name_needs_batches_with_these_names() -> None:
    with pytest.raises(KeyError, match=r"input_sharding names \['y'\], which the batch lacks; it has \['x'\]"):
        xm.send_cpu_data_to_device([{"x": torch.ones(1)}], device, {"y": None})
    batch = {"x": torch.ones(1), "y": torch.ones(1)}
    with pytest.raises(
        KeyError, match=r"input_sharding lacks \['y'\] of the batch; expected a ShardingSpec or None for"
    ):
        xm.send_cpu_data_to_device([batch], device, {"x": None})
    with pytest.raises(KeyError, match=r"input_sharding lacks \['y'\] of the batch"):
        next(iter(pl.MpDeviceLoader([batch], device, input_sharding={"x": None})))
    with pytest.raises(ValueError, match="a batch is of type Tensor; expected a dict"):
        xm.send_cpu_data_to_device([torch.ones(1)], device, {"x": None})

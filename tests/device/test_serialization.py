"""Copies, pickles, checkpoints, other processes."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
import textwrap

import pytest
import torch
from torch import nn

from tests.helpers.processes import run


def saved(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return buffer


def test_deepcopy_keeps_aliasing():
    x = torch.ones(3, device="jax")
    y = copy.deepcopy([x, x[1:]])
    y[1].mul_(2)
    assert y[0].tolist() == [1, 2, 2] and x.tolist() == [1, 1, 1]
    model = copy.deepcopy(nn.Linear(2, 2).to("jax"))
    assert model.weight.device.type == "jax" and isinstance(model.weight, nn.Parameter)


def test_pickle_round_trip():
    x = torch.arange(6, device="jax").reshape(2, 3).t()
    y = pickle.loads(pickle.dumps(x))
    assert y.device == x.device and y.stride() == x.stride() and torch.equal(y.cpu(), x.cpu())


def exact(t):
    return t.cpu().to(torch.complex128)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64, torch.float8_e5m2]
)
def test_save_and_load_both_ways(weights_only, dtype):
    x = torch.tensor([0, 1, 2, 3]).to(dtype).to("jax")
    tree = {"a": x, "tail": x[2:]}
    for location, device in ((None, "jax"), ("jax", "jax"), ("cpu", "cpu")):
        loaded = torch.load(saved(tree), weights_only=weights_only, map_location=location)
        assert loaded["a"].device.type == device and loaded["a"].dtype == dtype
        assert loaded["tail"].storage_offset() == 2
        assert torch.equal(exact(loaded["a"]), exact(x))
        loaded["tail"].zero_()
        assert exact(loaded["a"])[2:].tolist() == [0, 0]
    host = torch.load(saved({"a": x.cpu()}), weights_only=weights_only, map_location="jax")
    assert host["a"].device.type == "jax" and torch.equal(exact(host["a"]), exact(x))


def on_jax(storage, location):
    return storage.to(device="jax")


FORMATS = {
    "zip": {},
    "zip file": {"file": True},
    "mapped zip file": {"file": True, "mmap": True},
    "older": {"old": True},
    "older file": {"old": True, "file": True},
}
# map_location, and where tensors saved on the CPU and on the device are loaded
LOCATIONS = {
    "none": (None, "cpu", "jax:0"),
    "string": ("jax", "jax:0", "jax:0"),
    "second device": ("jax:1", "jax:1", "jax:1"),
    "device": (torch.device("jax", 0), "jax:0", "jax:0"),
    "host": ("cpu", "cpu", "cpu"),
    "dict": ({"jax:0": "cpu", "cpu": "jax"}, "jax:0", "cpu"),
    "function": (on_jax, "jax:0", "jax:0"),
    "function of none": (lambda storage, location: None, "cpu", "jax:0"),
}


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("source", ["cpu", "jax"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_loads_at_every_location(form, source, location, weights_only, tmp_path):
    options = FORMATS[form]
    x = torch.arange(12.0).reshape(3, 4).to(source)
    tree = {
        "base": x,
        "view": x[1:, ::2],
        "parameter": nn.Parameter(x.t()),
        "half": torch.tensor([1.5, 2], dtype=torch.bfloat16, device=source),
        "flag": torch.tensor([True, False], device=source),
        "number": torch.tensor(7, device=source),
        "empty": torch.empty(0, 3, device=source),
        "conjugate": torch.tensor([1 + 2j], device=source).conj(),
    }
    file = tmp_path / "tensors.pt" if options.get("file") else io.BytesIO()
    torch.save(tree, file, _use_new_zipfile_serialization="old" not in options)
    if isinstance(file, io.BytesIO):
        file.seek(0)
    place, of_host, of_device = LOCATIONS[location]
    loaded = torch.load(file, map_location=place, weights_only=weights_only, mmap=options.get("mmap"))
    expected = torch.device(of_host if source == "cpu" else of_device)
    for name, value in tree.items():
        assert loaded[name].device == expected, name
        assert loaded[name].dtype == value.dtype and loaded[name].stride() == value.stride(), name
        assert torch.equal(loaded[name].cpu(), value.cpu()), name
    loaded["view"].zero_()
    assert loaded["base"][1].tolist() == [0, 5, 0, 7]


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("source", ["cpu", "jax"])
def test_loading_does_not_depend_on_the_default_device(source, old):
    x = torch.arange(3.0).to(source)
    file, pickled = io.BytesIO(), pickle.dumps(x)
    torch.save(x, file, _use_new_zipfile_serialization=not old)
    torch.set_default_device("jax")
    try:
        for location, device in ((None, source), ("jax", "jax"), ("cpu", "cpu")):
            file.seek(0)
            loaded = torch.load(file, map_location=location)
            assert loaded.device.type == device and loaded.tolist() == [0, 1, 2]
        assert pickle.loads(pickled).tolist() == [0, 1, 2]
        assert torch.UntypedStorage([1, 2], device="jax").tolist() == [1, 2]
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize("target", ["cpu", "jax", "jax:1"])
@pytest.mark.parametrize("source", ["cpu", "jax"])
def test_storages_copy_between_devices(source, target):
    a, b = torch.arange(4.0).to(source), torch.zeros(4, device=target)
    b.untyped_storage().copy_(a.untyped_storage())
    assert b.tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match=r"size does not match|size mismatch"):
        b.untyped_storage().copy_(torch.ones(9).untyped_storage())


def test_a_checkpoint_is_read_where_tenax_is_not_imported(tmp_path):
    model = nn.Linear(3, 2).to("jax")
    torch.save(model.state_dict(), tmp_path / "model.pt")
    torch.save(model.weight.detach().cpu(), tmp_path / "weight.pt")
    program = """
        import sys, torch
        assert "tenax" not in sys.modules
        state = torch.load(sys.argv[1] + "/model.pt", map_location="cpu", weights_only=True)
        assert torch.equal(state["weight"], torch.load(sys.argv[1] + "/weight.pt"))
    """
    environment = {"TENAX_AUTOLOAD": "0", "PATH": ""}
    subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(tmp_path)], check=True, env=environment)


def test_state_dict_round_trip_continues_training_alike():
    def model():
        torch.manual_seed(3)
        net = nn.Linear(3, 1).to("jax")
        return net, torch.optim.Adam(net.parameters(), lr=0.1)

    def step(net, optimizer):
        optimizer.zero_grad()
        net(torch.ones(2, 3, device="jax")).square().sum().backward()
        optimizer.step()

    a, optimizer_a = model()
    step(a, optimizer_a)
    b, optimizer_b = model()
    b.load_state_dict(torch.load(saved(a.state_dict())))
    optimizer_b.load_state_dict(torch.load(saved(optimizer_a.state_dict())))
    for net, optimizer in ((a, optimizer_a), (b, optimizer_b)):
        step(net, optimizer)
    assert torch.equal(a.weight, b.weight)


def test_data_loader_workers_feed_the_device():
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=1, multiprocessing_context="spawn")
    assert [batch.to("jax").sum().item() for (batch,) in loader] == [6, 22]


def test_a_tensor_is_not_sent_to_another_process():
    from multiprocessing.reduction import ForkingPickler

    with pytest.raises(NotImplementedError, match=r"send tensor\.cpu\(\)"):
        ForkingPickler.dumps(torch.ones(2, device="jax"))


def test_a_forked_child_gets_a_clear_error():
    program = """
        import os, sys, torch, tenax
        x = torch.ones(3, device="jax")
        if not os.fork():
            try:
                x.cpu()
            except RuntimeError as error:
                os._exit(0 if "forked subprocess" in str(error) else 1)
            os._exit(2)
        sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    run(textwrap.dedent(program))

"""The device itself: creation, placement, dtypes, the module torch.jax, protocols."""

from __future__ import annotations

import math
import operator
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

import tenax
from tenax.dtypes import TO_NUMPY
from tenax.errors import TraceError
from tenax.trace.transfer import transfers


def test_factories_take_the_device():
    for t in (
        torch.empty(2, device="jax"),
        torch.zeros(2, 3, device="jax"),
        torch.full((2,), 3, device="jax"),
        torch.arange(5, device="jax"),
        torch.tensor([1.5, 2], device="jax"),
        torch.randn(3, device="jax"),
        torch.eye(3, device="jax"),
        torch.linspace(0, 1, 5, device="jax"),
    ):
        assert t.device == torch.device("jax", 0) and t.is_jax and isinstance(t, tenax.Tensor)
    assert torch.tensor([1, 2], device="jax").dtype == torch.int64
    assert torch.arange(3, device="jax").tolist() == [0, 1, 2]


def test_default_device_and_context():
    with torch.device("jax"):
        assert torch.ones(2).is_jax and nn.Linear(2, 2).weight.is_jax
    torch.set_default_device("jax")
    try:
        assert torch.zeros(1).is_jax
    finally:
        torch.set_default_device(None)
    assert not torch.zeros(1).is_jax


@pytest.mark.parametrize("dtype", [d for d in TO_NUMPY if "int4" not in str(d)], ids=str)
def test_every_dtype_crosses_exactly(dtype):
    cpu = torch.tensor([0, 1, 2, 3, 4, 5]).to(dtype).reshape(2, 3)
    ours = cpu.to("jax")
    assert ours.dtype == dtype and ours.jax().dtype == TO_NUMPY[dtype]
    assert torch.equal(ours.cpu().to(torch.complex128), cpu.to(torch.complex128))
    assert torch.equal(ours.t().cpu().to(torch.complex128), cpu.t().to(torch.complex128))
    assert tenax.from_jax(ours.jax()).dtype == dtype


def test_dtypes_without_an_equivalent_raise():
    with pytest.raises(NotImplementedError, match="complex32"):
        torch.zeros(2, dtype=torch.complex32, device="jax")
    with pytest.raises(TypeError, match="int2"):
        tenax.from_jax(jnp.zeros(2, jnp.int2))


def test_the_users_jax_defaults_stay():
    assert jnp.arange(3).dtype == jnp.int32 and jnp.ones(2).dtype == jnp.float32
    assert torch.arange(3, device="jax").dtype == torch.int64


def test_host_memory_is_copied():
    cpu = torch.ones(4)
    ours = cpu.to("jax")
    cpu.zero_()
    assert ours.tolist() == [1, 1, 1, 1]
    back = ours.cpu()
    back.zero_()
    assert ours.tolist() == [1, 1, 1, 1]


def test_moving_modules_keeps_parameters():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    parameters = list(model.parameters())
    model.to("jax")
    assert all(p is q for p, q in zip(parameters, model.parameters(), strict=True))
    assert all(p.is_jax and type(p) is nn.Parameter for p in model.parameters())
    assert model.to("cpu")[0].weight.device.type == "cpu"


def test_a_moved_parameter_keeps_its_class_and_attributes():
    lazy = nn.LazyConv1d(5, 3)
    lazy.weight.group = "decayed"
    lazy.to("jax")
    assert type(lazy.weight) is nn.UninitializedParameter and lazy.weight.group == "decayed"
    assert lazy(torch.ones(2, 4, 6, device="jax")).shape == (2, 5, 4)
    assert type(lazy.weight) is nn.Parameter and lazy.weight.is_jax and lazy.weight.shape == (5, 4, 3)


@pytest.mark.parametrize("kind", [nn.UninitializedParameter, nn.UninitializedBuffer])
@pytest.mark.parametrize(("target", "source"), [("cpu", "jax"), ("jax", "cpu"), ("jax", "jax")])
def test_state_without_a_shape_is_loaded_between_devices(kind, target, source):
    """Lazy layers of libraries load state that is not initialized; `shape` raises there, as in torch."""
    uninitialized = kind(device=target)
    with torch.no_grad():
        uninitialized.copy_(kind(device=source))
    assert uninitialized.device.type == target and type(uninitialized) is kind


def test_a_module_moves_while_graphs_hold_its_parameters():
    model = nn.Linear(3, 3).jax()
    x, seen = torch.randn(2, 3, device="jax"), []
    model.weight.register_hook(lambda g: seen.append("hook"))
    model.weight.register_post_accumulate_grad_hook(lambda p: seen.append("late hook"))
    weight, kept, left = model.weight, model(x), model(x).sum()
    model(x).sum().backward()
    model.cpu()
    assert model.weight is weight and weight.device.type == weight.grad.device.type == "cpu"
    assert kept.device.type == "jax"
    with pytest.raises(RuntimeError, match="moved to another device after its forward"):
        left.backward()
    assert seen[:2] == ["hook", "late hook"] and "late hook" not in seen[2:]
    seen.clear()
    model(x.cpu()).sum().backward()
    assert seen == ["hook", "late hook"]


RAISING = {
    "tensor hook": lambda x, y, hook: y.register_hook(hook),
    "leaf hook": lambda x, y, hook: x.register_hook(hook),
    "late hook": lambda x, y, hook: x.register_post_accumulate_grad_hook(hook),
    "node prehook": lambda x, y, hook: y.grad_fn.register_prehook(hook),
    "node hook": lambda x, y, hook: y.grad_fn.register_hook(hook),
}


@pytest.mark.parametrize("root", ["jax", "cpu"])
@pytest.mark.parametrize("name", RAISING)
def test_what_a_hook_raises_arrives(name, root):
    def hook(*arguments):
        raise ValueError("from the hook")

    x = torch.ones(3, device="jax", requires_grad=True)
    y = x * 2
    RAISING[name](x, y, hook)
    with pytest.raises(ValueError, match="from the hook"):
        y.to(root).sum().backward()
    z = x.detach().requires_grad_()
    (z * z).sum().backward()
    assert z.grad.tolist() == [2, 2, 2]


def test_torch_jax_module():
    assert torch.jax.device_count() == len(jax.devices()) == 8
    assert torch.jax.current_device() == 0 and torch.jax.is_available()
    with torch.jax.device(1):
        assert torch.empty(2, device="jax").device.index == 1
    torch.jax.synchronize()
    torch.jax.empty_cache()
    assert torch.jax.memory_allocated() >= 0
    assert torch.accelerator.current_accelerator().type == "jax"
    with torch.accelerator.device_index(1):
        assert torch.jax.current_device() == torch.accelerator.current_device_index() == 1
        torch.accelerator.set_device_index(2)
        assert torch.empty(2, device="jax").device.index == 2
    assert torch.jax.current_device() == torch.accelerator.current_device_index() == 0
    state = torch.jax.get_rng_state()
    a = torch.randn(3, device="jax")
    torch.jax.set_rng_state(state)
    assert torch.equal(a, torch.randn(3, device="jax"))


def test_every_device_of_jax_has_an_index():
    x = torch.arange(3.0).to("jax:1")
    assert x.device == torch.device("jax:1") and x.jax().devices() == {jax.devices()[1]}
    y = (x + 1)[1:]
    assert y.device.index == 1 and y.tolist() == [2, 3]
    assert x.to("jax:0").device.index == 0 and x.to("jax:0").tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match=r"jax:0.*jax:1|jax:1.*jax:0"):
        x + x.to("jax:0")
    with pytest.raises(RuntimeError, match=r"invalid device ordinal 8.*force_host_platform_device_count=N"):
        torch.ones(2, device="jax:8")
    w = torch.ones(3, device="jax:1", requires_grad=True)
    (w * x).sum().backward()
    assert w.grad.device.index == 1 and w.grad.tolist() == [0, 1, 2]


def test_tensors_beyond_the_first_device_change_their_geometry():
    x = torch.ones(3, device="jax:1")
    view = x[:2]
    assert x.unsqueeze_(0).t_().squeeze_().tolist() == [1, 1, 1]
    assert x.resize_(2).tolist() == [1, 1] and x.resize_(4).shape == (4,)
    x.zero_()
    assert view.tolist() == [0, 0]
    assert torch.empty(0, device="jax:1").set_(x).tolist() == [0] * 4


def test_jax_functions_take_tensors():
    x = torch.arange(4.0).reshape(2, 2).to("jax")
    assert isinstance(jnp.sin(x), jax.Array)
    assert jnp.array_equal(jax.jit(lambda a: a * 2)(x.t()), 2 * x.jax().T)
    assert jnp.asarray(x).shape == (2, 2) and np.asarray(x).tolist() == x.tolist()
    assert jax.grad(lambda a: (a**2).sum())(nn.Parameter(x)).tolist() == (2 * x).tolist()
    with pytest.raises(RuntimeError, match=r"a tensor on cpu .* expected one on device jax: tensor\.to\('jax'\)"):
        jnp.sin(torch.ones(2))


def test_trees_of_arrays_and_tensors():
    tree = {"a": jnp.ones(2), "b": [jnp.zeros(3, jnp.bfloat16), 1]}
    tensors = tenax.from_jax(tree)
    assert tensors["b"][0].dtype == torch.bfloat16 and tensors["b"][1] == 1
    back = tenax.to_jax({**tensors, "host": torch.ones(2)})
    assert back["a"] is tree["a"] and isinstance(back["host"], jax.Array)
    assert isinstance(tenax.Tensor(jnp.ones(2)), tenax.Tensor)
    with pytest.raises(TypeError, match=r"expected a jax\.Array"):
        tenax.Tensor([1.0])


def test_dlpack_both_ways():
    x = torch.arange(3.0, device="jax")
    assert torch.equal(torch.from_dlpack(x.jax()), x.cpu())
    assert jax.dlpack.from_dlpack(x).tolist() == x.tolist()


@pytest.mark.parametrize(
    "exported",
    [
        torch.from_dlpack,
        lambda x: torch.from_dlpack(torch.to_dlpack(x)),
        lambda x: torch.from_numpy(np.asarray(x)),
        lambda x: torch.from_numpy(np.array(x, np.float32)),
        lambda x: torch.frombuffer(np.asarray(x), dtype=torch.float32),
    ],
)
def test_a_write_to_what_was_exported_reaches_no_tensor_of_the_device(exported):
    x = torch.zeros(2, device="jax")
    exported(x).fill_(7)
    assert x.tolist() == x.clone().tolist() == torch.zeros(2, device="jax").tolist() == [0, 0]
    for export in (np.from_dlpack, torch.from_dlpack):
        with pytest.raises(BufferError, match="exported as a copy"):
            export(x, copy=False)
    assert not np.array(x, copy=False).flags.writeable


@pytest.mark.parametrize(
    "value", [torch.ones(2, 2), torch.tensor(3), torch.tensor([1e-9, 1.0]), torch.ones(2, dtype=torch.bfloat16)]
)
def test_printing_looks_like_torch(value):
    assert repr(value.to("jax")).replace(", device='jax:0'", "") == repr(value)
    assert "device='jax:0'" in repr(value.to("jax"))


def test_seeds_reproduce():
    def draws():
        torch.manual_seed(5)
        return torch.rand(4, device="jax"), torch.randn(2, device="jax")

    assert all(torch.equal(a, b) for a, b in zip(draws(), draws(), strict=True))
    generator = torch.Generator().manual_seed(1)
    a = torch.rand(3, device="jax", generator=generator)
    assert not torch.equal(a, torch.rand(3, device="jax", generator=generator))
    assert torch.equal(a, torch.rand(3, device="jax", generator=generator.manual_seed(1)))


def test_an_op_without_a_lowering_names_itself():
    with pytest.raises(NotImplementedError, match=r"_cslt_compress|device 'jax'"):
        torch.ops.aten._cslt_compress(torch.ones(2, 2, device="jax"))


def run(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"PATH": "", **environment}, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_bare_import_of_torch_registers_the_device_without_jax():
    program = "import torch, sys; print('jax' in sys.modules, torch.device('jax'), 'tenax' in sys.modules)"
    assert run(program) == "False jax True"
    assert run("import torch; print(torch.ones(2, device='jax').tolist())") == "[1.0, 1.0]"
    assert run("import torch, sys; print('tenax' in sys.modules)", TENAX_AUTOLOAD="0") == "False"


def test_the_package_has_one_name():
    message = run("import sys; sys.path.insert(0, '.')\ntry: import runtime\nexcept ImportError as e: print(e)")
    assert "tenax" in message


def test_a_capsule_holds_the_array() -> None:
    x = torch.arange(4.0, device="jax")
    for export in (torch.to_dlpack, torch.utils.dlpack.to_dlpack):
        assert torch.equal(torch.from_dlpack(export(x)), x.cpu())
        assert torch.equal(torch.asarray(export(x)), x.cpu())
        y = torch.arange(3)
        assert torch.from_dlpack(export(y)).data_ptr() == y.data_ptr()


def test_a_tensor_that_escaped_from_a_trace_prints_that() -> None:
    escaped = []
    jax.jit(tenax.interop.t2j(lambda x: (escaped.append(x * 2), x + 1)[1]))(jnp.ones(3))
    assert repr(escaped[0]).startswith("tensor(<this tensor was created while a function was traced")
    with pytest.raises(TraceError, match="has no value"):
        escaped[0].cpu()


def test_a_tensor_without_its_array_prints_that() -> None:
    x = torch.arange(5.0, device="jax") + 1
    x.jax().delete()
    assert repr(x).startswith("tensor(<Array has been deleted") and "size=(5,)" in repr(x) and "jax:0" in f"{x}"
    with pytest.raises(RuntimeError, match="deleted"):
        x.cpu()
    with pytest.raises(TraceError):
        tenax.jit(lambda y: print(y * 2))(torch.ones(2, device="jax"))


def test_an_error_of_printing_leaves_no_transform_disabled() -> None:
    with pytest.raises(TraceError) as kept:  # noqa: F841 (as a notebook keeps it)
        jax.jit(tenax.interop.t2j(lambda x: print(x)))(jnp.ones(2))
    cubed = torch.func.vmap(torch.func.grad(lambda x: x**3))
    assert cubed(torch.arange(3.0)).tolist() == [0, 3, 12]


WITH_NUMPY = {
    "sum": lambda x, a: x + a,
    "of a number": lambda x, a: x * np.array(2.0),
    "in place": lambda x, a: operator.imul(x, a),
    "in place of the array": lambda x, a: operator.itruediv(a, x),
    "of NumPy": lambda x, a: np.multiply(a, x),
    "of one tensor": lambda x, a: np.sin(x),
}


@pytest.mark.parametrize("operation", WITH_NUMPY.values(), ids=WITH_NUMPY.keys())
def test_operations_of_numpy_are_refused_as_on_other_devices(operation: Callable[..., Any]) -> None:
    def refused(device: str) -> str:
        with pytest.raises(TypeError) as error:
            operation(torch.ones(2, device=device), np.ones(2))
        return str(error.value).replace(device, "")

    assert refused("jax").replace(":0", "") == refused("meta")


def test_a_stream_is_recorded_without_effect() -> None:
    x = torch.ones(3, device="jax")
    x.record_stream(torch.Stream("jax"))
    assert torch.equal(x.cpu(), torch.ones(3))


def test_the_device_module_has_the_names_that_programs_use() -> None:
    torch.jax.ipc_collect()
    assert "allocated_bytes.all.current" in torch.jax.memory_summary()
    with pytest.raises(NotImplementedError, match="is not an NVIDIA GPU"):
        torch.jax.get_device_capability()


def test_modules_that_share_a_buffer_share_it_on_the_device():
    module = torch.nn.ModuleDict({name: torch.nn.Module() for name in "ab"})
    buffer = torch.zeros(2)
    for child in module.values():
        child.register_buffer("mean", buffer)
    module.to("jax")
    assert module["a"].mean is module["b"].mean
    assert module["a"].mean.device.type == "jax"
    module.cpu()
    assert module["a"].mean is module["b"].mean


def test_uploads_are_explicit_transfers_for_jax() -> None:
    x = torch.ones(3)
    drop = tenax.jit(torch.nn.functional.dropout)
    drop(x.to("jax"))
    with jax.transfer_guard("disallow"):
        assert x.to("jax").tolist() == [1, 1, 1]
        assert torch.tensor([2], device="jax").tolist() == [2]
        assert set(drop(x.to("jax")).tolist()) <= {0, 2}
    ours = x.to("jax")
    results = [[y.tolist() for y in (ours * torch.full((), 1 + i, device="jax"), ours + i)] for i in (0.5, 0.25)]
    with jax.transfer_guard("disallow"):
        for i in (0.125, 0.75, 0.125):
            results.append([y.tolist() for y in (ours * torch.tensor(1 + i, device="jax"), ours + i)])
    assert results == [[[1 + i] * 3] * 2 for i in (0.5, 0.25, 0.125, 0.75, 0.125)]


NUMBERS: list[tuple[Any, torch.dtype]] = [
    *((1.1, dtype) for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e5m2)),
    *((-0.0, torch.float32), (math.inf, torch.float32), (1e-40, torch.float32), (-(2**62) - 1, torch.int64)),
    *((200, torch.uint8), (2**64 - 1, torch.uint64), (True, torch.bool)),
]


@pytest.mark.parametrize(("value", "dtype"), NUMBERS, ids=str)
def test_a_number_is_not_uploaded(value: Any, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads: list[str] = []
    monkeypatch.setattr(transfers, "measure", lambda direction, _, run: (uploads.append(direction), run())[1])
    host = torch.tensor(value, dtype=dtype)
    ours, copied = host.to("jax"), torch.zeros((), dtype=dtype, device="jax").copy_(host)
    assert not uploads
    host.zero_()
    for x in (ours, copied):
        expected = torch.tensor([value], dtype=dtype)
        assert x.reshape(1).cpu().view(torch.uint8).tolist() == expected.view(torch.uint8).tolist()


def test_a_number_that_a_compiled_function_puts_on_the_device_is_an_input() -> None:
    held = torch.tensor(2.0)
    step = tenax.jit(lambda x, y: x * held.to("jax") + torch.zeros_like(x).copy_(y))
    for i in range(3):
        held.fill_(i)
        assert step(torch.ones(2, device="jax"), torch.tensor(10.0 * i)).tolist() == [11.0 * i] * 2


def test_the_bits_of_nan_are_kept() -> None:
    host = torch.tensor(-0x3F0000, dtype=torch.int32).view(torch.float32)
    assert host.isnan()
    assert host.to("jax").view(torch.int32).item() == -0x3F0000


@pytest.mark.parametrize("name", ["int4", "uint4"])
def test_numbers_of_four_bits_keep_their_array(name: str) -> None:
    array = jnp.arange(8).astype(name).reshape(2, 4)
    x = tenax.from_jax(array)
    assert (x.dtype, x.jax() is array, torch.nn.Parameter(x, False).jax().dtype) == (getattr(torch, name), True, name)
    np.testing.assert_array_equal(x.t()[1:].contiguous().jax(), array.T[1:])
    np.testing.assert_array_equal(x.float().cpu(), array.astype(jnp.float32))
    product = tenax.jit(lambda x, y: tenax.call_jax(lambda a, b: b @ a.astype(b.dtype).T, x, y))
    np.testing.assert_array_equal(product(x, torch.ones(1, 4, device="jax")).cpu(), array.astype(int).sum(1)[None])
    assert jax.jit(tenax.t2j(lambda x: x.t()))(array).dtype == name
    with pytest.raises(NotImplementedError, match="not implemented for"):  # as on the CPU
        x + x

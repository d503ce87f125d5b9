"""No Python call may crash the interpreter. Each known path to unmapped memory runs in its own fork."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.helpers.processes import run

pytestmark = pytest.mark.slow

ROADS = {
    "storage of a size": "torch.UntypedStorage(16, device='jax').nbytes()",
    "storage of a list": "torch.UntypedStorage([1, 2, 3], device='jax').tolist()",
    "typed storage": "torch.TypedStorage(4, dtype=torch.float32, device='jax')",
    "storage clone": "x.untyped_storage().clone().nbytes()",
    "storage cpu": "x.untyped_storage().cpu()",
    "storage resize": "x.untyped_storage().resize_(1024)",
    "storage fill": "x.untyped_storage().fill_(1)",
    "storage copy": "x.untyped_storage().copy_(x.untyped_storage())",
    "storage set item": "x.untyped_storage().__setitem__(0, 1)",
    "storage get item": "x.untyped_storage()[0]",
    "storage share": "x.untyped_storage().share_memory_()",
    "storage new": "x.untyped_storage().new()",
    "storage byteswap": "x.untyped_storage().byteswap(torch.float32)",
    "storage pin": "x.untyped_storage().pin_memory()",
    "storage float": "x.untyped_storage().float() if hasattr(torch.UntypedStorage, 'float') else None",
    "typed storage of a tensor": "x.storage().tolist()",
    "storage to": "x.untyped_storage().to(device='cpu')",
    "storage data_ptr": "x.untyped_storage().data_ptr()",
    "storage use count": "x.untyped_storage()._use_count()",
    "deepcopy": "copy.deepcopy(x)",
    "deepcopy of a view": "copy.deepcopy(x.t())",
    "deepcopy of a parameter": "copy.deepcopy(torch.nn.Parameter(x))",
    "pickle": "pickle.loads(pickle.dumps(x))",
    "share_memory_": "x.share_memory_()",
    "pin_memory": "x.pin_memory()",
    "host pin_memory": "torch.ones(3).pin_memory()",
    "numpy": "x.numpy()",
    "array": "__import__('numpy').asarray(x)",
    "dlpack": "torch.utils.dlpack.to_dlpack(x)",
    "from_dlpack": "torch.from_dlpack(x)",
    "data_ptr": "x.data_ptr()",
    "resize_": "x.resize_(100).sum().item()",
    "resize_as_": "x.resize_as_(torch.ones(9, device='jax'))",
    "set_ of nothing": "x.set_()",
    "set_ of a host storage": "x.set_(torch.ones(3).untyped_storage())",
    "set_ of host tensor": "x.set_(torch.ones(3))",
    "host set_": "torch.ones(3).set_(x)",
    "data of another device": "setattr(torch.ones(2, 3), 'data', x)",
    "out of bounds as_strided": "x.as_strided((100,), (100,))",
    "sparse": "x.to_sparse()",
    "sparse without a kernel": "x.to_sparse().cos()",
    "sparse storage": "x.to_sparse().untyped_storage()",
    "sparse data_ptr": "x.to_sparse().data_ptr()",
    "sparse numpy": "__import__('numpy').asarray(x.to_sparse())",
    "sparse to_dlpack": "torch.utils.dlpack.to_dlpack(x.to_sparse())",
    "sparse out of range": "torch.sparse_coo_tensor([[9], [9]], [1.0], (2, 3), device='jax').to_dense().sum().item()",
    "csr triangular_solve": "torch.triangular_solve(x[:, :2], x[:, :2].to_sparse_csr())",
    "sparse resize_": "x.to_sparse().resize_(3, 3)",
    "strided nested": "torch.nested.nested_tensor([x, x])",
    "strided nested, differentiated": "torch.nested.as_nested_tensor([x.requires_grad_()])",
    "like strided nested": (
        "n = torch.empty_like(torch.nested.nested_tensor([torch.ones(2, 3)]), device='jax').requires_grad_();"
        "str(n); (n * 2).sum().backward()"
    ),
    "strided nested of a mask": "torch._nested_tensor_from_mask(x[None], x[None, :, 0] > 0)",
    "jagged attention": (
        "q = torch.nested.nested_tensor_from_jagged(x[:, None].requires_grad_(), torch.tensor([0, 2], device='jax'));"
        "torch.nn.functional.scaled_dot_product_attention(*[q.transpose(1, 2)] * 3)"
    ),
    "nnpack": "torch._nnpack_spatial_convolution(x[None, None], x[None, None, :1, :1], None, 0)",
    "mkldnn convolution": (
        "torch.mkldnn_convolution(x[None, None], x[None, None, :1, :1], None, (0, 0), (1, 1), (1, 1), 1)"
    ),
    "quantized to the device": "torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8).to('jax')",
    "mkldnn": "x.to_mkldnn()",
    "quantize": "torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)",
    "generator": "torch.Generator(device='jax')",
    "no such device": "torch.ones(2, device='jax:77')",
    "empty quantized": "torch.empty(3, dtype=torch.qint8, device='jax')",
    "complex32": "torch.empty(3, dtype=torch.complex32, device='jax')",
    "stream": "torch.Stream(device='jax')",
    "event": "torch.Event(device='jax')",
    "accelerator": "torch.accelerator.synchronize(); torch.accelerator.current_device_index()",
    "swap": "torch.utils.swap_tensors(x, torch.ones(2, device='jax'))",
    "from_file": "torch.from_file('/dev/null', size=0, device='jax')",
    "frombuffer": "torch.frombuffer(bytearray(8), dtype=torch.float32).to('jax')",
    "histogram": "torch.histogram(x, 3)",
    "profiler": "torch.profiler.profile().__enter__()",
    "fft": "torch.fft.fft(x)",
    "script": "torch.jit.trace(lambda a: a + 1, x)(x)",
    "meta": "x.to('meta')",
    "tensor constructor": "torch.Tensor(x)",
    "legacy constructor": "torch.FloatTensor([1.0]).to('jax')",
    "new": "x.new(3)",
    "new_tensor": "x.new_tensor([1.0])",
    "index with out of range": "x[torch.tensor([100], device='jax')].cpu()",
    "item of many": "x.item()",
    "bool of many": "bool(x)",
    "batch norm without statistics": "torch.native_batch_norm(x, None, None, None, None, False, 0.1, 1e-5)",
    "gradient of a batch norm without statistics": (
        "torch.ops.aten.native_batch_norm_backward(x, x, *[None] * 5, False, 1e-5, [True] * 3)"
    ),
    "batch norm with a short statistic": (
        "torch.native_batch_norm(x, None, None, torch.ones(3, device='jax'), torch.ones(0, device='jax'), True, 0.1, 1)"
    ),
    "batch norm with a short weight": (
        "torch.native_batch_norm(x, torch.ones(2, device='jax'), None, None, None, True, 0.1, 1)"
    ),
    "maxima of no bags": (
        "torch.embedding_bag(x, torch.zeros(5, dtype=torch.long, device='jax'), "
        "torch.zeros(0, dtype=torch.long, device='jax'), mode=2)"
    ),
    "fork": "__import__('os')._exit(0) if __import__('os').fork() == 0 else None",
}


DRIVER = """
import copy, json, os, pickle, sys, warnings
warnings.simplefilter("ignore")
import torch, tenax
assert "jax" not in sys.modules  # it does not survive a fork
for name, code in json.loads(sys.argv[1]).items():
    pid = os.fork()
    if not pid:
        sys.stdout = open(os.devnull, "w")
        x = torch.ones(2, 3, device="jax")
        try:
            exec(code)
        except Exception as error:
            print(type(error).__name__, error)
        x = torch.ones(2, device="jax")
        os._exit(0 if (x + 1).tolist() == [2, 2] else 99)
    print(json.dumps([name, os.waitpid(pid, 0)[1]]), flush=True)
"""


NAMES = list(ROADS)


@pytest.mark.parametrize("first", range(0, len(NAMES), 12))
def test_no_road_crashes_the_interpreter(first: int) -> None:
    """A dozen roads from a process of their own: its forks share what it imports."""
    roads = {name: ROADS[name] for name in NAMES[first : first + 12]}
    lines = run(DRIVER, json.dumps(roads), timeout=900).stdout.splitlines()
    assert dict(json.loads(line) for line in lines) == dict.fromkeys(roads, 0)


INTERRUPTED = """
import random, signal, time, warnings
warnings.simplefilter("ignore")
import torch, tenax
random.seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(12)]).to("jax")
x = torch.ones(1, 2, device="jax")

def step():
    y = model(x)
    y.register_hook(lambda gradient: gradient * 1)
    y.sum().backward()

for _ in range(3):
    step()
begin = time.perf_counter()
for _ in range(5):
    step()
each = (time.perf_counter() - begin) / 5
armed = False

def interrupt(*_):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
interrupts = 0
while interrupts < 100:
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, each))
        step()
        armed = False
    except (KeyboardInterrupt, ValueError) as error:  # a cache of JAX that compares keys makes one of the other
        assert "KeyboardInterrupt" in repr(error)
        interrupts += 1
signal.setitimer(signal.ITIMER_REAL, 0)
model.zero_grad()
step()
assert all(torch.isfinite(p.grad).all() for p in model.parameters())
"""


def test_an_interrupt_at_any_moment_of_a_step_raises_and_does_not_end_the_process() -> None:
    run(INTERRUPTED)


def test_signal_handlers_are_shown_as_they_were_set_and_interrupt_what_waits() -> None:
    code = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have had ignored
import torch, tenax
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
def handler(number, frame):
    raise TimeoutError(number, frame.f_code.co_name)
assert signal.signal(signal.SIGALRM, handler) is signal.SIG_DFL
assert signal.signal(signal.SIGALRM, handler) is handler
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    time.sleep(60)
except TimeoutError as error:
    assert error.args == (signal.SIGALRM, "<module>")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=50)

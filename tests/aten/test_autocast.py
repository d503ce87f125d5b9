"""Mixed precision: the policy of each op is CUDA's, and so is what a region remembers and forgets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.autocast_test_lists import AutocastTestLists
from torch.utils._python_dispatch import TorchDispatchMode

from tenax.codegen import policy
from tenax.codegen.schema import supported
from tenax.codegen.tree import Tree
from tenax.generated.autocast import POLICIES

HALF, BFLOAT, SINGLE = torch.float16, torch.bfloat16, torch.float32


# The table is torch's.

HEADER = (Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h").read_text()
MACRO = r"#define AT_FORALL_{}\(_\)((?:.*\\\n)*.*)\n"
LISTS = {
    "lower_precision_fp": ("LOWER_PRECISION_FP", r"_\(([\w, ]+)\)"),
    "fp32": ("FP32", r"_\(([\w, ]+)\)"),
    "fp32_set_opt_dtype": ("FP32_SET_OPT_DTYPE", r"_\(([\w, ]+)\)"),
    "fp32_append_dtype": ("DIFFERENT_REDISPATCH_SIGNATURE", r'"([\w.]+)"'),
    "promote": ("PROMOTE", r"_\(([\w, ]+)\)"),
}
# Registered for CUDA beside the lists of the header, in ATen/autocast_mode.cpp.
APART = {
    "binary_cross_entropy": "banned",
    "cudnn_convolution": "lower_precision_fp",
    "cudnn_convolution_transpose": "lower_precision_fp",
    "linalg_matrix_sqrth": "fp32",
}
HELD = {name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names()}


def ours() -> dict[str, str]:
    """The policies that are said to be CUDA's."""
    path = Tree.at().autocast
    found = policy.load(path, path.name, supported())[0]
    return {p.name: p.kind for p in found if not p.beyond and p.name in HELD}


def test_the_policies_are_those_of_torchs_header() -> None:
    theirs = {name: kind for name, kind in APART.items() if name in HELD}
    for kind, (macro, item) in LISTS.items():
        found = re.search(MACRO.format(macro), HEADER)
        assert found is not None, macro
        theirs |= {name.replace(", ", "."): kind for name in re.findall(item, found[1])}
    assert ours() == theirs


def test_the_policies_are_those_that_torch_registers_for_cuda() -> None:
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    theirs = {n for n in registered if n.startswith("aten::")}
    theirs.discard("aten::_cudnn_rnn")  # in a build with cuDNN; the networks kept whole have its policy here
    assert {f"aten::{name}" for name in ours()} == theirs


def test_what_is_kept_whole_has_the_policy_of_what_cuda_would_call() -> None:
    beyond = {name for name in POLICIES if name not in ours() and name in HELD}
    networks = ("lstm", "gru", "rnn_tanh", "rnn_relu")
    assert beyond == {f"{name}.{form}" for name in networks for form in ("input", "data")}


# Each call that torch's own tests make under autocast.

BUILTIN = "torch_expect_builtin_promote"
RUN_AS = {
    "torch_fp16": HALF,
    "nn_fp16": HALF,
    "linalg_fp16": HALF,
    "methods_fp16": HALF,
    "torch_fp32": SINGLE,
    "nn_fp32": SINGLE,
    "methods_fp32": SINGLE,
    "torch_need_autocast_promote": SINGLE,
    BUILTIN: None,
    "methods_expect_builtin_promote": None,
}
# The arguments of einsum there do not fit its equation; torch's tests leave it out too.
CALLS = [
    (name, i)
    for name in RUN_AS
    for i, call in enumerate(getattr(AutocastTestLists("cpu"), name))
    if call[0] != "einsum"
]


@pytest.fixture(scope="module")
def lists() -> AutocastTestLists:
    torch.manual_seed(0)
    return AutocastTestLists("cpu")


def mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    return type(value)(mapped(v, change) for v in value) if isinstance(value, (list, tuple)) else value


@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated", "ignore:Using torch.cross without")
@pytest.mark.parametrize(("name", "i"), CALLS, ids=[f"{n}-{i}" for n, i in CALLS])
@pytest.mark.sampled(3)
def test_a_call_computes_in_the_dtype_that_cuda_computes_in(lists: AutocastTestLists, name: str, i: int) -> None:
    op, args, *rest = getattr(lists, name)[i]
    keywords = next((r for r in rest if isinstance(r, dict)), {})
    builtin = next((r for r in rest if isinstance(r, torch.dtype)), None)
    args = mapped(args, lambda x: x.to("jax"))
    dtype = RUN_AS[name]
    cast = mapped(args, lambda x: x.to(dtype) if dtype is not None and x.is_floating_point() else x)
    if op == "__div__":
        op = "__truediv__"
    if name.startswith("methods"):
        function = getattr(torch.Tensor, op)
    else:
        places = (torch, torch._C._nn, torch.ops.aten, torch.linalg)
        function = next(getattr(p, op) for p in places if hasattr(p, op))
    if op.startswith("cudnn"):
        with torch.autocast("jax", HALF), pytest.raises(NotImplementedError, match=f"{op}.*vendor"):
            function(*args)
        return
    with torch.autocast("jax", HALF):
        found = function(*args, **keywords)
        with torch.autocast("jax", enabled=False):
            expected = function(*cast, **keywords)
    if op == "equal":
        assert found is False
        return
    for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
        assert a.dtype == b.dtype == (builtin or dtype)
        assert torch.equal(a, b) or (torch.isnan(a) == torch.isnan(b)).all()


# What is left alone, chosen or refused: CUDA's own kernels decide, on tensors without data.

Case = Callable[[Any], Any]


def tensor(device: str, dtype: torch.dtype = SINGLE, *size: int) -> torch.Tensor:
    return torch.ones(size or (3,), dtype=dtype, device=device)


CASES: dict[str, Case] = {
    "float64 is not lowered": lambda d: tensor(d, torch.float64, 2, 2) @ tensor(d, torch.float64, 2, 2),
    "float64 is not raised": lambda d: tensor(d, torch.float64).exp(),
    "float8 is lowered": lambda d: tensor(d, torch.float8_e4m3fn, 2, 2) @ tensor(d, SINGLE, 2, 2),
    "integers are not cast": lambda d: tensor(d, torch.int64, 2, 2) @ tensor(d, torch.int64, 2, 2),
    "an op without policy": lambda d: tensor(d, BFLOAT).relu(),
    "sum of a half": lambda d: tensor(d, HALF).sum(),
    "sum with a dtype": lambda d: tensor(d, HALF).sum(0, dtype=torch.float64),
    "sum of integers": lambda d: tensor(d, torch.int32).sum(),
    "sum of float64": lambda d: tensor(d, torch.float64).sum(),
    "softmax": lambda d: tensor(d, BFLOAT).softmax(0),
    "softmax with a dtype": lambda d: tensor(d, BFLOAT).softmax(0, dtype=BFLOAT),
    "norm": lambda d: torch.ops.aten.norm(tensor(d, HALF), 2),
    "norm with its default": lambda d: torch.ops.aten.norm(tensor(d, HALF)),
    "norm over a dimension": lambda d: torch.norm(tensor(d, BFLOAT), dim=0, keepdim=True),
    "norm of float64": lambda d: torch.ops.aten.norm(tensor(d, torch.float64)),
    "widest of halves": lambda d: torch.dot(tensor(d, HALF), tensor(d, HALF)),
    "widest with float32": lambda d: torch.dot(tensor(d, HALF), tensor(d)),
    "widest of float64": lambda d: torch.dot(tensor(d, torch.float64), tensor(d, torch.float64)),
    "widest of another half": lambda d: torch.dot(tensor(d, BFLOAT), tensor(d, BFLOAT)),
    "widest with another half": lambda d: torch.atan2(tensor(d, BFLOAT), tensor(d)),
    "widest of an absent bias": lambda d: F.bilinear(
        tensor(d, HALF, 1, 2), tensor(d, SINGLE, 1, 2), tensor(d, SINGLE, 1, 2, 2)
    ),
    "a list": lambda d: torch.einsum("ij,jk->ik", tensor(d, SINGLE, 2, 2), tensor(d, BFLOAT, 2, 2)),
    "in place": lambda d: tensor(d, SINGLE, 2, 2).addmm_(tensor(d, SINGLE, 2, 2), tensor(d, SINGLE, 2, 2)),
    "upsampling": lambda d: F.interpolate(tensor(d, HALF, 1, 1, 2), scale_factor=2.0),
    "binary cross entropy": lambda d: F.binary_cross_entropy(tensor(d), tensor(d)),
}


@contextmanager
def region(device: str) -> Iterator[None]:
    """float16 autocast; for "cuda", which `torch.autocast` disables without a GPU, on fake tensors."""
    if device == "jax":
        with torch.autocast("jax", HALF):
            yield
        return
    with FakeTensorMode():
        torch.set_autocast_enabled("cuda", True)
        try:
            yield
        finally:
            torch.set_autocast_enabled("cuda", False)


def outcome(case: Case, device: str) -> Any:
    with region(device):
        try:
            return case(device).dtype
        except RuntimeError as error:
            return str(error)


@pytest.mark.parametrize("name", CASES)
def test_a_case_ends_as_cudas_own_kernel_ends_it(name: str) -> None:
    assert outcome(CASES[name], "jax") == outcome(CASES[name], "cuda")


# What a region remembers.


class Casts(TorchDispatchMode):
    """Counts the casts."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func is torch.ops.aten._to_copy.default
        return func(*args, **(kwargs or {}))


def autocast(device: str, dtype: torch.dtype = BFLOAT, **settings: Any) -> torch.autocast:
    return torch.autocast(device, dtype, **settings)


def twice(x: torch.Tensor, w: torch.Tensor) -> None:
    x @ w
    x @ w


def without_grad(x: torch.Tensor, w: torch.Tensor) -> None:
    with torch.no_grad():
        x @ w
    x @ w


def cleared(x: torch.Tensor, w: torch.Tensor) -> None:
    x @ w
    torch.clear_autocast_cache()
    x @ w


def nested(x: torch.Tensor, w: torch.Tensor) -> None:
    with autocast(x.device.type):
        x @ w
    with autocast(x.device.type, enabled=False):
        x.float() @ w
    x @ w


def uncached(x: torch.Tensor, w: torch.Tensor) -> None:
    with autocast(x.device.type, cache_enabled=False):
        twice(x, w)


def of_another_op(x: torch.Tensor, w: torch.Tensor) -> None:
    x @ w
    F.linear(x, w)


def of_no_leaf(x: torch.Tensor, w: torch.Tensor) -> None:
    v = w * 1
    twice(x, v)


def of_no_parameter(x: torch.Tensor, w: torch.Tensor) -> None:
    twice(x, w.detach())


def in_two_regions(x: torch.Tensor, w: torch.Tensor) -> None:
    for _ in range(2):
        with autocast(x.device.type):
            x @ w


BODIES = [twice, without_grad, cleared, nested, uncached, of_another_op, of_no_leaf, of_no_parameter]


@pytest.mark.parametrize("body", BODIES)
def test_a_weight_is_cast_as_often_as_torch_casts_it(body: Callable[..., None]) -> None:
    counts = []
    for device in ("jax", "cpu"):
        x, w = tensor(device, BFLOAT, 2, 2), torch.nn.Parameter(tensor(device, SINGLE, 2, 2))
        with Casts() as casts, autocast(device):
            body(x, w)
        counts.append(casts.count)
    assert counts[0] == counts[1] > 0


def test_the_outermost_region_forgets_its_casts() -> None:
    x, w = tensor("jax", BFLOAT, 2, 2), torch.nn.Parameter(tensor("jax", SINGLE, 2, 2))
    with Casts() as casts:
        in_two_regions(x, w)
    assert casts.count == 2
    with torch.no_grad():
        w.mul_(2)
    with autocast("jax"):
        assert (x @ w).tolist() == [[4, 4], [4, 4]]


def test_a_weight_first_used_without_gradients_gets_its_gradient_later() -> None:
    w = torch.nn.Parameter(tensor("jax", SINGLE, 2, 2))
    with autocast("jax"):
        without_grad(tensor("jax", BFLOAT, 2, 2), w)
        (tensor("jax", BFLOAT, 2, 2) @ w).sum().backward()
    assert w.grad.dtype == SINGLE
    assert w.grad.tolist() == [[2, 2], [2, 2]]


def test_a_weight_is_cast_to_the_dtype_of_the_inner_region() -> None:
    x, w = tensor("jax", SINGLE, 2, 2), torch.nn.Parameter(tensor("jax", SINGLE, 2, 2))
    with autocast("jax", BFLOAT):
        dtypes = [(x @ w).dtype]
        with autocast("jax", HALF):
            dtypes.append((x @ w).dtype)
        with autocast("jax", enabled=False):
            dtypes.append((x @ w).dtype)
        dtypes.append((x @ w).dtype)
    assert [*dtypes, (x @ w).dtype] == [BFLOAT, HALF, SINGLE, BFLOAT, SINGLE]

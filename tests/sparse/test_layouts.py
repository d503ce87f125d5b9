"""Sparse tensors of the device behave as CPU torch's: conversions, arithmetic, gradients, optimizers, errors."""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest
import torch
from torch import nn

import tenax
from tenax._torch.operators import overload_named
from tenax.aten.registration import register_all
from tenax.sparse.layouts import BORROWED
from tests.helpers.agreement import close

pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse (CSR|invariant)"),
    pytest.mark.filterwarnings("ignore:Sparse (CSC|BSR|BSC)"),
]
register_all()
Call = Callable[[Any], Any]


class Tensors:
    """One matrix in every layout, and what goes with it, made when first used."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.dense = torch.arange(6.0, device=device).reshape(2, 3) - 2
        self.pick = torch.tensor([1, 1, 0], device=device)

    @cached_property
    def twice(self) -> torch.Tensor:
        indices = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]], device=self.device)
        values = torch.tensor([3.0, -4, 0.5, 1], device=self.device)
        return torch.sparse_coo_tensor(indices, values, (2, 3), check_invariants=False)

    x: Any = cached_property(lambda self: self.twice.coalesce())
    hybrid: Any = cached_property(lambda self: self.dense.to_sparse(1))
    csr: Any = cached_property(lambda self: self.x.to_sparse_csr())
    csc: Any = cached_property(lambda self: self.x.to_sparse_csc())
    bsr: Any = cached_property(lambda self: self.x.to_sparse_bsr((2, 1)))
    bsc: Any = cached_property(lambda self: self.x.to_sparse_bsc((1, 3)))


def assert_agree(ours: Any, theirs: Any) -> None:
    """Layout, shape, dtype, flags and values."""
    if isinstance(theirs, (tuple, list)):
        for a, b in zip(ours, theirs, strict=True):
            assert_agree(a, b)
    elif isinstance(theirs, torch.Tensor):
        assert ours.device.type == "jax"
        ours = ours.cpu()
        assert (ours.layout, ours.shape, ours.dtype) == (theirs.layout, theirs.shape, theirs.dtype)
        if theirs.layout is torch.sparse_coo:
            assert ours.is_coalesced() == theirs.is_coalesced()
            assert ours.sparse_dim() == theirs.sparse_dim()
            assert ours.coalesce()._nnz() == theirs.coalesce()._nnz()
        close(ours.to_dense(), theirs.to_dense(), nan=True)
    else:
        assert ours == theirs


CALLS: dict[str, Call] = {
    "construction": lambda t: torch.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0], (2, 3), device=t.device),
    "construction without a size": lambda t: torch.sparse_coo_tensor(t.pick.view(1, 3), t.dense.t(), device=t.device),
    "construction of nothing": lambda t: torch.sparse_coo_tensor((2, 3), device=t.device),
    "empty of a sparse layout": lambda t: torch.empty((2, 3), layout=torch.sparse_coo, device=t.device),
    "zeros of a sparse layout": lambda t: torch.zeros((2, 3), layout=torch.sparse_csr, device=t.device),
    "csr construction": lambda t: torch.sparse_csr_tensor([0, 1, 2], [2, 0], [1.0, 2], (2, 3), device=t.device),
    "csc construction": lambda t: torch.sparse_csc_tensor([0, 1, 1, 2], [1, 0], [1.0, 2], device=t.device),
    "counts": lambda t: [t.twice._nnz(), t.twice.is_coalesced(), t.hybrid.sparse_dim(), t.hybrid.dense_dim()],
    "indices and values": lambda t: [t.x.indices(), t.x.values(), t.hybrid.values()],
    "csr parts": lambda t: [t.csr.crow_indices(), t.csr.col_indices(), t.csr.values(), t.csc.ccol_indices()],
    "coalesce": lambda t: t.twice.coalesce(),
    "coalesce of bool": lambda t: (t.twice != 0 if t.twice.layout is torch.strided else t.twice.bool()).coalesce(),
    "coalesce of hybrid": lambda t: torch.sparse_coo_tensor(t.pick.view(1, 3), t.dense.t()).coalesce(),
    "to_dense": lambda t: [y.to_dense() for y in (t.x, t.twice, t.csr, t.csc, t.bsr, t.bsc, t.hybrid)],
    "to_sparse of dense": lambda t: [t.dense.to_sparse(), t.dense.to_sparse(1), t.dense.to_sparse_csr()],
    "to_sparse of compressed": lambda t: [y.to_sparse() for y in (t.csr, t.csc, t.bsr, t.bsc)],
    "to csc": lambda t: [y.to_sparse_csc() for y in (t.csr, t.csc, t.x)],
    "to blocks": lambda t: [t.dense.to_sparse_bsr((1, 3)), t.csr.to_sparse_bsr((2, 3)), t.csr.to_sparse_bsc((2, 1))],
    "blocks of dense rows": lambda t: torch.arange(16.0, device=t.device).view(4, 4).to_sparse_bsr((2, 2)).to_dense(),
    "batched csr": lambda t: torch.stack([t.dense, t.dense * 2]).to_sparse_csr().to_dense(),
    "upload": lambda t: [y.cpu().to(t.device) for y in (t.x, t.twice, t.csr, t.bsc)],
    "dtype": lambda t: [t.x.double(), t.x.to(torch.int32), t.csr.half()],
    "copies": lambda t: [t.x.clone(), t.twice.detach(), torch.zeros_like(t.x).copy_(t.x), copy.deepcopy(t.twice)],
    "zeros_like": lambda t: [torch.zeros_like(t.x), torch.zeros_like(t.csr), torch.empty_like(t.x)],
    "powers and quotients": lambda t: [t.x.pow(2), t.x / 2, t.x * 3, 3 * t.twice, t.csr * 2, t.x.floor_divide(2)],
    "in-place": lambda t: [t.x.clone().abs_(), t.x.clone().mul_(t.x), t.csr.clone().neg_(), t.x.clone().zero_()],
    "sum of two": lambda t: [t.x + t.x, t.twice + t.x, t.x - t.x * 2, torch.add(t.x, t.x, alpha=3), t.csr + t.csr],
    "sum with dense": lambda t: [t.dense + t.x, t.dense - t.twice, t.dense + t.csr, t.dense + t.hybrid],
    "sum into dense": lambda t: [t.dense.clone().add_(t.twice, alpha=2), t.dense.t().clone().t().sub_(t.x)],
    "sum of dtypes": lambda t: [t.x.int() + t.x, t.dense + t.x.double()],
    "product": lambda t: [t.x * t.x, t.x * t.twice, t.x * t.dense, t.dense * t.x, t.x * t.dense[0], t.csr * t.dense],
    "product of csr": lambda t: t.csr * t.csr,
    "product that broadcasts": lambda t: t.x * torch.ones(4, 2, 3, device=t.device),
    "matmul with dense": lambda t: [y @ t.dense.t() for y in (t.x, t.twice, t.csr, t.csc)],
    "matmul from dense": lambda t: [t.dense @ t.x.t(), t.dense.t() @ t.csr],
    "matmul with a vector": lambda t: [t.x @ t.dense[0], t.csr @ t.dense[0], t.x.mv(t.dense[1])],
    "matmul of sparse": lambda t: [t.x @ t.x.t(), torch.sparse.mm(t.twice, t.x.t()), (t.csr @ t.csr.t()).to_dense()],
    "addmm": lambda t: torch.sparse.addmm(t.dense[:, :2], t.x, t.dense.t(), beta=2, alpha=3),
    "addmm in place": lambda t: t.dense[:, :2].clone().addmm_(t.x, t.dense.t()),
    "addmv": lambda t: torch.addmv(t.dense[:, 0], t.csr, t.dense[0], alpha=2),
    "bmm": lambda t: torch.bmm(torch.stack([t.x, t.x]), torch.stack([t.dense.t(), t.dense.t()])),
    "hspmm": lambda t: torch.hspmm(t.x, t.dense.t()),
    "out": lambda t: [torch.mm(t.x, t.dense.t(), out=t.dense.new_empty(2, 2)), torch.add(t.x, t.x, out=t.x.clone())],
    "sums": lambda t: [t.x.sum(), t.x.sum(0), torch.sparse.sum(t.twice, (0, 1)), torch.sparse.sum(t.hybrid, 1)],
    "sums of csr": lambda t: [t.csr.sum(), torch.sum(t.csr, (1,), keepdim=True), torch.sum(t.csr, (0,), keepdim=True)],
    "norm": lambda t: [t.x.norm(), t.twice.norm(), t.x.norm(1)],
    "softmax": lambda t: [torch.sparse.softmax(t.twice, 0), torch.sparse.softmax(t.hybrid, 1)],
    "log_softmax": lambda t: [torch.sparse.log_softmax(t.x, 1), torch.sparse.log_softmax(t.hybrid, 0)],
    "transposition": lambda t: [t.x.t(), t.x.transpose(0, 1), t.x.permute(1, 0), t.csr.t(), t.x.unsqueeze(0)],
    "joining": lambda t: [torch.cat([t.x, t.x]), torch.cat([t.x, t.twice], 1), torch.stack([t.x, t.x])],
    "selection": lambda t: [t.x[1], t.x.select(1, 2), t.csr[1], t.x.narrow_copy(1, 1, 2)],
    "index_select": lambda t: [
        t.x.index_select(0, t.pick),
        t.x.index_select(1, t.pick),
        t.hybrid.index_select(1, t.pick),
    ],
    "sparse_mask": lambda t: [t.dense.sparse_mask(t.x), t.x.sparse_mask(t.twice), t.dense.sparse_mask(t.csr)],
    "any": lambda t: [t.x.any(), torch.isnan(t.x), torch.isinf(t.csr)],
    "resizing": lambda t: t.x.clone().sparse_resize_((3, 3), 2, 0),
    "sampled_addmm": lambda t: torch.sparse.sampled_addmm(t.csr, t.dense[:, :2], t.dense[:2], beta=0.5, alpha=2),
    "mm reduce": lambda t: [torch.sparse.mm(t.csr, t.dense.t(), r) for r in ("sum", "mean", "amax", "amin")],
    "half": lambda t: [t.x.bfloat16() @ t.dense.t().bfloat16(), t.dense.half() + t.x.half()],
    "complex": lambda t: [(t.x * 1j).conj_physical(), (t.x * 1j).coalesce().abs()],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_agrees_with_cpu_torch(name: str) -> None:
    assert_agree(CALLS[name](Tensors("jax")), CALLS[name](Tensors("cpu")))


def _unary(key: str) -> list[tuple[str, str]]:
    named = []
    for name in BORROWED[key].split():
        first, *rest = overload_named(name)._schema.arguments
        if str(first.type) == "Tensor" and all(a.has_default_value() for a in rest) and "strided" not in name:
            named.append((key, name))
    return named


@pytest.mark.parametrize(("key", "name"), _unary("SparseCPU") + _unary("SparseCsrCPU"))
def test_a_borrowed_kernel_of_one_tensor_agrees_with_cpu_torch(key: str, name: str) -> None:
    if name in ("empty_like", "normal_"):
        return  # no value to compare
    results = []
    for device in ("jax", "cpu"):
        t = Tensors(device)
        given = t.csc if name in ("ccol_indices", "row_indices") else t.x if key == "SparseCPU" else t.csr
        given = torch.view_as_real(given * (1 + 1j)) if name == "view_as_complex" else given.clone()
        given = given * (1 + 1j) if name == "view_as_real" else given
        try:
            results.append(overload_named(name)(given))
        except RuntimeError as error:
            results.append(type(error))
    assert_agree(*results)


GRADIENTS: dict[str, Call] = {
    "to_dense": lambda t: t.x.to_dense().square().sum(),
    "to_dense of csr": lambda t: t.csr.to_dense().square().sum(),
    "coalesce": lambda t: t.twice.coalesce().values().square().sum(),
    "mm": lambda t: torch.sparse.mm(t.x, t.dense.t()).square().sum(),
    "mm of csr": lambda t: torch.sparse.mm(t.csr, t.dense.t()).square().sum(),
    "mm reduce": lambda t: torch.sparse.mm(t.csr, t.dense.t(), "amax").square().sum(),
    "addmm": lambda t: torch.sparse.addmm(t.dense[:, :2], t.x, t.dense.t()).square().sum(),
    "sparse sum": lambda t: torch.sparse.sum(t.x, 0).to_dense().square().sum(),
    "softmax": lambda t: torch.sparse.softmax(t.x, 1).to_dense().square().sum(),
    "to_sparse": lambda t: (t.dense.to_sparse() * 2).to_dense().square().sum(),
    "product": lambda t: (t.x * t.x).to_dense().sum(),
    "sparse_mask": lambda t: t.dense.sparse_mask(t.x.detach()).to_dense().square().sum(),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_gradient_agrees_with_cpu_torch(name: str) -> None:
    gradients = []
    for device in ("jax", "cpu"):
        t = Tensors(device)
        for leaf in (t.x, t.twice, t.csr, t.dense):
            leaf.requires_grad_()
        GRADIENTS[name](t).backward()
        gradients.append([leaf.grad for leaf in (t.x, t.twice, t.csr, t.dense)])
    assert any(g is not None for g in gradients[1])
    for ours, theirs in zip(*gradients, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            assert ours.layout is theirs.layout
            close(ours.cpu().to_dense(), theirs.to_dense())


OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "SparseAdam": lambda p: torch.optim.SparseAdam(list(p), lr=0.1),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("bag", [False, True])
def test_embeddings_with_sparse_gradients_train_as_on_the_cpu(optimizer: str, bag: bool) -> None:
    kind: Any = nn.EmbeddingBag if bag else nn.Embedding
    start = kind(7, 3, sparse=True, **({"mode": "sum"} if bag else {}))
    tokens = torch.tensor([[1, 2, 2], [5, 1, 0]])
    weights = []
    for device in ("jax", "cpu"):
        model = copy.deepcopy(start).to(device)
        step = OPTIMIZERS[optimizer](model.parameters())
        for _ in range(3):
            step.zero_grad()
            model(tokens.to(device)).square().sum().backward()
            assert model.weight.grad.is_sparse
            step.step()
        weights.append(model.weight.detach().cpu())
    close(*weights)


def test_a_sparse_tensor_prints_with_its_device() -> None:
    ours, theirs = (str(Tensors(device).x) for device in ("jax", "cpu"))
    assert re.sub(r"device='jax:0', ", "", ours) == theirs and "jax:0" in ours


@pytest.mark.parametrize("name", ["x", "twice", "csr", "csc", "bsr"])
@pytest.mark.parametrize("place", [None, "cpu"])
@pytest.mark.filterwarnings("ignore:Validating sparse tensor invariants")  # torch 2.15
def test_a_sparse_tensor_is_saved_and_loaded(name: str, place: str | None) -> None:
    file = io.BytesIO()
    saved = getattr(Tensors("jax"), name)
    torch.save(saved, file)
    file.seek(0)
    loaded = torch.load(file, map_location=place, weights_only=True)
    assert loaded.layout is saved.layout and loaded.device.type == (place or "jax")
    close(loaded.to_dense().cpu(), saved.to_dense().cpu())


ERRORS: dict[str, Call] = {
    "index beyond the size": lambda t: torch.sparse_coo_tensor([[0, 9], [2, 0]], [1.0, 2], (2, 3), device=t.device),
    "plain indices twice in a row": lambda t: torch.sparse_csr_tensor(
        [0, 1, 3], [2, 0, 0], [1.0, 2, 3], (2, 3), device=t.device
    ),
    # CPU torch reads the columns of every row, so none of them may lie beyond the last column.
    "rows that shrink": lambda t: torch.sparse_csr_tensor([0, 2, 1, 2], [0, 2], [1.0, 2], (3, 3), device=t.device),
    "column beyond the size": lambda t: torch.sparse_csr_tensor([0, 1, 2], [2, 5], [1.0, 2], (2, 3), device=t.device),
    "shapes of mm": lambda t: torch.mm(t.x, t.dense),
    "shapes of add": lambda t: t.dense + t.x.t(),
    "sparse plus dense": lambda t: t.x + t.dense,
    "mask of another shape": lambda t: t.dense.sparse_mask(t.x.t()),
    "softmax of integers": lambda t: torch.sparse.softmax(t.x.int(), 0),
    "integers that would be cut": lambda t: t.x.int().add_(t.x),
    "indices of uncoalesced": lambda t: t.twice.indices(),
    "crow_indices of coo": lambda t: t.x.crow_indices(),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_torchs(name: str) -> None:
    with torch.sparse.check_sparse_tensor_invariants(True):
        with pytest.raises((RuntimeError, IndexError)) as theirs:
            ERRORS[name](Tensors("cpu"))
        with pytest.raises(type(theirs.value)) as ours:
            ERRORS[name](Tensors("jax"))
    wanted = str(theirs.value).split("\n")[0].replace("CPU", "jax").replace("Cpu", "")
    assert str(ours.value).split("\n")[0].replace("PrivateUse1", "jax") == wanted


@pytest.mark.parametrize("call", [lambda t: t.x.cos(), lambda t: t.csr.cumsum(0), lambda t: t.x == t.x])
def test_what_is_missing_says_its_name_layout_and_way_out(call: Call) -> None:
    with pytest.raises(NotImplementedError, match=r"\w+: not supported for layout torch.sparse_\w+ .*to_dense"):
        call(Tensors("jax"))


def test_tensors_on_two_devices_are_refused() -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.mm(Tensors("jax").x, Tensors("cpu").dense.t())


def test_a_compiled_step_trains_an_embedding_with_sparse_gradients() -> None:
    weights = []
    for device, jit in (("cpu", lambda function: function), ("jax", tenax.jit)):
        torch.manual_seed(0)
        module = torch.nn.Embedding(10, 4, sparse=True).to(device)
        optimizer = torch.optim.SGD(module.parameters(), 0.1)

        def step(i: torch.Tensor, module: Any = module, optimizer: Any = optimizer) -> None:
            optimizer.zero_grad()
            module(i).square().sum().backward()
            optimizer.step()

        compiled = jit(step)
        for rate in (0.1, 0.1, 0.3, 0.3):
            optimizer.param_groups[0]["lr"] = rate
            compiled(torch.tensor([1, 2, 1], device=device))
        weights.append(module.weight.detach().cpu())
    close(weights[1], weights[0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_of_half_precision_are_computed_in_float32(dtype: torch.dtype) -> None:
    """As on the CPU, whose means and extremes add half precision."""
    torch.manual_seed(0)
    left, right, grad = torch.randn(5, 6).relu(), torch.randn(6, 40), torch.randn(5, 40)

    def program(device: str) -> list[torch.Tensor]:
        a = left.to(dtype).to(device).to_sparse_csr().requires_grad_()
        b = right.to(dtype).to(device).requires_grad_()
        y = torch.sparse.mm(a, b, "sum")
        ga, gb = torch.autograd.grad(y, (a, b), grad.to(dtype).to(device))
        return [y.detach().cpu(), ga.to_dense().cpu(), gb.cpu()]

    for found, expected in zip(program("jax"), program("cpu"), strict=True):
        close(found, expected)

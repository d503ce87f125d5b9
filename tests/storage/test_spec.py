"""The geometry of a tensor, as one description: it is read of a tensor, and applied to a storage."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import pytest
import torch

from tenax.storage.avals import LazyFill, aval_of
from tenax.storage.rebuild import ResultBuilder, ResultRecorder
from tenax.storage.spec import CONJUGATE, NEGATIVE, TensorSpec, operand_of
from tenax.storage.tensors import cell_of, wrap

VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "whole": lambda x: x,
    "reshaped": lambda x: x.view(6, 4),
    "part": lambda x: x[1:, ::2],
    "transposed": lambda x: x.mT,
    "expanded": lambda x: x[:1].expand(5, 6),
    "one element": lambda x: x[2, 3],
    "empty": lambda x: x[:0],
    "conjugate": lambda x: x.conj(),
    "negative": lambda x: x.conj().imag,
    "part of the conjugate": lambda x: x.conj()[1:],
    "imaginary": lambda x: x.imag,
    "integers": lambda x: torch.view_as_real(x).view(torch.int32)[:, 2],
}


@pytest.mark.parametrize("device", ["cpu", "jax"])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_spec_makes_the_tensor_again_on_its_storage(view: Callable[..., torch.Tensor], device: str) -> None:
    x = torch.randn(4, 6, dtype=torch.complex64).to(device)
    tensor = view(x)
    spec = TensorSpec.of(tensor)
    for base in (x, x[1], x.conj(), x.mT):  # any tensor of the storage will do
        again = spec.on(base)
        assert TensorSpec.of(again) == spec and again.device == tensor.device
        assert again.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr() or device == "jax"
        assert again.untyped_storage() is tensor.untyped_storage() or device == "cpu"
        assert torch.equal(again.cpu(), tensor.cpu())


def test_writes_through_a_spec_reach_the_storage() -> None:
    x = torch.zeros(4, device="jax")
    TensorSpec((2,), (2,), 1, torch.int32).on(x).fill_(1065353216)  # the bits of 1.0
    assert x.tolist() == [0, 1, 0, 1]


def test_a_spec_knows_its_bits() -> None:
    x = torch.randn(3, dtype=torch.complex64, device="jax")
    assert TensorSpec.of(x.conj()).bits == CONJUGATE
    assert TensorSpec.of(x.conj().imag).bits == NEGATIVE
    assert TensorSpec.of(x.resolve_conj()).bits == 0


@pytest.mark.parametrize(
    ("spec", "contiguous", "covers", "reshape"),
    [
        (TensorSpec((2, 3), (3, 1), 0, torch.float32), True, True, True),
        (TensorSpec((6,), (1,), 0, torch.float32), True, False, True),
        (TensorSpec((2, 1, 3), (3, 7, 1), 0, torch.float32), False, False, True),
        (TensorSpec((3, 2), (1, 3), 0, torch.float32), False, False, False),
        (TensorSpec((3,), (1,), 3, torch.float32), True, False, False),
        (TensorSpec((2, 3), (3, 1), 0, torch.int32), True, False, True),
        (TensorSpec((2, 3), (3, 1), 0, torch.float32, NEGATIVE), False, False, True),
    ],
)
def test_how_a_spec_lies_in_an_array(spec: TensorSpec, contiguous: bool, covers: bool, reshape: bool) -> None:
    assert spec.is_contiguous() is contiguous
    assert spec.covers(aval_of((2, 3), jnp.dtype("float32"))) is covers
    assert spec.is_reshape_of((2, 3)) is reshape


def test_operands_are_interned() -> None:
    aval = aval_of((2, 3), jnp.dtype("float32"))
    operand = operand_of(aval, TensorSpec((3,), (1,), 3, torch.float32))
    assert operand is operand_of(aval, TensorSpec((3,), (1,), 3, torch.float32))
    assert operand is not operand_of(aval, TensorSpec((3,), (1,), 0, torch.float32), dynamic=True)
    assert not operand.reinterprets
    assert operand_of(aval, TensorSpec((3,), (1,), 3, torch.int32)).reinterprets


def rebuilt(*tensors: torch.Tensor, index: int = 0) -> list[torch.Tensor]:
    """What a program that returned these tensors would make of the arrays that it returns."""
    recorder = ResultRecorder()
    records = [recorder.record(tensor) for tensor in tensors]
    storages = recorder.storages()
    contents = [storage.source.content(recorder.outputs, ()) for storage in storages]
    builder = ResultBuilder(storages, contents, index)
    return [builder.tensor(record) for record in records]


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("first", [True, False], ids=["base first", "view first"])
def test_rebuilt_results_share_memory_as_the_recorded_did(view: Callable[..., torch.Tensor], first: bool) -> None:
    x = torch.randn(4, 6, dtype=torch.complex64, device="jax")
    recorded = [x, view(x)] if first else [view(x), x]
    results = rebuilt(*recorded)
    for result, tensor in zip(results, recorded, strict=True):
        assert TensorSpec.of(result) == TensorSpec.of(tensor)
        assert torch.equal(result.cpu(), tensor.cpu())
    assert results[0].untyped_storage() is results[1].untyped_storage()
    assert results[0].untyped_storage() is not x.untyped_storage()
    results[0].zero_()
    recorded[0].zero_()
    assert torch.equal(results[1].cpu(), recorded[1].cpu())


def test_an_array_takes_the_shape_of_a_tensor_that_shows_all_of_it() -> None:
    x = torch.randn(4, 6, device="jax")
    (result,) = rebuilt(x.view(3, 8))
    assert cell_of(result).shape == (3, 8) and torch.equal(result.cpu(), x.view(3, 8).cpu())
    (filled,) = rebuilt(torch.ones(4, 6, device="jax").view(24))
    assert isinstance(cell_of(filled).content, LazyFill) and cell_of(filled).shape == (24,)
    assert filled.tolist() == [1.0] * 24
    whole, part = rebuilt(x, x.view(3, 8))  # shown as it is by the first
    assert cell_of(whole).shape == cell_of(part).shape == (4, 6)


def test_an_array_is_returned_once_and_an_input_not_at_all() -> None:
    given, made = jnp.ones(3), jnp.zeros(3)
    recorder = ResultRecorder([given])
    for array in (given, made, made):
        recorder.record(wrap(array))
    sources = [storage.source for storage in recorder.storages()]
    assert [(source.input, source.output) for source in sources] == [(0, None), (None, 0), (None, 0)]
    assert len(recorder.outputs) == 1 and recorder.outputs[0] is made

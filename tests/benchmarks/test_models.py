"""The models of the benchmarks compute the same in PyTorch and written by hand in JAX."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
import torch

from benchmarks.models.by_hand import decode as decode_by_hand
from benchmarks.models.by_hand.training import loss, train_step
from benchmarks.models.cases import CASES, Case, array, gpt, weights
from benchmarks.models.decode import Decoder, decode
from benchmarks.models.gpt import GPT
from benchmarks.models.training import cross_entropy
from benchmarks.models.training import train_step as torch_train_step
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED, COMPOSED

# 12 and 48 layers are more of the same.
TRAINED = [case for case in CASES if not case.name.startswith("GPT")] + [gpt(2)]
by_case = pytest.mark.parametrize("case", TRAINED, ids=lambda case: case.name)


@pytest.fixture(autouse=True)
def standard_promotion() -> Iterator[None]:
    """What users of JAX have: optax multiplies integers by floats."""
    with jax.numpy_dtype_promotion("standard"):
        yield


@by_case
def test_forward_agrees_in_both_modes(case: Case) -> None:
    module, (x, _) = case.module(), case.batch()
    params, state = case.by_hand.from_torch(weights(module))
    for training in (False, True):
        result, _ = jax.jit(case.by_hand.apply, static_argnums=3)(params, state, array(x), training)
        close(result, module.train(training)(x), COMPOSED)


@pytest.mark.sampled(2)
@by_case
def test_gradients_agree(case: Case) -> None:
    module, (x, target) = case.module(), case.batch()
    held = weights(module)
    params, state = case.by_hand.from_torch(held)
    gradients, _ = jax.jit(jax.grad(loss, argnums=1, has_aux=True), static_argnums=0)(
        case.by_hand.apply, params, state, array(x), array(target)
    )
    cross_entropy(module(x), target).backward()
    expected = held | {name: p.grad.numpy() for name, p in module.named_parameters()}
    close(gradients, case.by_hand.from_torch(expected)[0], COMPOSED)


@pytest.mark.sampled(2)
@by_case
def test_three_training_steps_agree(case: Case) -> None:
    module, (x, target) = case.module(), case.batch()
    params, state = case.by_hand.from_torch(weights(module))
    optimizer = case.optax()
    held = (params, state, optimizer.init(params))
    step, torch_step = (
        train_step(case.by_hand.apply, optimizer),
        torch_train_step(module, case.optimizer(module.parameters())),
    )
    for _ in range(3):
        held, value = step(held, array(x), array(target))
        close(value, torch_step(x, target), ACCUMULATED)
    # Parameters whose gradient is all rounding move by rounding alone, so what is compared is what the model gives.
    module.eval()
    result, _ = jax.jit(case.by_hand.apply)(*held[:2], array(x))
    close(result, module(x), ACCUMULATED)
    close(held[1], case.by_hand.from_torch(weights(module))[1], ACCUMULATED)


def test_decoding_gives_the_same_tokens_and_caches() -> None:
    decoder, token = Decoder(GPT(2)), torch.tensor([[7]])
    params, state = decode_by_hand.from_torch(weights(decoder))
    step = jax.jit(decode_by_hand.step)

    def stateful(token: jax.Array, position: jax.Array) -> tuple[jax.Array, jax.Array]:
        nonlocal state
        result, state = step(params, state, token, position)
        return result

    with torch.no_grad():
        expected = torch.cat(decode(decoder, token, torch.tensor([0]), 16), 1)
    found = jnp.concatenate(decode(stateful, array(token), jnp.int32(0), 16), 1)
    assert found.tolist() == expected.tolist()
    assert len(set(found[0].tolist())) > 3
    caches = jax.tree.leaves(state)
    for cache, name in zip(caches, ("keys0", "values0", "keys1", "values1"), strict=True):
        close(cache.swapaxes(1, 2), decoder.get_buffer(name), COMPOSED)


def test_the_decoder_gives_what_the_whole_sequence_gives() -> None:
    model = GPT(2)
    decoder = Decoder(model)
    with torch.no_grad():
        tokens = torch.cat([torch.tensor([[7]]), *decode(decoder, torch.tensor([[7]]), torch.tensor([0]), 16)], 1)
        assert model(tokens[:, :-1]).argmax(-1).tolist() == tokens[:, 1:].tolist()

"""Attention gives the values, gradients, strides and errors of CPU torch, and JAX's fused kernels where they exist."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax.interpreters import mlir
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

import tenax
from tenax.kernels import flash
from tenax.kernels.attention import scaled_dot_product_attention as lowering
from tenax.kernels.matmul import _grouped_mm
from tests.helpers.agreement import agree, close
from tests.helpers.tolerances import BOTH_OFF, COMPOSED, IN_HALVES, QUOTIENT, SAMPLED
from tests.helpers.traced import equations

Q, K = (2, 4, 5, 8), (2, 4, 6, 8)

# Strides of gradients are the library's own choice; those of results have a test.
alike = partial(agree, allowance=COMPOSED, strides=False)


def seen() -> torch.Tensor:
    """A mask whose third query sees no key."""
    mask = torch.rand(5, 6) > 0.4
    mask[2] = False
    return mask


def bias(*shape: int) -> torch.Tensor:
    """A mask to be added whose second query sees no key."""
    mask = torch.randn(*shape, 5, 6)
    mask[..., 1, :] = -torch.inf
    mask[..., 0, 2] = -torch.inf
    return mask


torch.manual_seed(0)
CASES: dict[str, tuple[list[tuple[int, ...]], dict[str, Any]]] = {
    "plain": ([Q, K, K], {}),
    "causal, more keys": ([Q, K, K], {"is_causal": True}),
    "causal, more queries": ([K, Q, Q], {"is_causal": True}),
    "scale": ([Q, K, K], {"scale": 0.3}),
    "other value size": ([Q, K, (2, 4, 6, 3)], {}),
    "bool mask": ([Q, K, K], {"attn_mask": seen()}),
    "mask of keys": ([Q, K, K], {"attn_mask": torch.rand(2, 1, 1, 6) > 0.3}),
    "mask and causal": ([Q, K, K], {"attn_mask": torch.rand(5, 6) > 0.3, "is_causal": True}),
    "bias": ([Q, K, K], {"attn_mask": bias()}),
    "bias of heads": ([Q, K, K], {"attn_mask": bias(1, 4)}),
    "bias of all": ([Q, K, K], {"attn_mask": bias(2, 4)}),
    "groups": ([Q, (2, 2, 6, 8), (2, 2, 6, 8)], {"enable_gqa": True}),
    "groups, bias of heads": ([Q, (2, 2, 6, 8), (2, 2, 6, 8)], {"enable_gqa": True, "attn_mask": bias(2, 4)}),
    "groups, unlike keys and values": ([Q, (2, 2, 6, 8), (2, 1, 6, 8)], {"enable_gqa": True}),
    "broadcast keys": ([Q, (1, 4, 6, 8), (2, 1, 6, 8)], {}),
    "two axes": ([(5, 8), (6, 8), (6, 8)], {"attn_mask": seen()}),
    "three axes": ([(3, 5, 8), (3, 6, 8), (3, 6, 8)], {"attn_mask": torch.rand(6)}),
    "five axes": ([(3, *Q), (3, *K), (3, *K)], {"attn_mask": bias(3, 1, 1)}),
    "no keys": ([Q, (2, 4, 0, 8), (2, 4, 0, 8)], {}),
    "no features": ([(2, 4, 5, 0), (2, 4, 6, 0), K], {}),
}


def arguments(shapes: list[tuple[int, ...]], options: dict[str, Any], dtype: torch.dtype, device: str) -> Any:
    """Fresh tensors, equal on every device, and those of them that have a gradient."""
    torch.manual_seed(1)
    tensors = [torch.randn(s, dtype=dtype).to(device).requires_grad_() for s in shapes]
    mask = options.get("attn_mask")
    if mask is None:
        return tensors, options, tensors
    mask = mask.to(device, dtype if mask.is_floating_point() else None)
    leaves = [*tensors, mask.requires_grad_()] if mask.is_floating_point() else tensors
    return tensors, {**options, "attn_mask": mask}, leaves


def results(name: str, dtype: torch.dtype, device: str, order: int = 1) -> list[torch.Tensor]:
    tensors, options, leaves = arguments(*CASES[name], dtype, device)
    out = sdpa(*tensors, **options)
    gradients = torch.autograd.grad((out * (3 * out).sin()).sum(), leaves, create_graph=order > 1)
    if order == 1:
        return [out, *gradients]
    return [*gradients, *torch.autograd.grad(sum(g.square().sum() for g in gradients), leaves)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str) -> None:
    allowance = BOTH_OFF if name == "five axes" else COMPOSED
    try:
        expected = results(name, torch.float32, "cpu")
    except RuntimeError as error:  # torch 2.15 refuses a mask that is causal besides
        with pytest.raises(RuntimeError, match=str(error).splitlines()[0]):
            results(name, torch.float32, "jax")
    else:
        alike(results(name, torch.float32, "jax"), expected, allowance=allowance)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["bool mask"])
def test_dtypes(name: str, dtype: torch.dtype) -> None:
    alike(
        results(name, dtype, "jax"),
        results(name, dtype, "cpu"),
        allowance=COMPOSED if dtype == torch.float64 else IN_HALVES,
    )


@pytest.mark.parametrize("name", ["bool mask", "groups, bias of heads", "causal, more keys"])
def test_second_derivatives(name: str) -> None:
    with sdpa_kernel(SDPBackend.MATH):  # torch has them of the formula only
        expected = results(name, torch.float64, "cpu", 2)
    alike(results(name, torch.float64, "jax", 2), expected)


@pytest.mark.parametrize("grad", [False, True])
def test_a_result_lies_as_the_query_does(grad: bool) -> None:
    memory = [torch.randn(2, 5, 4, 8), torch.randn(2, 6, 4, 8), torch.randn(2, 6, 4, 8)]
    for options in ({}, {"attn_mask": seen()}, {"dropout_p": 0.5}):
        strides = []
        for device in ("cpu", "jax"):
            q, k, v = (x.to(device).transpose(1, 2).requires_grad_(grad) for x in memory)
            mask = {n: o.to(device) if isinstance(o, torch.Tensor) else o for n, o in options.items()}
            strides.append(sdpa(q, k, v, **mask).stride())
        assert strides[0] == strides[1]


def test_it_stays_whole() -> None:
    q = torch.randn(Q, device="jax", requires_grad=True)
    sdpa(q, q, q).sum().backward()  # torch is asked for the result's shape once
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        sdpa(q, q, q).sum().backward()
    names = [event.key for event in profile.key_averages()]
    assert "tenax::call" in names
    assert not any("softmax" in name or "bmm" in name for name in names)


# Tiles


def gradients(tensors: list[jax.Array], rng: jax.Array, **options: Any) -> Any:
    def loss(*tensors: jax.Array) -> jax.Array:
        mask = tensors[3] if len(tensors) > 3 else None
        out = lowering(rng, *tensors[:3], mask, **options)
        return jnp.sum(out * jnp.sin(out))

    return jax.value_and_grad(loss, tuple(range(len(tensors))))(*tensors)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("option", "tile"), [("plain", 600), ("plain", 13), ("causal", 60), ("bias", 60), ("groups", 60), ("dropout", 13)]
)
def test_tiles_have_no_part_in_the_result(monkeypatch: pytest.MonkeyPatch, option: str, tile: int) -> None:
    rng, heads = np.random.default_rng(0), 2 if option == "groups" else 4
    shapes = [(3, 4, 11, 8), (3, heads, 6, 8), (3, heads, 6, 8), *([(1, 4, 11, 6)] if option == "bias" else [])]
    tensors = [jnp.asarray(rng.standard_normal(s, np.float32)) for s in shapes]
    options = {"causal": {"is_causal": True}, "groups": {"enable_gqa": True}, "dropout": {"dropout_p": 0.5}}
    run = partial(gradients, tensors, jax.random.key(0), **options.get(option, {}))
    expected = run()
    monkeypatch.setattr(flash, "TILE", tile)
    monkeypatch.setattr(flash, "NARROW", 2)
    for a, b in zip(jax.tree.leaves(run()), jax.tree.leaves(expected), strict=True):
        close(a, b, COMPOSED)


def test_memory_grows_with_the_sequence_and_not_with_its_square() -> None:
    def temporary(length: int) -> int:
        x = jax.ShapeDtypeStruct((1, 4, length, 16), jnp.float32)
        grad = jax.jit(partial(gradients, rng=jax.random.key(0))).lower([x, x, x])
        return grad.compile().memory_analysis().temp_size_in_bytes

    tile = 4 * flash.TILE
    assert temporary(4096) < 6 * tile < 4 * 4 * 4096**2
    assert temporary(8192) < temporary(4096) + 2 * tile


# Dropout


def test_dropout_is_that_of_the_seed_and_the_same_in_backward() -> None:
    q, k, v = (torch.randn(s, dtype=torch.float64, device="jax", requires_grad=True) for s in (Q, K, K))

    def run(q: torch.Tensor, seed: int = 1) -> torch.Tensor:
        torch.manual_seed(seed)
        return sdpa(q, k, v, dropout_p=0.4).square().sum()

    assert run(q).item() == run(q).item()
    assert run(q).item() != run(q, 2).item()
    step = 1e-5 * torch.randn_like(q)
    slope = (torch.autograd.grad(run(q), q)[0] * step).sum().item()
    with torch.no_grad():
        close((run(q + step) - run(q - step)).item() / 2, slope, QUOTIENT)


def test_dropout_keeps_the_mean_and_at_its_ends_is_exact() -> None:
    q, k, v = (torch.randn(s, device="jax") for s in (Q, K, K))
    assert torch.equal(sdpa(q, k, v, dropout_p=0.0).cpu(), sdpa(q, k, v).cpu())
    assert not sdpa(q, k, v, dropout_p=1.0).cpu().any()
    many = sdpa(*(x.expand(500, *x.shape).flatten(0, 1) for x in (q, k, v)), dropout_p=0.3)
    mean = many.unflatten(0, (500, 2)).mean(0)
    close(mean, sdpa(q, k, v), SAMPLED)


# The ways of torch


def test_transforms_of_functions_and_forward_mode() -> None:
    tensors = [torch.randn(s, dtype=torch.float64) for s in (Q, K, K)]

    def found(device: str) -> list[torch.Tensor]:
        q, k, v = (x.to(device) for x in tensors)
        f = torch.func
        with sdpa_kernel(SDPBackend.MATH):
            return [
                f.grad(lambda q: sdpa(q, k, v).sin().sum())(q),
                f.vmap(sdpa)(q, k, v),
                *f.jvp(lambda q: sdpa(q, k, v, is_causal=True), (q,), (q.cos(),)),
                f.hessian(lambda q: sdpa(q, k[0, 0], v[0, 0]).square().sum())(q[0, 0]),
                torch.autograd.functional.jacobian(lambda q: sdpa(q, k[0, 0], v[0, 0]), q[0, 0], vectorize=True),
            ]

    alike(found("jax"), found("cpu"))


@pytest.mark.parametrize("backend", [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION])
def test_a_choice_of_torchs_kernels_does_not_matter(backend: SDPBackend) -> None:
    expected = results("bias", torch.float32, "jax")
    with sdpa_kernel(backend):
        found = results("bias", torch.float32, "jax")
    alike(found, [x.cpu() for x in expected])


def test_autocast_computes_in_the_lower_precision() -> None:
    q = torch.randn(Q, device="jax", requires_grad=True)
    with torch.autocast("jax", torch.bfloat16):
        out = sdpa(q, q, q)
    assert out.dtype == torch.bfloat16
    out.float().sum().backward()
    assert q.grad.dtype == torch.float32


@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        ([(8,), (8,), (8,)], {}),
        ([Q, (2, 4, 6, 7), K], {}),
        ([Q, (3, 4, 6, 8), (3, 4, 6, 8)], {}),
        ([Q, (2, 3, 6, 8), (2, 3, 6, 8)], {"enable_gqa": True}),
        ([(5, 8), (6, 8), (6, 8)], {"enable_gqa": True}),
        ([Q, K, K], {"dropout_p": 1.5}),
        ([Q, K, K], {"attn_mask": torch.ones(5, 6, dtype=torch.int32)}),
        ([Q, K, K], {"attn_mask": torch.ones(5, 6, dtype=torch.float64)}),
        ([Q, K, K], {"attn_mask": torch.ones(7, 6)}),
    ],
)
@pytest.mark.parametrize("grad", [False, True])
def test_errors_are_torchs(shapes: list[tuple[int, ...]], options: dict[str, Any], grad: bool) -> None:
    errors = []
    for device in ("cpu", "jax"):
        tensors = [torch.randn(s).to(device).requires_grad_(grad) for s in shapes]
        moved = {n: o.to(device) if isinstance(o, torch.Tensor) else o for n, o in options.items()}
        with pytest.raises((RuntimeError, IndexError)) as caught:
            sdpa(*tensors, **moved)
        errors.append((caught.type, str(caught.value)))
    assert errors[0] == errors[1]


def test_what_cpu_torch_reads_beyond_or_refuses_is_an_error() -> None:
    q, k = torch.randn(Q, device="jax"), torch.randn(K, device="jax")
    with pytest.raises(RuntimeError, match="6 keys and 7 values"):
        sdpa(q, k, torch.randn(2, 4, 7, 8, device="jax"))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        sdpa(q[0], k[0], k[0], torch.randn(2, 4, 5, 6, device="jax"))
    with pytest.raises(NotImplementedError, match="not implemented"):
        sdpa(*(x.to(torch.complex64) for x in (q, k, k)))


# JAX's fused kernels


@pytest.fixture
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Lower as on a machine with this platform; JAX asks for cuDNN's version while it traces."""
    from jax._src.cudnn import fused_attention_stablehlo

    monkeypatch.setattr(jax, "default_backend", lambda: request.param)
    monkeypatch.setattr(fused_attention_stablehlo, "check_cudnn_version", lambda: 91000)
    return {"gpu": "cuda"}.get(request.param, request.param)


def custom_calls(
    platform: str, shapes: list[tuple[int, ...]], dtype: Any, mask: Any = None, **options: Any
) -> list[str]:
    """The targets of the custom calls in StableHLO of forward and backward."""
    tensors = [jax.ShapeDtypeStruct(s, dtype) for s in shapes]
    tensors += [] if mask is None else [jax.ShapeDtypeStruct(*mask)]

    def loss(*tensors: jax.Array) -> jax.Array:
        return jnp.sum(lowering(jax.random.key(0), *tensors, **options).astype(jnp.float32))

    with jax.enable_x64(True):  # as the runtime traces
        traced = jax.jit(jax.grad(loss, (0, 1, 2))).trace(*tensors)
        module = traced.lower(lowering_platforms=(platform,)).compiler_ir("stablehlo")
    found: list[str] = []

    def visit(operation: mlir.ir.Operation) -> mlir.ir.WalkResult:
        if operation.name == "stablehlo.custom_call":
            found.append(mlir.ir.StringAttr(operation.attributes["call_target_name"]).value)
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


LONG = [(2, 4, 256, 64)] * 3


@pytest.mark.parametrize("platform", ["gpu"], indirect=True)
@pytest.mark.parametrize(
    ("mask", "options"),
    [
        (None, {}),
        (None, {"is_causal": True, "scale": 0.2}),
        (((2, 1, 1, 256), np.dtype(bool)), {}),
        (((4, 256, 256), jnp.bfloat16), {}),
    ],
)
def test_on_a_gpu_it_is_cudnn(platform: str, mask: Any, options: dict[str, Any]) -> None:
    for shapes in (LONG, [LONG[0], (2, 2, 256, 64), (2, 2, 256, 64)]):
        grouped = {"enable_gqa": shapes is not LONG}
        forward, backward = custom_calls(platform, shapes, jnp.bfloat16, mask, **options, **grouped)
        assert forward.startswith("__cudnn$fmha") and backward.startswith("__cudnn$fmha") and "Backward" in backward
        assert not custom_calls("cpu", shapes, jnp.bfloat16, mask, **options, **grouped)


@pytest.mark.parametrize("platform", ["gpu"], indirect=True)
def test_on_a_gpu_what_cudnn_does_not_take_is_the_formula(platform: str) -> None:
    assert not custom_calls(platform, LONG, jnp.float32)
    assert not custom_calls(platform, [(2, 4, 256, 12)] * 3, jnp.bfloat16)
    assert not custom_calls(platform, LONG, jnp.bfloat16, dropout_p=0.1)


@pytest.mark.parametrize("platform", ["tpu"], indirect=True)
def test_on_a_tpu_it_is_the_pallas_kernel(platform: str) -> None:
    assert set(custom_calls(platform, LONG, jnp.bfloat16, is_causal=True)) == {"tpu_custom_call"}
    assert not custom_calls("cpu", LONG, jnp.bfloat16, is_causal=True)
    assert not custom_calls(platform, [(2, 4, 100, 64)] * 3, jnp.bfloat16)
    assert not custom_calls(platform, LONG, jnp.bfloat16, ((256, 256), np.dtype(bool)))


@pytest.mark.parametrize("platform", ["tpu"], indirect=True)
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32])
def test_the_kernels_of_a_tpu_get_the_precision_of_float32_for_float32_alone(platform: str, dtype: Any) -> None:
    x, experts = jax.ShapeDtypeStruct((2, 4, 256, 64), dtype), jax.ShapeDtypeStruct((4, 64, 64), dtype)
    attention = partial(lowering, jax.random.key(0), is_causal=True)
    ends = jax.ShapeDtypeStruct((4,), jnp.int32)

    def products(q: jax.Array, w: jax.Array, ends: jax.Array) -> jax.Array:
        return jnp.sum(attention(q, q, q)) + jnp.sum(_grouped_mm(q.reshape(-1, 64), w, ends))

    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        traced = jax.make_jaxpr(jax.grad(products, (0, 1)))(x, experts, ends)
    found = [e for e in equations(traced.jaxpr) if e.primitive.name in ("dot_general", "ragged_dot_general")]
    kernels = [e for e in found if all(v.aval.dtype == dtype for v in e.invars[:2])]
    stated = {str(e.params["precision"]) for e in kernels}
    assert len(kernels) >= 4 and ("HIGHEST" in str(stated)) == (dtype == jnp.float32)


# flex_attention


def by_formula(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, score_mod: Any, mask_mod: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = query @ key.mT * query.shape[-1] ** -0.5
    places = torch.meshgrid(*(torch.arange(n) for n in scores.shape), indexing="ij")
    scores = scores if score_mod is None else score_mod(scores, *places)
    scores = scores if mask_mod is None else torch.where(mask_mod(*places), scores, -torch.inf)
    return scores.softmax(-1) @ value, scores.logsumexp(-1)


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore")  # torch's advice to compile it
@pytest.mark.parametrize("heads", [4, 2])
@pytest.mark.parametrize("mod", [None, "score", "mask", "both"])
def test_flex_attention(mod: str | None, heads: int) -> None:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def score_mod(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return torch.tanh(s / 5) * 5 + (i - j) * 0.1

    def mask_mod(b: Any, h: Any, i: Any, j: Any) -> Any:
        return (i >= j) & (i - j < 5)

    score = score_mod if mod in ("score", "both") else None
    mask = mask_mod if mod in ("mask", "both") else None
    theirs = [torch.randn(2, n, 16, 8, requires_grad=True) for n in (4, heads, heads)]
    ours = [x.detach().to("jax").requires_grad_() for x in theirs]
    block = None if mask is None else create_block_mask(mask, 2, None, 16, 16, device="jax", BLOCK_SIZE=8)
    found = flex_attention(*ours, score_mod=score, block_mask=block, enable_gqa=heads < 4, return_lse=True)
    expected = by_formula(*theirs, score, mask)
    alike(found, expected)
    loss = [sum((x * x.sin()).sum() for x in pair) for pair in (found, expected)]
    alike(torch.autograd.grad(loss[0], ours), torch.autograd.grad(loss[1], theirs))


@pytest.mark.filterwarnings("ignore")
def test_flex_attention_under_autocast() -> None:
    from torch.nn.attention.flex_attention import flex_attention

    q = torch.randn(1, 2, 16, 8, device="jax")
    with torch.autocast("jax", torch.bfloat16):
        assert flex_attention(q, q, q).dtype == torch.bfloat16


# Modules


def padding() -> torch.Tensor:
    mask = torch.zeros(3, 5, dtype=torch.bool)
    mask[0, 3:] = mask[2, 4:] = True
    return mask


def pair(module: nn.Module) -> list[tuple[nn.Module, str]]:
    return [(module, "cpu"), (copy.deepcopy(module).to("jax"), "jax")]


CAUSAL = nn.Transformer.generate_square_subsequent_mask(5)
MASKS: dict[str, dict[str, Any]] = {
    "none": {},
    "keys": {"key_padding_mask": padding()},
    "causal": {"attn_mask": CAUSAL, "is_causal": True},
    "heads": {"attn_mask": torch.randn(12, 5, 5)},
    "keys and scores": {"key_padding_mask": padding(), "attn_mask": CAUSAL.isinf()},
}


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("mask", MASKS)
def test_multihead_attention(mask: str, training: bool) -> None:
    module = nn.MultiheadAttention(8, 4, batch_first=True).train(training)
    x = torch.randn(3, 5, 8)
    for weights in (False,) if training else (True, False):
        options: dict[str, Any] = {"need_weights": weights}
        if mask == "causal" and weights:
            continue  # torch asks for a mask and no weights there
        found = []
        for net, device in pair(module):
            own = x.to(device).requires_grad_(training)
            moved = {n: m.to(device) if isinstance(m, torch.Tensor) else m for n, m in MASKS[mask].items()}
            with torch.set_grad_enabled(training):
                outputs = [y for y in net(own, own, own, **options, **moved) if y is not None]
            if training:
                outputs += torch.autograd.grad(sum((y * y.sin()).sum() for y in outputs), [own, *net.parameters()])
            found.append(outputs)
        alike(found[1], found[0])


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("mask", ["none", "keys", "scores"])
def test_transformer_layers(mask: str, training: bool) -> None:
    options: dict[str, Any] = {"dim_feedforward": 16, "dropout": 0.0, "batch_first": True, "activation": "gelu"}
    encoder = nn.TransformerEncoderLayer(8, 2, norm_first=mask == "keys", **options).train(training)
    decoder = nn.TransformerDecoderLayer(8, 2, **options).train(training)
    x, memory = torch.randn(2, 3, 5, 8)
    found = []
    for (net, device), (other, _) in zip(pair(encoder), pair(decoder), strict=True):
        own, far = x.to(device), memory.to(device)
        keys = padding().to(device) if mask == "keys" else None
        scores = CAUSAL.to(device) if mask == "scores" else None
        with torch.set_grad_enabled(training):
            outputs = [
                net(own, src_mask=scores, src_key_padding_mask=keys),
                other(own, far, tgt_mask=scores, tgt_key_padding_mask=keys, memory_key_padding_mask=keys),
            ]
        if training:
            leaves = [*net.parameters(), *other.parameters()]
            outputs += torch.autograd.grad(sum((y * y.sin()).sum() for y in outputs), leaves)
        found.append(outputs)
    alike(found[1], found[0])


@pytest.mark.parametrize("transposed", [True, False])
def test_flash_attention_of_distributed_tensors_has_the_strides_of_the_meta_kernel(transposed: bool) -> None:
    def strides(device: str) -> list[tuple[int, ...]]:
        shape = (2, 8, 4, 2) if transposed else (2, 4, 8, 2)
        query, key, value = (torch.ones(shape, device=device) for _ in range(3))
        if transposed:
            query, key, value = (x.transpose(1, 2) for x in (query, key, value))
        flash = torch.ops.aten._scaled_dot_product_flash_attention
        out, lse, *rest, _ = flash(query, key, value, 0.0, True)
        derive = torch.ops.aten._scaled_dot_product_flash_attention_backward
        grads = derive(torch.ones_like(out), query, key, value, out, lse, *rest[:4], 0.0, True, *rest[4:])
        return [x.stride() for x in (out, lse, *grads)]

    assert strides("jax") == strides("meta")


@pytest.mark.parametrize("mask", [None, True])
def test_a_scale_of_large_tensors(mask: bool | None) -> None:
    """Their dtypes differ from that of the scale, and torch, which has no such operator, is not asked about them."""
    torch.manual_seed(0)
    query, seen = torch.randn(2, 8, 64, 80), torch.rand(2, 1, 64, 64) > 0.3 if mask else None
    assert 3 * query.numel() > 2**16

    def grads(device: str) -> list[torch.Tensor]:
        x = query.to(device, copy=True).requires_grad_()
        result = sdpa(x, x, x, attn_mask=None if seen is None else seen.to(device), scale=0.25)
        result.square().mean().backward()
        return [result.detach(), x.grad]

    for got, expected in zip(grads("jax"), grads("cpu"), strict=True):
        close(got, expected, COMPOSED)


def test_a_function_of_large_arrays_of_several_dtypes() -> None:
    x, y = torch.rand(300, 300, device="jax", requires_grad=True), torch.ones(300, 300, device="jax").double()
    tenax.call_jax(lambda a, b: a * b.astype(a.dtype), x, y).sum().backward()
    close(x.grad, torch.ones(300, 300), COMPOSED)

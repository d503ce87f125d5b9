"""Small training programs in the style of TorchTPU's tutorials: `python programs.py NAME DEVICE` prints their losses.

Device "cpu" is the reference. The programs name no device but the one they are given.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import jax
import torch
import torch.distributed as dist
from jax.experimental import pallas as pl
from torch import nn
from torch.nn import functional

Step = Callable[[], torch.Tensor]


def losses(step: Step, count: int = 4) -> list[float]:
    return [step().item() for _ in range(count)]


def trained(model: nn.Module, loss: Callable[[], torch.Tensor], compiled: bool = False) -> list[float]:
    """The losses of a few steps of AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    forward = torch.compile(loss) if compiled else loss

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        value = forward()
        value.backward()
        optimizer.step()
        return value.detach()

    return losses(step)


class Block(nn.Module):
    """A transformer block with attention of its own."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.first(x)).chunk(3, -1))
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.second(x))


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.positions = nn.Parameter(torch.randn(1, 4, 16) * 0.02)
        self.blocks = nn.Sequential(Block(16, 2, False), Block(16, 2, False))
        self.head = nn.Linear(16, 5)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.blocks(x).mean(1))


def vit(device: torch.device) -> list[float]:
    model = VisionTransformer().to(device)
    images, labels = torch.randn(6, 3, 8, 8).to(device), torch.arange(6).remainder(5).to(device)
    return trained(model, lambda: functional.cross_entropy(model(images), labels))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(11, 16), nn.Embedding(8, 16)
        self.blocks = nn.Sequential(Block(16, 2, True), Block(16, 2, True))
        self.head = nn.Linear(16, 11, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.blocks(self.tokens(tokens) + self.positions(places)))


def gpt(device: torch.device) -> list[float]:
    model = Gpt().to(device)
    text = torch.randint(11, (3, 9)).to(device)
    return trained(
        model, lambda: functional.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()), True
    )


class Dlrm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(n, 4, mode="sum") for n in (7, 9))
        self.bottom, self.top = nn.Linear(3, 4), nn.Linear(4 + 3, 1)

    def forward(self, dense: torch.Tensor, sparse: list[torch.Tensor], offsets: torch.Tensor) -> torch.Tensor:
        x = self.bottom(dense).relu()
        rows = torch.stack([x, *(table(ids, offsets) for table, ids in zip(self.tables, sparse, strict=True))], 1)
        left, right = torch.tril_indices(3, 3, -1)
        products = (rows @ rows.transpose(1, 2))[:, left, right]
        return self.top(torch.cat([x, products], 1)).squeeze(1)


def dlrm(device: torch.device) -> list[float]:
    model = Dlrm().to(device)
    dense, clicks = torch.randn(4, 3).to(device), torch.tensor([0.0, 1, 1, 0]).to(device)
    sparse = [torch.randint(n, (8,)).to(device) for n in (7, 9)]
    offsets = torch.tensor([0, 2, 4, 6]).to(device)
    return trained(model, lambda: functional.binary_cross_entropy_with_logits(model(dense, sparse, offsets), clicks))


def mixed_precision(device: torch.device) -> list[float]:
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
    x, y = torch.randn(8, 4).to(device), torch.randn(8, 1).to(device)

    def loss() -> torch.Tensor:
        with torch.autocast(device.type, dtype=torch.bfloat16):
            return functional.mse_loss(model(x).float(), y)

    return trained(model, loss)


def hugging_face(device: torch.device) -> list[float]:
    """The losses of a `Trainer`, which chooses device "tpu" itself; its model generates on the device, too."""
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    sizes = {"vocab_size": 32, "n_positions": 16, "n_embd": 16, "n_layer": 1, "n_head": 2, "eos_token_id": 1}
    model = GPT2LMHeadModel(GPT2Config(**sizes, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    rows = torch.randint(2, 32, (16, 8))
    data = [{"input_ids": row, "labels": row} for row in rows]
    options: dict[str, Any] = {"logging_strategy": "steps", "logging_steps": 1, "save_strategy": "no", "report_to": []}
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, max_steps=4, disable_tqdm=True, learning_rate=0.01, **options)
        trainer = Trainer(model, arguments, train_dataset=data)
        trainer.train()
    assert model.device.type == device.type, model.device
    found = model.generate(rows[:2].to(device), max_new_tokens=4, do_sample=False, pad_token_id=0)
    assert found.device.type == device.type and found.shape == (2, 12)
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def pallas(device: torch.device) -> list[float]:
    weight = torch.randn(4, 4).to(device).requires_grad_()
    x = torch.randn(3, 4).to(device)
    return losses(lambda: _descend(weight, _silu(device)(x @ weight).square().mean()))


def _descend(weight: torch.Tensor, loss: torch.Tensor) -> torch.Tensor:
    (gradient,) = torch.autograd.grad(loss, weight)
    with torch.no_grad():
        weight -= 0.1 * gradient
    return loss.detach()


def _silu(device: torch.device) -> Callable[[torch.Tensor], torch.Tensor]:
    """`x * sigmoid(x)`: on device "tpu" an operator of TorchTPU, whose backward pass is another one."""
    if device.type != "tpu":
        return functional.silu
    from torch_tpu._internal import pallas as bridge

    def forward_kernel(x: Any, out: Any) -> None:
        out[...] = x[...] * jax.nn.sigmoid(x[...])

    def backward_kernel(x: Any, cotangent: Any, out: Any) -> None:
        s = jax.nn.sigmoid(x[...])
        out[...] = cotangent[...] * (s + x[...] * s * (1 - s))

    def like(x: jax.Array) -> Any:
        return jax.ShapeDtypeStruct(x.shape, x.dtype)

    if not hasattr(torch.ops.tutorial, "silu"):

        @bridge.jax_op("tutorial::silu")
        def silu(x: jax.Array) -> jax.Array:
            return pl.pallas_call(forward_kernel, out_shape=like(x))(x)

        @bridge.jax_op("tutorial::silu_backward")
        def silu_backward(x: jax.Array, cotangent: jax.Array) -> jax.Array:
            return pl.pallas_call(backward_kernel, out_shape=like(x))(x, cotangent)

        silu.register_autograd(
            lambda ctx, gradient: silu_backward(*ctx.saved_tensors, gradient),
            setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
        )
    return torch.ops.tutorial.silu  # type: ignore[no-any-return]


BACKENDS = {"cpu": "gloo", "jax": "tenax", "tpu": "tpu_dist"}


def _rank(rank: int, program: str, device: str, port: int, results: Any) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group(BACKENDS[device])
    results.put((rank, globals()[f"_{program}"](torch.device(device))))
    dist.barrier()
    dist.destroy_process_group()


def _on_two_ranks(program: str, device: torch.device) -> list[float]:
    """The losses of the first rank."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    results = torch.multiprocessing.get_context("spawn").SimpleQueue()
    torch.multiprocessing.spawn(_rank, (program, device.type, port, results), nprocs=2)
    return dict(results.get() for _ in range(2))[0]  # type: ignore[no-any-return]


def ddp(device: torch.device) -> list[float]:
    return _on_two_ranks("ddp", device)


def _ddp(device: torch.device) -> list[float]:
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device))
    x = torch.randn(2, 3, 4)[dist.get_rank()].to(device)
    return trained(model, lambda: model(x).square().mean())


def fully_sharded(device: torch.device) -> list[float]:
    return _on_two_ranks("fully_sharded", device)


def _fully_sharded(device: torch.device) -> list[float]:
    from torch.distributed.fsdp import fully_shard

    mesh = dist.init_device_mesh(device.type, (2,))
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
    for part in (*model, model):
        fully_shard(part, mesh=mesh)
    x = torch.randn(2, 3, 4)[dist.get_rank()].to(device)
    return trained(model, lambda: model(x).square().mean())


def tensor_parallel(device: torch.device) -> list[float]:
    return _on_two_ranks("tensor_parallel", device)


def _tensor_parallel(device: torch.device) -> list[float]:
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = dist.init_device_mesh(device.type, (2,))
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
    model = parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    x = torch.randn(3, 4).to(device)
    return trained(model, lambda: model(x).square().mean())


def gathered(device: torch.device) -> list[float]:
    return _on_two_ranks("gathered", device)


def _gathered(device: torch.device) -> list[float]:
    """A product whose inner dimension is spread over the ranks: its parts are gathered, and its sum is scattered."""
    weight = torch.randn(2, 4, 6)[dist.get_rank()].to(device).requires_grad_()
    x = torch.randn(3, 4).to(device)
    gather, scatter = _collectives(device)
    return losses(lambda: _descend(weight, scatter(x @ gather(weight)).square().mean()))


def _collectives(device: torch.device) -> tuple[Callable[[torch.Tensor], torch.Tensor], ...]:
    if device.type == "tpu":
        return (
            lambda weight: torch.tpu.ops.all_gather_dim(weight, 1),  # type: ignore[attr-defined]
            lambda partial: torch.tpu.ops.reduce_scatter_dim(partial, 1),  # type: ignore[attr-defined]
        )
    from torch.distributed.nn import functional as differentiable

    def scatter(partial: torch.Tensor) -> torch.Tensor:
        parts = [part.contiguous() for part in partial.chunk(2, 1)]
        return differentiable.all_reduce(torch.stack(parts))[dist.get_rank()]

    return lambda weight: torch.cat(differentiable.all_gather(weight), 1), scatter


if __name__ == "__main__":
    torch.manual_seed(0)
    print(globals()[sys.argv[1]](torch.device(sys.argv[2])))

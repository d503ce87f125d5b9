"""A small Llama on a mesh of eight devices: fully sharded data parallelism times tensor parallelism.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 python examples/fsdp_llama.py

One process drives all devices, here eight of the CPU. The model is made in its shards and learns the bytes of
Python's reference manual. Halfway it is saved; training continues on the eight devices and, from the checkpoint, on
four, with the same losses. The resumed model then writes text with a sharded cache of keys and values. The model and
its AdamW loop are plain PyTorch.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from pydoc_data.topics import topics

import jax
import torch
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from torch import nn

import tenax
from tenax import checkpoint
from tenax.sharding import fsdp, initialize, tensor_parallel

Cache = list[tuple[torch.Tensor, torch.Tensor]]  # keys and values of each layer: (batch, kv_heads, length, head)
BATCH, WINDOW = 16, 64
# Each layout: the rules, and the devices of the axis "model" of a mesh of n devices. The others are its axis "data".
LAYOUTS = {
    "fsdp": (fsdp("data"), lambda n: 1),
    "tensor_parallel": (tensor_parallel("model"), lambda n: n),
    "both": (tensor_parallel("model", fsdp="data"), lambda n: 2),
}


@dataclass(frozen=True)
class Config:
    """The sizes of a model that reads bytes."""

    vocabulary: int = 256
    width: int = 128
    hidden: int = 256
    layers: int = 2
    heads: int = 8
    kv_heads: int = 4
    length: int = 128


class Attention(nn.Module):
    """Attention in which groups of query heads share a head of keys and values."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.head = config.width // config.heads
        self.q_proj = nn.Linear(config.width, config.heads * self.head, bias=False)
        self.k_proj = nn.Linear(config.width, config.kv_heads * self.head, bias=False)
        self.v_proj = nn.Linear(config.width, config.kv_heads * self.head, bias=False)
        self.o_proj = nn.Linear(config.heads * self.head, config.width, bias=False)

    def forward(
        self,
        x: torch.Tensor,
        rotation: tuple[torch.Tensor, torch.Tensor],
        positions: torch.Tensor,
        cache: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> torch.Tensor:
        q, k, v = (
            project(x).unflatten(-1, (-1, self.head)).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = rotated(q, *rotation), rotated(k, *rotation)
        if cache is None:
            attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            keys, values = cache[0].index_copy_(2, positions, k), cache[1].index_copy_(2, positions, v)
            seen = torch.arange(keys.shape[2], device=x.device) <= positions[:, None]
            attended = nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=seen, enable_gqa=True)
        return self.o_proj(attended.transpose(1, 2).flatten(2))


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding: each pair of features turned by an angle that grows with the position."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class SwiGLU(nn.Module):
    """The feed-forward part of a layer."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.width, config.hidden, bias=False)
        self.up_proj = nn.Linear(config.width, config.hidden, bias=False)
        self.down_proj = nn.Linear(config.hidden, config.width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Attention and feed-forward, each with a norm before it and a sum behind it."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.input_norm, self.attention = nn.RMSNorm(config.width), Attention(config)
        self.output_norm, self.mlp = nn.RMSNorm(config.width), SwiGLU(config)

    def forward(
        self,
        x: torch.Tensor,
        rotation: tuple[torch.Tensor, torch.Tensor],
        positions: torch.Tensor,
        cache: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> torch.Tensor:
        x = x + self.attention(self.input_norm(x), rotation, positions, cache)
        return x + self.mlp(self.output_norm(x))


class Llama(nn.Module):
    """A causal language model of bytes."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        head = config.width // config.heads
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.width)
        self.lm_head = nn.Linear(config.width, config.vocabulary, bias=False)
        angles = torch.outer(torch.arange(config.length), 10_000.0 ** (-torch.arange(0, head, 2) / head))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens: torch.Tensor, positions: torch.Tensor, cache: Cache | None = None) -> torch.Tensor:
        """Logits (batch, length, vocabulary) of tokens (batch, length) at positions (length,); the cache is written."""
        rotation = self.cos[positions], self.sin[positions]
        x = self.embedding(tokens)
        for layer, kept in zip(self.layers, cache or [None] * len(self.layers), strict=True):
            x = layer(x, rotation, positions, kept)
        return self.lm_head(self.norm(x))


def mesh_of(layout: str, devices: int) -> Mesh:
    """The first devices as ("data", "model")."""
    model = LAYOUTS[layout][1](devices)
    return jax.make_mesh((devices // model, model), ("data", "model"), devices=jax.devices()[:devices])


def made(layout: str, mesh: Mesh) -> tuple[nn.Module, torch.optim.Optimizer]:
    """A model whose constructor runs as one program that leaves each device its shards, and its optimizer."""
    torch.manual_seed(0)
    model = initialize(lambda: Llama(Config()), LAYOUTS[layout][0], mesh)
    # Splits activations by the batch, from the embedding on. Otherwise XLA splits them by features, as that weight is
    # split, and sums whole activations instead of gathering weights.
    model.embedding.register_forward_hook(lambda module, inputs, x: tenax.shard(x, P("data"), mesh))
    return model, torch.optim.AdamW(model.parameters(), lr=3e-3)


def trainer(model: nn.Module, optimizer: torch.optim.Optimizer) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The training step, compiled."""

    @tenax.jit
    def step(tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        logits = model(tokens, torch.arange(WINDOW, device=tokens.device))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


def batches(first: int, last: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The batches of the steps from first to last: windows of the text, and the bytes that follow each of theirs."""
    text = torch.frombuffer(bytearray("\n".join(topics.values()), "utf-8"), dtype=torch.uint8)
    for i in range(first, last):
        starts = torch.randint(len(text) - WINDOW, (BATCH, 1), generator=torch.Generator().manual_seed(i))
        windows = text[starts + torch.arange(WINDOW + 1)].long()
        yield windows[:, :-1], windows[:, 1:]


def train(step: Callable[..., torch.Tensor], mesh: Mesh, first: int, last: int) -> list[float]:
    """Losses of the steps from first to last."""
    loader = tenax.data.to_device(batches(first, last), NamedSharding(mesh, P("data")))
    return [step(tokens, targets).item() for tokens, targets in loader]


@torch.no_grad()
def generate(model: nn.Module, mesh: Mesh, prompt: str, count: int, copies: int = 4) -> tuple[list[str], Cache]:
    """Copies of a prompt, each continued by `count` bytes, and the cache, split by sequences and heads."""
    config = Config()
    shape = copies, config.kv_heads, config.length, config.width // config.heads

    def empty() -> torch.Tensor:
        return tenax.shard(torch.zeros(shape), P("data", "model"), mesh)

    cache = [(empty(), empty()) for _ in range(config.layers)]

    @tenax.jit
    def following(tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        logits = model(tokens, positions, cache)[:, -1]
        return torch.multinomial(nn.functional.softmax(logits / 0.5, dim=-1), 1)

    tokens = torch.tensor([list(prompt.encode())] * copies, device="jax")
    positions = torch.arange(tokens.shape[1], device="jax")
    written = [tokens]
    for _ in range(count):  # two programs: one of the prompt, one of a single byte
        tokens = following(tokens, positions)
        positions = positions[-1:] + 1
        written.append(tokens)
    return [bytes(row).decode(errors="replace") for row in torch.cat(written, dim=1).tolist()], cache


def print_collectives(step: Callable[..., torch.Tensor]) -> None:
    """How often each collective runs in a step, how many bytes it leaves on each device, and a module that needs it."""
    (program,) = tenax.explain(step).programs
    found = defaultdict(list)
    for collective in program.collectives:
        found[collective.kind].append(collective)
    for kind, group in sorted(found.items()):
        scopes = [c.scope for c in group if c.scope.startswith("model.")]
        where = f", such as in {scopes[len(scopes) // 2]}" if scopes else ""
        print(f"  {kind:18} {len(group):3} times, {sum(c.bytes for c in group):9,} bytes{where}")


def main() -> None:
    """Train, save, resume on fewer devices, generate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200, help="at least 2; saved after half of them")
    parser.add_argument("--layout", choices=LAYOUTS, default="both")
    parser.add_argument("--bytes", type=int, default=100, help="to generate, at most 110")
    options = parser.parse_args()
    if options.steps < 2 or options.bytes > 110:
        parser.error("expected --steps of at least 2, and --bytes of at most 110")
    if jax.device_count() < 8:
        raise SystemExit(
            f"{jax.device_count()} devices; expected 8: set XLA_FLAGS=--xla_force_host_platform_device_count=8"
        )
    half = options.steps // 2

    mesh = mesh_of(options.layout, 8)
    model, optimizer = made(options.layout, mesh)
    count = sum(p.numel() for p in model.parameters())
    weight = "layers.0.mlp.up_proj.weight"
    print(f"{count:,} parameters on {dict(mesh.shape)}; {weight}:")
    tenax.visualize_sharding(model.get_parameter(weight))

    step = trainer(model, optimizer)
    losses = train(step, mesh, 0, half)
    print("collectives of a training step:")
    print_collectives(step)
    for i in range(0, half, max(1, half // 5)):
        print(f"step {i:4} on 8 devices: loss {losses[i]:.4f}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "llama"
        checkpoint.save(path, {"model": model, "optimizer": optimizer, "step": half})
        fewer = mesh_of(options.layout, 4)
        resumed, its_optimizer = made(options.layout, fewer)
        first = checkpoint.load(path, {"model": resumed, "optimizer": its_optimizer})["step"]
    print(f"saved after {half} steps; both go on, the second from the checkpoint on {dict(fewer.shape)}")
    losses = train(step, mesh, first, options.steps)
    again = train(trainer(resumed, its_optimizer), fewer, first, options.steps)
    shown = sorted({*range(0, len(again), max(1, len(again) // 5)), len(again) - 1})
    for i in shown:
        print(f"step {first + i:4} on 8 devices: loss {losses[i]:.4f}, on 4 devices: loss {again[i]:.4f}")

    texts, cache = generate(resumed, fewer, "The following ", options.bytes)
    print(
        f"a cache of keys {[*cache[0][0].shape]} lies by {tenax.sharding_of(cache[0][0]).spec} on {dict(fewer.shape)}"
    )
    for text in texts:
        print(f"  {text!r}")


if __name__ == "__main__":
    main()

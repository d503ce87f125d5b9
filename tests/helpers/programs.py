"""Ordinary PyTorch programs, each a function of the device that trains a little and returns its losses.

Everything random is drawn on the CPU, so that a run on another device must give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 (torch's own idiom)
from torch import nn
from torch.distributions import Bernoulli, Normal, kl_divergence
from torch.utils.checkpoint import checkpoint

from tests.helpers.training import train

Losses = list[float]
PROGRAMS: dict[str, Callable[[str, int], Losses]] = {}


def program(function: Callable[[str, int], Losses]) -> Callable[[str, int], Losses]:
    """List a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


def losses_of(
    model: nn.Module, device: str, steps: int, loss: Callable, optimizer: Callable, clip: float = 0
) -> Losses:
    """Those of training a model on the device; `loss(model)` makes its own batch."""
    return [value.item() for value in train(model.to(device), optimizer, loss, steps=steps, clip=clip)]


@program
def mlp(device, steps):
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 3))
    x, y = torch.randn(16, 8).to(device), torch.randint(0, 3, (16,)).to(device)
    sgd = lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3)  # noqa: E731
    return losses_of(model, device, steps, lambda m: F.cross_entropy(m(x), y, label_smoothing=0.1), sgd)


class Block(nn.Module):
    """A residual block of ResNet-18."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.na, self.nb = nn.BatchNorm2d(outer), nn.BatchNorm2d(outer)
        self.skip = nn.Identity()
        if stride > 1 or inner != outer:
            self.skip = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        y = F.relu(self.na(self.a(x)), inplace=True)
        return F.relu(self.nb(self.b(y)) + self.skip(x))


@program
def resnet18(device, steps):
    widths = [8, 16, 24, 32]
    layers = [nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    for before, width in zip([8, *widths], widths, strict=False):
        layers += [Block(before, width, 1 if width == 8 else 2), Block(width, width, 1)]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5))
    x, y = torch.randn(8, 3, 64, 64).to(device), torch.randint(0, 5, (8,)).to(device)
    # Larger steps on smaller batches are chaotic: rounding alone then moves the loss by a tenth.
    sgd = lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9)  # noqa: E731
    return losses_of(model, device, steps, lambda m: F.cross_entropy(m(x), y), sgd)


class Attention(nn.Module):
    """A pre-norm transformer block with causal attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (h.view(b, t, self.heads, -1).transpose(1, 2) for h in self.qkv(self.n1(x)).split(c, dim=2))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).contiguous().view(b, t, c))
        return x + self.mlp(self.n2(x))


class GPT(nn.Module):
    """A small GPT with tied embeddings; `remat` checkpoints each block."""

    def __init__(self, layers: int = 4, width: int = 32, vocabulary: int = 50, remat: bool = False) -> None:
        super().__init__()
        self.remat = remat
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(16, width)
        self.blocks = nn.ModuleList(Attention(width, 4) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.size(1), device=ids.device))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.remat else block(x)
        return self.head(self.norm(x))


def _gpt(device, steps, **options):
    model = GPT(**options)
    ids = torch.randint(0, 50, (4, 17)).to(device)

    def loss(m):
        return F.cross_entropy(m(ids[:, :-1]).flatten(0, 1), ids[:, 1:].reshape(-1))

    return losses_of(model, device, steps, loss, lambda p: torch.optim.AdamW(p, lr=1e-3), clip=1.0)


@program
def gpt(device, steps):
    return _gpt(device, steps)


@program
def gpt_with_checkpointing(device, steps):
    return _gpt(device, steps, layers=2, remat=True)


def _recurrent(kind, device, steps):
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = kind(5, 12, num_layers=2, batch_first=True, bidirectional=True)
            self.head = nn.Linear(24, 3)

        def forward(self, x):
            return self.head(self.rnn(x)[0])

    x, y = torch.randn(3, 7, 5).to(device), torch.randint(0, 3, (21,)).to(device)
    adam = lambda p: torch.optim.Adam(p, lr=1e-2)  # noqa: E731
    return losses_of(Tagger(), device, steps, lambda m: F.cross_entropy(m(x).flatten(0, 1), y), adam)


@program
def lstm(device, steps):
    return _recurrent(nn.LSTM, device, steps)


@program
def gru(device, steps):
    return _recurrent(nn.GRU, device, steps)


@program
def encoder_with_masks(device, steps):
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.cross = nn.MultiheadAttention(16, 4, batch_first=True)
            self.head = nn.Linear(16, 2)

        def forward(self, x, padding):
            causal = nn.Transformer.generate_square_subsequent_mask(x.size(1), device=x.device)
            h = self.encoder(x, mask=causal, src_key_padding_mask=padding, is_causal=True)
            h, weights = self.cross(h, x, x, key_padding_mask=padding)
            return self.head(h.mean(1)) + weights.sum() * 0.01

    x, y = torch.randn(3, 6, 16).to(device), torch.tensor([0, 1, 1]).to(device)
    lengths = torch.tensor([6, 4, 5])
    padding = (
        (torch.arange(6)[None] >= lengths[:, None]).float().masked_fill(torch.arange(6)[None] >= lengths[:, None], -1e9)
    )
    padding = padding.to(device)
    adam = lambda p: torch.optim.Adam(p, lr=1e-3)  # noqa: E731
    return losses_of(Classifier(), device, steps, lambda m: F.cross_entropy(m(x, padding), y), adam)


@program
def vae(device, steps):
    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = nn.Linear(20, 8), nn.Linear(4, 20)

        def forward(self, x, noise):
            mean, log_scale = self.encoder(x).chunk(2, -1)
            posterior = Normal(mean, log_scale.exp())
            z = posterior.loc + posterior.scale * noise
            prior = Normal(torch.zeros_like(mean), torch.ones_like(mean))
            likelihood = Bernoulli(logits=self.decoder(z)).log_prob(x).sum(-1)
            return (kl_divergence(posterior, prior).sum(-1) - likelihood).mean()

    x = (torch.rand(8, 20) > 0.5).float().to(device)
    generator = torch.Generator().manual_seed(1)
    loss = lambda m: m(x, torch.randn(8, 4, generator=generator).to(device))  # noqa: E731
    return losses_of(VAE(), device, steps, loss, lambda p: torch.optim.Adam(p, lr=1e-2))


def _networks(device):
    generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 6), nn.Tanh()).to(device)
    critic = nn.Sequential(nn.Linear(6, 16), nn.Softplus(), nn.Linear(16, 1)).to(device)
    return generator, critic


@program
def gan(device, steps):
    source = torch.Generator().manual_seed(2)
    generator, critic = _networks(device)
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.99))
    opt_d = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
    losses = []
    for _ in range(steps):
        real = torch.randn(8, 6, generator=source).to(device)
        fake = generator(torch.randn(8, 4, generator=source).to(device))
        ones, zeros = torch.ones(8, 1, device=device), torch.zeros(8, 1, device=device)
        bce = F.binary_cross_entropy_with_logits
        d_loss = bce(critic(real), ones) + bce(critic(fake.detach()), zeros)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = bce(critic(fake), ones)
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        losses += [d_loss.item(), g_loss.item()]
    return losses


@program
def wgan_gp(device, steps):
    source = torch.Generator().manual_seed(3)
    generator, critic = _networks(device)
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    losses = []
    for _ in range(steps):
        real = torch.randn(8, 6, generator=source).to(device)
        with torch.no_grad():
            fake = generator(torch.randn(8, 4, generator=source).to(device))
        mix = torch.rand(8, 1, generator=source).to(device)
        between = (mix * real + (1 - mix) * fake).requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        penalty = (slope.norm(2, dim=1) - 1).square().mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class Swish(torch.autograd.Function):
    """x * sigmoid(x), with a backward that can itself be differentiated."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return gradient * (s + x * s * (1 - s))


@program
def custom_function(device, steps):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(5, 9), nn.Linear(9, 1)

        def forward(self, x):
            return self.b(Swish.apply(self.a(x)))

    x = torch.randn(6, 5).to(device)
    return losses_of(Net(), device, steps, lambda m: m(x).square().mean(), lambda p: torch.optim.Adagrad(p, lr=0.1))


@program
def autocast_bfloat16(device, steps):
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 4))
    x, y = torch.randn(16, 8).to(device), torch.randint(0, 4, (16,)).to(device)

    def loss(m):
        with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
            logits = m(x)
            assert logits.dtype == torch.bfloat16
        return F.cross_entropy(logits.float(), y)

    return losses_of(model, device, steps, loss, lambda p: torch.optim.SGD(p, lr=0.05))


@program
def scheduled_with_hooks_and_accumulation(device, steps):
    model = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.0), nn.Linear(6, 2)).to(device)
    seen = []
    model[0].register_forward_hook(lambda m, i, o: o * 1.5)
    model[2].weight.register_hook(lambda g: g * 0.5)
    model[2].register_full_backward_hook(lambda m, gi, go: seen.append(go[0].shape))
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    x = torch.randn(4, 6).to(device)
    losses = []
    for step in range(steps):
        loss = model(x).logsumexp(-1).mean()
        loss.backward()
        if step % 2:
            optimizer.step()
            optimizer.zero_grad(set_to_none=step % 4 == 1)
            scheduler.step()
        losses.append(loss.item())
    assert len(seen) == steps
    return losses


@program
def functional_transforms(device, steps):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(device)
    parameters = {k: v.detach() for k, v in model.named_parameters()}
    x = torch.randn(5, 3).to(device)

    def loss(p, sample):
        return torch.func.functional_call(model, p, (sample,)).square().sum()

    losses = []
    for _ in range(steps):
        per_sample = torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, x)
        parameters = {k: p - 0.05 * per_sample[k].mean(0) for k, p in parameters.items()}
        losses.append(torch.func.vmap(loss, (None, 0))(parameters, x).mean().item())
    f = lambda s: torch.func.functional_call(model, parameters, (s,))  # noqa: E731
    jacobian = torch.func.jacrev(f)(x[0])
    _, tangent = torch.func.jvp(f, (x[0],), (torch.ones_like(x[0]),))
    hessian = torch.func.hessian(lambda s: f(s).sum())(x[0])
    forward = torch.func.jacfwd(f)(x[0])
    return [*losses, jacobian.sum().item(), tangent.sum().item(), hessian.sum().item(), forward.sum().item()]

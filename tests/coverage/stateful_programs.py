"""Random training programs as text: what each sets up, the lines of its step, and what changes between the calls."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .mutation import without_one

CALLS = 4

SETUP = """
import collections, functools, types
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    factor = 1.0
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
        self.layers = nn.ModuleList([nn.Linear(3, 3)])
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(3))
        self.steps, self.act, self.cache, self.options = 0, torch.tanh, {}, {"gain": 1.0, "skip": False}
        with torch.no_grad():
            for n, p in enumerate(self.parameters()):
                p.copy_(((torch.arange(p.numel()) * 7 + n) % 11 - 5).view(p.shape) / 10)
    def rate(self):
        return self.factor * 1.0
    def forward(self, x):
        x = self.act(self.a(x)) * self.scale * self.rate()
        for layer in self.layers:
            x = layer(x)
        if self.options["skip"]:
            return x
        return self.b(x) * self.options["gain"]

class Child(Net):
    def rate(self):
        return super().rate() * 0.5

m = Net()
m = m.to(d)
x = (torch.arange(6.0).view(2, 3) / 5 - 0.5).to(d)
w = torch.ones(3, device=d)
k = 2.0
log, seen, held, queue = [], {}, [torch.ones(3, device=d), torch.zeros(3, device=d)], collections.deque([1.0, 2.0])
config = types.SimpleNamespace(gain=1.0, flag=False)
handles = []
def add_mean(module, args, out):
    module.mean.add_(out.detach().mean(0))
def double(module, args, out):
    return out * 2
def shift(module, args):
    return (args[0] + 1,)
def clip(grad):
    return grad.clamp(-0.1, 0.1)
def closed():
    local = 3.0
    def inner(t):
        return t * local
    return inner
fn = closed()
clip_norm = nn.utils.clip_grad_norm_
def gradient_sum(y):
    leaves = [p for p in m.parameters() if p.requires_grad]
    found = torch.autograd.grad(y.sum(), leaves, allow_unused=True)
    return sum(g.sum() for g in found if g is not None)
partial = functools.partial(torch.mul, other=2.0)
def optional(t, gain=1.0, *, bias=0.0):
    return t * gain + bias
"""

# foreach is the default on the device and not on the CPU; where parameters share memory the two compute differently.
OPTIMIZERS = (
    "opt = torch.optim.SGD(m.parameters(), lr=0.1, foreach=True)",
    "opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01, foreach=True)",
    "opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.5, nesterov=True, foreach=False)",
    "opt = torch.optim.AdamW(m.parameters(), lr=0.01, foreach=True)",
    "opt = torch.optim.Adam([dict(params=m.a.parameters(), lr=0.02), dict(params=m.b.parameters())], foreach=True)",
    "opt = torch.optim.RMSprop(m.parameters(), lr=0.01, foreach=True)",
)
OTHERS = (
    "m.b.weight = m.a.weight",
    "m.layers[0] = m.a",
    "m.a.bias = None",
    "m.b.requires_grad_(False)",
    "m.__class__ = Child",
    "m.mean = m.b.bias.detach()",
    "m.b.weight.data = m.a.weight.data",
    "m.b.bias.data = m.b.weight.data[0]",
    "m.a.weight.data = m.a.weight.data.t()",
    "handles.append(m.a.register_forward_hook(add_mean))"
    if False
    else "handles.append(m.b.register_forward_hook(double))",
    "handles.append(m.scale.register_hook(clip))",
    "handles.append(m.register_forward_pre_hook(shift))",
    "queue.append(w)",
    "seen['w'] = m.a.weight",
    "m.cache['w'] = w",
    "m.a.register_buffer('count', m.count)",
    "held.append(held[0][1:])",
    "x = x.t().contiguous().t()",
)
# Lines of `step`; each leaves `y` a tensor of shape (n, 3).
BODY = (
    "y = m(y)",
    "y = m(y)",
    "y = m.a(y)",
    "y = F.relu(m.b(y))",
    "y = y * k",
    "y = y + w",
    "y = fn(y)",
    "y = partial(y)",
    "y = optional(y)",
    "y = y * config.gain",
    "y = -y if config.flag else y",
    "y = y * m.factor",
    "y = y + held[0]",
    "y = y + sum(held[:2])",
    "y = y * queue[0]",
    "y = y + m.mean",
    "y = y * len(log)",
    "y = y + (1 if 'h' in seen else 0)",
    "y = y + seen.get('h', 0)",
    "y = y if m.scale.grad is None else y * 2",
    "y = y * 2 if m.training else y",
    "y = y * 2 if m.a.weight.requires_grad else y",
    "y = y + m.cache.setdefault('c', torch.ones(3, device=d))",
    "y = y.detach() if k > 2 else y",
    "y = y * sum(p.numel() for p in m.parameters())",
    "y = y + 0.05 * sum(p.sum() for p in m.parameters())",
    "y = y + x.stride(0)",
    "m.steps += 1",
    "m.count.add_(1)",
    "m.count += 1",
    "m.mean = m.mean * 0.5",
    "m.mean.data = m.mean + 1",
    "with torch.no_grad(): m.a.weight.mul_(0.9)",
    "with torch.no_grad(): m.b.bias.copy_(m.a.bias if m.a.bias is not None else m.b.bias + 1)",
    "m.scale.data = m.scale.data * 0.5",
    "m.scale.data.mul_(0.5)",
    "m.a.weight, m.b.weight = m.b.weight, m.a.weight",
    "m.b.weight = nn.Parameter(m.b.weight.detach() * 0.5)",
    "m.a.requires_grad_(not m.a.weight.requires_grad) if not y.requires_grad else None",
    "m.train(not m.training)",
    "m.options['gain'] = m.options['gain'] * 0.5",
    "m.cache['y'] = y.detach()",
    "m.last = y.detach()",
    "log.append(k)",
    "log.append(y.detach().sum())",
    "seen['h'] = y.detach().mean(0)",
    "seen['n'] = seen.get('n', 0) + 1",
    "seen.pop('h', None)",
    "held[0] = held[0] + 1",
    "held[0].add_(1)",
    "held[0], held[1] = held[1], held[0]",
    "held.append(y.detach()[0])",
    "held[-1].mul_(0.5)",
    "queue.append(queue.popleft())",
    "config.gain = config.gain * 1.5",
    "Net.factor = Net.factor * 1.25",
    "w.mul_(1.5)",
    "w.data = w * 2",
    "global_k(k + 1)",
    "handles.append(m.a.register_forward_hook(double)) if len(handles) < 2 else None",
    "handles.pop().remove() if handles else None",
    "opt.param_groups[0]['lr'] *= 0.5",
    "x.mul_(0.5)",
    "m.zero_grad()",
    "if y.requires_grad: y.square().mean().backward(); opt.step(); opt.zero_grad()",
    "if y.requires_grad: y.square().mean().backward(); opt.step(); opt.zero_grad(set_to_none=False)",
    "if y.requires_grad: opt.zero_grad(); y.square().mean().backward(); clip_norm(m.parameters(), 1.0); opt.step()",
    "if y.requires_grad: y.square().mean().backward(); y = y.detach()",
    "y = y.detach() + gradient_sum(y) if y.requires_grad else y",
)
CHANGES = (
    "k = {n}.0",
    "w = torch.full((3,), {n}.0, device=d)",
    "w.fill_({n})",
    "w.data = torch.arange(6.0, device=d)[::2]",
    "fn.__closure__[0].cell_contents = {n}.0",
    "fn = lambda t: t + {n}",
    "partial.keywords['other'] = {n}.0",
    "partial = functools.partial(torch.add, other={n}.0)",
    "optional.__defaults__ = ({n}.0,)",
    "optional.__kwdefaults__['bias'] = {n}.0",
    "config.gain = {n}.0",
    "config.flag = not config.flag",
    "config = types.SimpleNamespace(gain={n}.0, flag=True)",
    "Net.factor = {n}.0",
    "m.factor = {n}.0",
    "Net.rate = lambda self: {n}.0",
    "m.rate = lambda: {n}.0",
    "m.__class__ = Child if type(m) is Net else Net",
    "m.act = torch.relu",
    "m.act = lambda t: t * {n}",
    "m.options['gain'] = {n}.0",
    "m.options = dict(gain={n}.0, skip=True)",
    "m.options['skip'] = not m.options['skip']",
    "m.train(not m.training)",
    "m.a.bias = None",
    "m.a.bias = nn.Parameter(torch.full((3,), {n}.0, device=d))",
    "m.a = nn.Linear(3, 3, bias=False, device=d); m.a.weight.data.fill_(0.{n})",
    "m.a.weight = m.b.weight",
    "m.b.weight.data = m.a.weight.data",
    "m.b.weight.data = m.b.weight.data.clone()",
    "m.a.weight.data = m.a.weight.data.t()",
    "m.a.weight.data = torch.stack([m.a.weight.data] * 2)[1]",
    "m.scale.data = torch.full((3,), 0.{n}, device=d)",
    "m.scale = nn.Parameter(torch.full((3,), 0.{n}, device=d))",
    "m.mean = torch.full((3,), {n}.0, device=d)",
    "m.mean.fill_({n})",
    "m.mean = held[0]",
    "m.count = torch.ones((), device=d)",
    "m.a.requires_grad_(not m.a.weight.requires_grad)",
    "m.requires_grad_(False)",
    "m.scale.requires_grad_(not m.scale.requires_grad)",
    "m.layers.append(nn.Linear(3, 3, bias=False, device=d)); m.layers[-1].weight.data.fill_(0.{n})",
    "m.layers.append(m.a)",
    "m.layers[0] = m.b",
    "m.layers = nn.ModuleList([m.b, m.a])",
    "del m.layers[0]",
    "m.zero_grad()",
    "m.scale.grad = torch.ones(3, device=d)",
    "m.scale.grad = None",
    "[p.grad.mul_(2) for p in m.parameters() if p.grad is not None]",
    "handles.append(m.a.register_forward_hook(double))",
    "handles.append(m.a.register_forward_hook(add_mean))",
    "handles.append(m.a.register_forward_hook(double, prepend=True))",
    "handles.append(m.register_forward_pre_hook(shift))",
    "handles.append(m.scale.register_hook(clip)) if m.scale.requires_grad else None",
    "handles.append(m.register_full_backward_hook(lambda module, gi, go: None))",
    "handles.pop().remove() if handles else None",
    "handles.pop(0).remove() if handles else None",
    "opt.param_groups[0]['lr'] = 0.0{n}",
    "opt.param_groups[0]['weight_decay'] = 0.{n}",
    "opt.param_groups[0]['momentum'] = 0.{n}",
    "opt.state.clear()",
    "opt.load_state_dict(opt.state_dict())",
    "opt.add_param_group({{'params': [nn.Parameter(torch.ones(3, device=d))]}})",
    "m.load_state_dict({{n: v * 0.5 for n, v in m.state_dict().items()}}, strict=False)",
    "held[0] = torch.full((3,), {n}.0, device=d)",
    "held[0].fill_({n})",
    "held[0].resize_(1, 3)",
    "held[:] = [torch.ones(3, device=d)] * 2",
    "held.reverse()",
    "queue[0] = {n}.0",
    "queue.rotate(1)",
    "log.clear()",
    "log = [1, 2]",
    "seen.clear()",
    "seen['h'] = torch.full((3,), {n}.0, device=d)",
    "seen = {{'h': {n}.0}}",
    "m.cache.clear()",
    "m.cache['c'] = torch.full((3,), {n}.0, device=d)",
    "x = torch.full((4, 3), 0.{n}, device=d)",
    "x = x.detach().clone().requires_grad_()",
    "x = x.detach().t().contiguous().t()",
    "x = x.detach().expand(2, 3).clone() if x.shape[0] == 1 else x.detach()[:1]",
    "m.to(torch.float64); m.to(torch.float32)",
    "m.half().float()",
    "m.steps = {n}",
    "m.extra = {n}",
    "m.register_buffer('other', torch.ones(3, device=d))",
    "m.eval()",
    "F_relu = F.relu; F.relu = torch.sigmoid",
)
END = "if 'F_relu' in globals(): F.relu = F_relu"


@dataclass(frozen=True)
class Program:
    """What a program sets up, what its step does, and what changes before each later call."""

    setup: tuple[str, ...]
    body: tuple[str, ...]
    changes: tuple[tuple[str, ...], ...]
    grows: bool = False  # whether the step returns what requires a gradient, and the caller differentiates it

    def shorter(self) -> Iterator[Program]:
        """The program less one thing."""
        for changes in without_one(self.changes):
            yield replace(self, changes=changes)
        for i in reversed(range(len(self.body))):
            yield replace(self, body=(*self.body[:i], *self.body[i + 1 :]))
        for i in range(len(self.setup) - 1):
            yield replace(self, setup=(*self.setup[:i], *self.setup[i + 1 :]))
        if self.grows:
            yield replace(self, grows=False)

    @property
    def source(self) -> str:
        """The step."""
        lines = ["def step(x):", "    y = x", *[f"    {line}" for line in self.body]]
        return "\n".join([*lines, f"    return {'y' if self.grows else 'y.detach()'}", ""])

    def __str__(self) -> str:
        changes = [f"# then: {'; '.join(lines) or 'nothing'}" for lines in self.changes]
        return "\n".join([*self.setup, self.source, *changes])


def random_program(rng: random.Random) -> Program:
    """A program, which need not run."""
    setup = (*rng.sample(OTHERS, rng.randint(0, 2)), rng.choice(OPTIMIZERS))
    body = tuple(rng.choice(BODY) for _ in range(rng.randint(2, 5)))
    changes = tuple(
        tuple(rng.choice(CHANGES).format(n=rng.randint(1, 4)) for _ in range(rng.randint(0, 2)))
        for _ in range(CALLS - 1)
    )
    return Program(setup, body, changes, grows=rng.random() < 0.3)

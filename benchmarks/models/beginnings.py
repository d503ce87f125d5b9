"""Programs of which the first run is measured: each function makes one, on a device, and gives what runs it once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 (as everybody writes it)
from torch import nn

from .densenet import DenseNet
from .gpt import GPT
from .resnet import ResNet
from .training import finished, train_step

Run = Callable[[], Any]


def _training(module: nn.Module, optimizer: Any, x: torch.Tensor, classes: int, device: str, compiler: Any) -> Run:
    module = module.to(device)
    step = compiler(train_step(module, optimizer(module.parameters())))
    x, target = x.to(device), torch.randint(classes, (len(x),)).to(device)
    return finished(lambda: step(x, target).item(), device)


def resnet(device: str, compiler: Any) -> Run:
    """A training step of ResNet-18, SGD with momentum."""
    module = ResNet(64, 1000)
    return _training(module, lambda p: torch.optim.SGD(p, 0.1, 0.9), torch.randn(4, 3, 96, 96), 1000, device, compiler)


def densenet(device: str, compiler: Any) -> Run:
    """A training step of DenseNet-121, SGD with momentum."""
    x = torch.randn(2, 3, 96, 96)
    return _training(DenseNet(), lambda p: torch.optim.SGD(p, 0.1, 0.9), x, 1000, device, compiler)


def bert(device: str, compiler: Any) -> Run:
    """A training step of a BERT of 4 layers from transformers, AdamW."""
    from transformers import BertConfig, BertForSequenceClassification

    sizes = {"num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024}
    module = BertForSequenceClassification(BertConfig(vocab_size=8000, num_labels=3, **sizes)).to(device)
    return _language(module, torch.randint(8000, (4, 64)), torch.randint(3, (4,)), device, compiler)


def gpt2(device: str, compiler: Any) -> Run:
    """A training step of a GPT-2 of 12 layers from transformers, AdamW."""
    from transformers import GPT2Config, GPT2LMHeadModel

    module = GPT2LMHeadModel(GPT2Config(vocab_size=8000, n_embd=256, n_head=4, n_layer=12)).to(device)
    x = torch.randint(8000, (2, 64))
    return _language(module, x, x, device, compiler)


def _language(module: nn.Module, x: torch.Tensor, labels: torch.Tensor, device: str, compiler: Any) -> Run:
    optimizer = torch.optim.AdamW(module.parameters(), 1e-3)
    x, labels = x.to(device), labels.to(device)

    @compiler
    def step(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        loss = module(input_ids=x, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return finished(lambda: step(x, labels).item(), device)


def nano_gpt(device: str, compiler: Any) -> Run:
    """20 tokens by a GPT of 4 layers that reads all tokens anew for each."""
    module = GPT(vocabulary=512, length=64, width=128, layers=4, heads=4).to(device).eval()

    @torch.no_grad()
    def generate() -> list[int]:
        tokens = torch.zeros(1, 4, dtype=torch.long, device=device)
        for _ in range(20):
            logits = module(tokens)[:, -1] / 0.8
            least, _ = torch.topk(logits, 50)
            logits[logits < least[:, [-1]]] = -float("inf")
            tokens = torch.cat([tokens, torch.multinomial(F.softmax(logits, -1), 1)], 1)
        return tokens[0].tolist()

    return generate


def transformers_generate(device: str, compiler: Any) -> Run:
    """12 tokens by `generate` of transformers, whose cache grows."""
    from transformers import GPT2Config, GPT2LMHeadModel

    module = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_embd=128, n_head=4, n_layer=4)).to(device).eval()
    x = torch.randint(1000, (1, 5)).to(device)
    options = {"max_new_tokens": 12, "do_sample": False, "pad_token_id": 0}
    return lambda: module.generate(x, attention_mask=torch.ones_like(x), **options)[0].tolist()


def metrics(device: str, compiler: Any) -> Run:
    """14 metrics of torchmetrics over one batch."""
    import torchmetrics as tm

    options = {"task": "multiclass", "num_classes": 5}
    names = ("Accuracy", "Precision", "Recall", "F1Score", "AUROC", "AveragePrecision", "CohenKappa", "ConfusionMatrix")
    classifying = tm.MetricCollection({n: getattr(tm, n)(**options) for n in names}).to(device)
    names = (
        "MeanSquaredError",
        "MeanAbsoluteError",
        "R2Score",
        "PearsonCorrCoef",
        "SpearmanCorrCoef",
        "ExplainedVariance",
    )
    comparing = tm.MetricCollection({n: getattr(tm, n)() for n in names}).to(device)
    scores, labels = torch.randn(64, 5).softmax(1).to(device), torch.randint(5, (64,)).to(device)
    x, y = torch.randn(64).to(device), torch.randn(64).to(device)

    def measure() -> list[float]:
        for collection in (classifying, comparing):
            collection.reset()
        classifying.update(scores, labels)
        comparing.update(x, y)
        return [float(v.sum()) for c in (classifying, comparing) for v in c.compute().values()]

    return measure


def private_epoch(device: str, compiler: Any) -> Run:
    """An epoch of 10 batches whose sizes are random, each with gradients per example, clipped, as DP-SGD has them."""
    module = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 3)).to(device)
    params = dict(module.named_parameters())
    data, labels = torch.randn(400, 20).to(device), torch.randint(3, (400,)).to(device)

    def loss(params: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(torch.func.functional_call(module, params, (x[None],)), y[None])

    per_example = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))

    def epoch() -> float:
        for _ in range(10):
            chosen = (torch.rand(400) < 0.1).nonzero()[:, 0].to(device)
            gradients = per_example({k: p.detach() for k, p in params.items()}, data[chosen], labels[chosen])
            norms = torch.stack([g.flatten(1).norm(dim=1) for g in gradients.values()]).norm(dim=0)
            scale = (1 / (norms + 1e-6)).clamp(max=1)
            with torch.no_grad():
                for name, g in gradients.items():
                    clipped = torch.einsum("i,i...->...", scale, g)
                    params[name] -= 0.01 * (clipped + torch.randn_like(clipped))
        return params["0.weight"].sum().item()

    return epoch


def graph_epoch(device: str, compiler: Any) -> Run:
    """An epoch of 10 batches of graphs, whose numbers of nodes and edges differ each time."""
    first, second, head = (nn.Linear(a, b).to(device) for a, b in ((16, 64), (64, 64), (64, 2)))
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters(), *head.parameters()], 0.01)

    def batches() -> Iterator[tuple[torch.Tensor, ...]]:
        for _ in range(10):
            sizes = torch.randint(5, 25, (8,))
            nodes, graph = int(sizes.sum()), torch.repeat_interleave(torch.arange(8), sizes)
            edges = torch.randint(nodes, (2, 3 * nodes + int(torch.randint(9, ()))))
            parts = (torch.randn(nodes, 16), edges, graph, torch.randint(2, (8,)))
            yield tuple(part.to(device) for part in parts)

    def epoch() -> float:
        total = torch.zeros((), device=device)
        for x, (source, target), graph, label in batches():
            for layer in (first, second):
                y = layer(x)
                x = F.relu(y + torch.zeros_like(y).index_add(0, target, y[source]))
            pooled = torch.zeros(8, 64, device=device).index_add(0, graph, x)
            loss = F.cross_entropy(head(pooled), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total.item()

    return epoch


COMPILED = {
    "training step, ResNet-18": resnet,
    "training step, DenseNet-121": densenet,
    "training step, BERT, 4 layers": bert,
    "training step, GPT-2, 12 layers": gpt2,
}
PROGRAMS = COMPILED | {
    "20 tokens, nanoGPT": nano_gpt,
    "12 tokens, transformers": transformers_generate,
    "14 metrics": metrics,
    "epoch of DP-SGD": private_epoch,
    "epoch of graphs": graph_epoch,
}

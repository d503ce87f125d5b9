"""`make ecosystem`: small programs of other libraries, each on the CPU and on the device, and a table of the results.

Each program runs in a process of its own (`python tests/ecosystem.py NAME`), from the same seed on both devices: its
parameters and data are made on the CPU and moved. A library that is not installed is a row that says so. `--only WORD`
selects rows. The exit status is 1 if a program fails or disagrees for a reason that no row explains.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

Run = Callable[[str], Any]
PROGRAMS: dict[str, Run] = {}
# What cannot work, with the reason.
EXPLAINED = {
    "safetensors": "load_file(device=) takes devices that its Rust code names: load on the CPU, then `.to('jax')`",
    "torchvision": "the wheels of the package index need CUDA's torch: install the build of the installed torch",
    "timm": "needs torchvision",
    "vit-pytorch": "needs torchvision",
}


def program(function: Run) -> Run:
    """Register a program under its library's name, with `-` for `_`."""
    PROGRAMS[function.__name__.replace("_", "-")] = function
    return function


def train(model: torch.nn.Module, loss: Callable[[torch.nn.Module], torch.Tensor], steps: int = 3) -> torch.Tensor:
    """The losses of a few steps of SGD."""
    optimizer = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.01)
    seen = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(model)
        value.backward()
        optimizer.step()
        seen.append(value.detach())
    return torch.stack(seen)


@program
def diffusers(device: str) -> Any:
    from diffusers import DDPMScheduler, UNet2DModel

    sizes = {"block_out_channels": (32, 32), "norm_num_groups": 8}
    blocks = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}
    model = UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, **sizes, **blocks).to(device)
    images, noise, times = torch.randn(2, 1, 8, 8), torch.randn(2, 1, 8, 8), torch.tensor([3, 500])
    images, noise, times = (x.to(device) for x in (images, noise, times))
    noisy = DDPMScheduler(num_train_timesteps=1000).add_noise(images, noise, times)
    return train(model, lambda m: (m(noisy, times).sample - noise).square().mean(), 2)


@program
def peft(device: str) -> Any:
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
    model: Any = LlamaForCausalLM(LlamaConfig(vocab_size=64, num_hidden_layers=1, **sizes))
    model = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "v_proj"], use_dora=True)).to(device)
    tokens = torch.randint(0, 64, (4, 16)).to(device)
    losses = train(model, lambda m: m(input_ids=tokens, labels=tokens).loss)
    return losses, model.merge_and_unload()(input_ids=tokens).logits


@program
def torch_geometric(device: str) -> Any:
    from torch_geometric.nn import GATConv, GCNConv, Sequential

    edges, nodes = torch.randint(0, 20, (2, 60)).to(device), torch.randn(20, 8).to(device)
    layers = [(GCNConv(8, 16), "x, e -> x"), torch.nn.ReLU(), (GATConv(16, 4, heads=2), "x, e -> x")]
    return train(Sequential("x, e", layers).to(device), lambda m: m(nodes, edges).square().mean())


@program
def gpytorch(device: str) -> Any:
    import gpytorch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x: Any, y: Any, likelihood: Any) -> None:
            super().__init__(x, y, likelihood)
            self.mean = gpytorch.means.ConstantMean()
            self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x: torch.Tensor) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))

    x = torch.linspace(0, 1, 20).to(device)
    y = torch.sin(6 * x)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(device)
    model = Model(x, y, likelihood).to(device).train()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    losses = train(model, lambda m: -objective(m(x), y))
    return losses, model.eval()(x[:5] + 0.02).mean


@program
def pyro_ppl(device: str) -> Any:
    import pyro
    import pyro.distributions as dist

    data = torch.randn(10).to(device) + 2

    def model() -> None:
        zero, one = torch.zeros((), device=device), torch.ones((), device=device)
        with pyro.plate("data", 10):
            pyro.sample("x", dist.Normal(pyro.sample("mean", dist.Normal(zero, one)), one), obs=data)

    trace = pyro.poutine.trace(pyro.poutine.condition(model, {"mean": torch.tensor(0.5).to(device)})).get_trace()
    return trace.log_prob_sum()


@program
def torchdiffeq(device: str) -> Any:
    from torchdiffeq import odeint_adjoint

    field = torch.nn.Linear(2, 2).to(device)

    class Field(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.field = field

        def forward(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return self.field(y).tanh()

    start, times = torch.ones(3, 2).to(device), torch.linspace(0, 1, 3).to(device)
    return train(Field(), lambda m: odeint_adjoint(m, start, times, method="rk4")[-1].square().mean(), 2)


@program
def opacus(device: str) -> Any:
    from opacus import GradSampleModule

    model = GradSampleModule(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2)))
    model.to(device)(torch.randn(4, 8).to(device)).sum().backward()
    return [p.grad_sample for p in model.parameters()]


@program
def captum(device: str) -> Any:
    from captum.attr import DeepLift, IntegratedGradients

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)).to(device)
    x = torch.randn(4, 8).to(device)
    return IntegratedGradients(model).attribute(x, target=1, n_steps=8), DeepLift(model).attribute(x, target=1)


@program
def torchmetrics(device: str) -> Any:
    from torchmetrics import MetricCollection
    from torchmetrics.classification import MulticlassAccuracy, MulticlassAUROC, MulticlassF1Score

    scores, labels = torch.randn(32, 4).softmax(1).to(device), torch.randint(0, 4, (32,)).to(device)
    metrics = MetricCollection([MulticlassAccuracy(4), MulticlassF1Score(4), MulticlassAUROC(4)]).to(device)
    metrics.update(scores, labels)
    return metrics.compute()


@program
def einops(device: str) -> Any:
    from einops import einsum, rearrange, reduce

    x = torch.randn(2, 6, 4).to(device)
    return (
        rearrange(x, "b (h c) w -> b h w c", h=2),
        reduce(x, "b h w -> b w", "max"),
        einsum(x, x, "b i w, b j w -> i j"),
    )


@program
def x_transformers(device: str) -> Any:
    from x_transformers import Decoder, TransformerWrapper

    layers = Decoder(dim=32, depth=2, heads=4, rotary_pos_emb=True, ff_swish=True, ff_glu=True)
    model = TransformerWrapper(num_tokens=64, max_seq_len=32, attn_layers=layers).to(device)
    tokens = torch.randint(0, 64, (2, 16)).to(device)
    return train(model, lambda m: m(tokens).square().mean(), 2)


@program
def vit_pytorch(device: str) -> Any:
    from vit_pytorch.na_vit_nested_tensor import NaViT

    sizes = {"dim": 32, "depth": 1, "heads": 2, "mlp_dim": 32, "dim_head": 16}
    model = NaViT(image_size=16, patch_size=4, num_classes=3, **sizes, token_dropout_prob=0.0).to(device)
    images = [torch.randn(3, 16, 16).to(device), torch.randn(3, 8, 16).to(device)]
    return train(model, lambda m: m(images).square().mean(), 2)


@program
def tensordict(device: str) -> Any:
    from tensordict import TensorDict
    from tensordict.nn import TensorDictModule

    data = TensorDict({"x": torch.randn(6, 4)}, batch_size=[6]).to(device)
    model = TensorDictModule(torch.nn.Linear(4, 2), in_keys=["x"], out_keys=["y"]).to(device)
    return model(data)["y"], data.cpu()["x"], torch.stack([data[:3], data[3:]])["x"]


@program
def safetensors(device: str) -> Any:
    import tempfile

    from safetensors.torch import load_file, save_file

    with tempfile.TemporaryDirectory() as folder:
        save_file({"a": torch.randn(3).to(device)}, f"{folder}/a.safetensors")
        return load_file(f"{folder}/a.safetensors", device=device)["a"]


@program
def sentence_transformers(device: str) -> Any:
    from sentence_transformers.util import cos_sim, mine_hard_negatives  # noqa: F401
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "num_hidden_layers": 1}
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = BertModel(BertConfig(vocab_size=64, **sizes, **dropout)).to(device)
    tokens = torch.randint(0, 64, (4, 8)).to(device)

    def loss(m: torch.nn.Module) -> torch.Tensor:
        vectors = m(tokens).last_hidden_state.mean(1)
        scores = cos_sim(vectors[:2], vectors[2:]) * 20
        return torch.nn.functional.cross_entropy(scores, torch.arange(2, device=device))

    return train(model, loss, 2)


@program
def torchvision(device: str) -> Any:
    from torchvision.ops import deform_conv2d, nms, roi_align

    corners = torch.rand(12, 2) * 20
    boxes, scores = torch.cat([corners, corners + 8], 1).to(device), torch.rand(12).to(device)
    images, weight, offset = torch.randn(1, 3, 16, 16), torch.randn(4, 3, 3, 3), torch.randn(1, 18, 14, 14)
    images, weight, offset = (x.to(device) for x in (images, weight, offset))
    regions = roi_align(images, [boxes / 2], 4)
    return nms(boxes, scores, 0.3), regions, deform_conv2d(images, offset, weight)


@program
def timm(device: str) -> Any:
    import timm

    model = timm.create_model("resnet10t", num_classes=4).to(device)
    images = torch.randn(2, 3, 64, 64).to(device)
    return train(model, lambda m: m(images).square().mean(), 2)


def difference(found: Any, expected: Any) -> float:
    """The largest error, relative to the largest value of each tensor.

    Raises:
        ValueError: shapes or dtypes differ, or a result is not on the device.
    """
    worst = 0.0
    flat = torch.utils._pytree.tree_leaves
    for x, y in zip(flat(found), flat(expected), strict=True):
        if x.shape != y.shape or x.dtype != y.dtype:
            raise ValueError(f"{tuple(x.shape)} {x.dtype}; expected {tuple(y.shape)} {y.dtype}")
        a, b = x.detach().cpu().double(), y.detach().double()
        if b.numel():
            worst = max(worst, float((a - b).abs().max() / b.abs().max().clamp(min=1e-6)))
    return worst


def one(name: str) -> None:
    """Run one program on both devices, and print the difference."""
    import tenax  # noqa: F401

    warnings.simplefilter("ignore")
    results = []
    for device in ("cpu", "jax"):
        torch.manual_seed(0)
        results.append(PROGRAMS[name](device))
    print(f"difference {difference(results[1], results[0]):.1e}")


def main() -> None:
    """Run every program, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="Select libraries whose names contain this text.")
    chosen = parser.parse_args().only
    table, failed = Table("library", "version", "result", "relative error", "s"), 0
    suites = {"accelerate": "accelerate", "lightning": "lightning", "transformers": "transformers"}
    for name in sorted([*PROGRAMS, *suites]):
        if chosen not in name:
            continue
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            table.add_row(name, "", EXPLAINED.get(name, "not installed"), "", "")
            continue
        started = time.perf_counter()
        command = [sys.executable, __file__, name]
        if name in suites:
            command = [sys.executable, "-m", "pytest", "-q", "tests/test_trainers.py", "-k", suites[name]]
        done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent.parent)
        last = (done.stdout if not done.returncode else done.stderr or done.stdout).strip().splitlines()[-1:]
        agrees = not done.returncode and (name in suites or float(last[0].split()[1]) < 1e-3)
        result = "agrees" if agrees else EXPLAINED.get(name) or f"FAILS: {' '.join(last)[:120]}"
        failed += not agrees and name not in EXPLAINED
        error = last[0].split()[1] if agrees and name not in suites else ""
        table.add_row(name, version, result, error, f"{time.perf_counter() - started:.0f}")
    Console().print(table)
    sys.exit(bool(failed))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    if len(sys.argv) == 2 and sys.argv[1] in PROGRAMS:
        one(sys.argv[1])
    else:
        main()

"""Small programs of libraries of layers, models and functions, each run on the CPU and on the device."""

from __future__ import annotations

from typing import Any

import torch

from tests.ecosystem.program import program, train


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

    from safetensors.torch import load_file, load_model, save_file

    model = torch.nn.Linear(3, 2).to(device)
    with tempfile.TemporaryDirectory() as folder:
        save_file({"weight": torch.randn(2, 3).to(device), "bias": torch.randn(2)}, f"{folder}/a.safetensors")
        load_model(model, f"{folder}/a.safetensors", device=device)
        loaded = load_file(f"{folder}/a.safetensors", device=device)
        assert loaded["bias"].device.type == device
        return loaded["weight"], model.weight


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

"""Programs on images in the manner of pytorch/examples, with data made here; noise is drawn on the CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from tests.ecosystem.program import classic, train


@classic("a convolutional network learns digits with Adadelta and a schedule")
def mnist_cnn(device: str) -> Any:
    convolutions = [nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    model = nn.Sequential(*convolutions, nn.Linear(16 * 64, 10), nn.LogSoftmax(1)).to(device)
    optimizer = torch.optim.Adadelta(model.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
    images, digits = torch.randn(16, 1, 20, 20).to(device), torch.arange(16).remainder(10).to(device)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = F.nll_loss(model(images), digits)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
    model.eval()
    with torch.no_grad():
        right = model(images).argmax(1).eq(digits).sum()
    return torch.stack(losses), right, model[0].weight.detach()


@classic("a recurrent network reads the rows of digits")
def mnist_rnn(device: str) -> Any:
    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rows, self.norm = nn.LSTM(14, 16, batch_first=True), nn.BatchNorm1d(16)
            self.out = nn.Linear(16, 10)

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return F.log_softmax(self.out(self.norm(self.rows(images)[0][:, -1])), 1)

    images, digits = torch.randn(8, 14, 14).to(device), torch.randint(0, 10, (8,)).to(device)
    return train(Reader().to(device), lambda m: F.nll_loss(m(images), digits))


@classic("each layer learns by itself to tell right labels from wrong ones (forward-forward)")
def forward_forward(device: str) -> Any:
    images, digits = torch.rand(16, 36).to(device), torch.randint(0, 10, (16,)).to(device)

    def labelled(labels: torch.Tensor) -> torch.Tensor:
        x = images.clone()
        x[:, :10] = 0
        x[torch.arange(16, device=device), labels] = x.max()
        return x

    right, wrong = labelled(digits), labelled((digits + 3) % 10)
    losses = []
    layers = [nn.Linear(36, 32).to(device), nn.Linear(32, 32).to(device)]
    for layer in layers:
        optimizer = torch.optim.Adam(layer.parameters(), lr=0.03)

        def forward(x: torch.Tensor, layer: nn.Linear = layer) -> torch.Tensor:
            return torch.relu(layer(x / (x.norm(2, 1, keepdim=True) + 1e-4)))

        for _ in range(3):
            goodness = [forward(x).square().mean(1) for x in (right, wrong)]
            loss = F.softplus(torch.cat([2 - goodness[0], goodness[1] - 2])).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        right, wrong = forward(right).detach(), forward(wrong).detach()
    return torch.stack(losses), [layer.weight.detach() for layer in layers]


@classic("a variational autoencoder learns with Adam")
def vae(device: str) -> Any:
    encode, decode = nn.Linear(64, 12).to(device), nn.Linear(6, 64).to(device)
    optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=0.01)
    images = torch.rand(8, 64).to(device)
    losses = []
    for _ in range(4):
        mean, variance = encode(images).tanh().chunk(2, 1)
        code = mean + torch.randn(8, 6).to(device) * (variance / 2).exp()
        error = F.binary_cross_entropy(decode(code).sigmoid(), images, reduction="sum")
        loss = error - 0.5 * (1 + variance - mean.square() - variance.exp()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses), encode.weight.detach()


@classic("a generator and a discriminator of convolutions compete (DCGAN)")
def dcgan(device: str) -> Any:
    up = [
        nn.ConvTranspose2d(8, 16, 4, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.ConvTranspose2d(16, 1, 4, 2, 1),
        nn.Tanh(),
    ]
    first = nn.Conv2d(1, 16, 4, 2, 1, bias=False)
    down = [first, nn.BatchNorm2d(16), nn.LeakyReLU(0.2), nn.Conv2d(16, 1, 4), nn.Flatten(0)]
    generator, critic = nn.Sequential(*up).to(device), nn.Sequential(*down).to(device)
    ours = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    theirs = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
    real, one, zero = torch.randn(4, 1, 8, 8).to(device), torch.ones(4).to(device), torch.zeros(4).to(device)
    losses = []
    for _ in range(2):
        made = generator(torch.randn(4, 8, 1, 1).to(device))
        theirs.zero_grad()
        judged = F.binary_cross_entropy_with_logits(critic(real), one)
        judged = judged + F.binary_cross_entropy_with_logits(critic(made.detach()), zero)
        judged.backward()
        theirs.step()
        ours.zero_grad()
        fooled = F.binary_cross_entropy_with_logits(critic(made), one)
        fooled.backward()
        ours.step()
        losses += [judged.detach(), fooled.detach()]
    return torch.stack(losses), generator.eval()(torch.ones(1, 8, 1, 1).to(device)).detach()


@classic("convolutions and a pixel shuffle enlarge images")
def super_resolution(device: str) -> Any:
    layers = [nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 4, 3, padding=1), nn.PixelShuffle(2)]
    for layer in (layers[0], layers[2]):
        nn.init.orthogonal_(layer.weight)  # type: ignore[arg-type]
    small, large = torch.rand(4, 1, 8, 8).to(device), torch.rand(4, 1, 16, 16).to(device)
    return train(nn.Sequential(*layers).to(device), lambda m: F.mse_loss(m(small), large))


@classic("one network compares pairs of images (siamese)")
def siamese(device: str) -> Any:
    branch = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten())
    model = nn.ModuleList([branch, nn.Linear(144, 1)]).to(device)
    pairs, same = torch.randn(2, 6, 1, 12, 12).to(device), torch.tensor([0.0, 1, 0, 1, 1, 0]).to(device)

    def loss(m: Any) -> torch.Tensor:
        both = torch.cat([m[0](pairs[0]), m[0](pairs[1])], 1)
        return F.binary_cross_entropy(m[1](both).sigmoid().squeeze(1), same)

    return train(model, loss)


@classic("a network with instance norms and reflected borders learns a style from Gram matrices")
def neural_style(device: str) -> Any:
    first = [nn.ReflectionPad2d(2), nn.Conv2d(3, 8, 5, 2), nn.InstanceNorm2d(8, affine=True), nn.ReLU()]
    model = nn.Sequential(*first, nn.Upsample(scale_factor=2), nn.ReflectionPad2d(1), nn.Conv2d(8, 3, 3)).to(device)
    features = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3)).requires_grad_(False).to(device)
    content, style = torch.rand(2, 3, 16, 16).to(device), torch.rand(2, 3, 16, 16).to(device)

    def gram(x: torch.Tensor) -> torch.Tensor:
        flat = x.flatten(2)
        return flat.bmm(flat.mT) / flat[0].numel()

    def loss(m: nn.Module) -> torch.Tensor:
        made = features(m(content))
        return F.mse_loss(made, features(content)) + 10 * F.mse_loss(gram(made), gram(features(style)))

    return train(model, loss)

"""Programs on sequences, graphs and decisions in the manner of pytorch/examples, with data made here."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from tests.ecosystem.program import classic, train


class Words(nn.Module):
    """A recurrent language model whose output layer has the weights of its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(30, 16), nn.LSTM(16, 16, 2), nn.Linear(16, 30)
        self.out.weight = self.embed.weight

    def forward(self, words: torch.Tensor, state: Any) -> Any:
        hidden, state = self.rnn(self.embed(words), state)
        return F.log_softmax(self.out(hidden), -1), state


@classic("an LSTM with tied weights predicts words, its gradient clipped and its state carried on")
def word_lstm(device: str) -> Any:
    model, text = Words().to(device), torch.randint(0, 30, (13, 4)).to(device)
    state: Any = (torch.zeros(2, 4, 16).to(device), torch.zeros(2, 4, 16).to(device))
    losses, norms = [], []
    for start in range(0, 12, 4):
        model.zero_grad()
        scores, state = model(text[start : start + 4], tuple(s.detach() for s in state))
        loss = F.nll_loss(scores.flatten(0, 1), text[start + 1 : start + 5].flatten())
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 0.25))
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-2.0)  # type: ignore[arg-type]
        losses.append(loss.detach())
    return torch.stack(losses), torch.stack(norms), model.embed.weight.detach()


@classic("a transformer with a causal mask and positions of sines predicts words")
def word_transformer(device: str) -> Any:
    embed, out = nn.Embedding(30, 16), nn.Linear(16, 30)
    layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, 0.0), 2, enable_nested_tensor=False)
    model = nn.ModuleList([embed, layers, out]).to(device)
    angles = torch.arange(8)[:, None] * torch.exp(torch.arange(8) * -0.5)
    places = torch.cat([angles.sin(), angles.cos()], 1)[:, None].to(device)
    text, mask = torch.randint(0, 30, (9, 4)).to(device), nn.Transformer.generate_square_subsequent_mask(8).to(device)

    def loss(m: Any) -> torch.Tensor:
        hidden = m[1](m[0](text[:-1]) * 4 + places, mask)
        return F.cross_entropy(m[2](hidden).flatten(0, 1), text[1:].flatten())

    return train(model, loss)


@classic("cells of an LSTM in float64 fit sine waves with L-BFGS, and go on by themselves")
def time_sequences(device: str) -> Any:
    cells = nn.ModuleList([nn.LSTMCell(1, 12), nn.LSTMCell(12, 12), nn.Linear(12, 1)]).double().to(device)
    waves = torch.sin(torch.arange(12) / 2 + torch.rand(3, 1) * 6).double().to(device)

    def forward(values: torch.Tensor, more: int = 0) -> torch.Tensor:
        states: list[Any] = [None, None]
        out: list[torch.Tensor] = []
        for i in range(values.shape[1] + more):
            x = values[:, i : i + 1] if i < values.shape[1] else out[-1]
            for k in range(2):
                states[k] = cells[k](x, states[k])
                x = states[k][0]
            out.append(cells[2](x))
        return torch.cat(out, 1)

    optimizer = torch.optim.LBFGS(cells.parameters(), lr=0.5, max_iter=4)
    losses = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(forward(waves[:, :-1]), waves[:, 1:])
        loss.backward()
        losses.append(loss.detach())
        return loss

    optimizer.step(closure)  # type: ignore[arg-type]
    with torch.no_grad():
        return torch.stack(losses), forward(waves, more=4)


def pole(state: torch.Tensor, action: int) -> torch.Tensor:
    """The next angle and speed of a pole that is pushed to one side, on the CPU."""
    angle, speed = state.tolist()
    return torch.tensor([angle + 0.1 * speed, speed + 0.1 * (9.8 * angle + (2.0 if action else -2.0))])


def episode(policy: Any, device: str, choice: torch.Generator) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The log-probabilities of the actions of an episode, and what else the policy returned.

    An action is drawn on the CPU, because the random numbers of the device are others.
    """
    state, chosen, rest = torch.tensor([0.05, 0.0]), [], []
    for _ in range(8):
        scores, value = policy(state.to(device))
        odds = torch.distributions.Categorical(logits=scores)
        action = int(torch.rand((), generator=choice) < odds.probs[1].item())
        chosen.append(odds.log_prob(torch.tensor(action, device=device)))
        rest.append(value)
        state = pole(state, action)
    return chosen, rest


def returns(device: str) -> torch.Tensor:
    """Discounted rewards of an episode, normalized."""
    total = torch.tensor([(1 - 0.99 ** (8 - i)) / 0.01 for i in range(8)]).to(device)
    return (total - total.mean()) / (total.std() + 1e-5)


@classic("a policy balances a pole by its gradient (REINFORCE)")
def reinforce(device: str) -> Any:
    net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
    choice, gains = torch.Generator().manual_seed(1), returns(device)

    def loss(m: nn.Module) -> torch.Tensor:
        chosen, _ = episode(lambda x: (m(x), x), device, choice)
        return -(torch.stack(chosen) * gains).sum()

    return train(net, loss)


@classic("a policy and its critic balance a pole (actor-critic)")
def actor_critic(device: str) -> Any:
    model = nn.ModuleList([nn.Linear(2, 16), nn.Linear(16, 2), nn.Linear(16, 1)]).to(device)
    choice, gains = torch.Generator().manual_seed(1), returns(device)

    def loss(m: Any) -> torch.Tensor:
        def policy(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            hidden = torch.relu(m[0](x))
            return m[1](hidden), m[2](hidden)

        chosen, values = episode(policy, device, choice)
        value = torch.cat(values)
        advantage = gains - value.detach()
        return -(torch.stack(chosen) * advantage).sum() + F.smooth_l1_loss(value, gains)

    return train(model, loss)


@classic("graph convolutions multiply by a sparse adjacency matrix (GCN)")
def gcn(device: str) -> Any:
    edges = torch.randint(0, 12, (2, 30))
    dense = torch.zeros(12, 12)
    dense[edges[0], edges[1]] = 1
    dense = dense + torch.eye(12)
    adjacency = (dense / dense.sum(1, keepdim=True)).to_sparse().to(device)
    model = nn.ModuleList([nn.Linear(6, 8, bias=False), nn.Linear(8, 3, bias=False)]).to(device)
    nodes, kinds = torch.randn(12, 6).to(device), torch.randint(0, 3, (12,)).to(device)

    def loss(m: Any) -> torch.Tensor:
        hidden = torch.sparse.mm(adjacency, m[0](nodes)).relu()
        return F.nll_loss(F.log_softmax(torch.sparse.mm(adjacency, m[1](hidden)), 1), kinds)

    return train(model, loss)


@classic("two heads of attention weigh the neighbours in a graph (GAT)")
def gat(device: str) -> Any:
    near = (torch.rand(12, 12) < 0.3) | torch.eye(12, dtype=torch.bool)
    near, nodes = near.to(device), torch.randn(12, 6).to(device)
    kinds = torch.randint(0, 3, (12,)).to(device)
    model = nn.ModuleList([nn.Linear(6, 16), nn.Linear(8, 1), nn.Linear(8, 1), nn.Linear(16, 3)]).to(device)

    def loss(m: Any) -> torch.Tensor:
        heads = m[0](nodes).view(12, 2, 8).transpose(0, 1)
        scores = F.leaky_relu(m[1](heads) + m[2](heads).mT, 0.2)
        weights = scores.masked_fill(~near, -9e15).softmax(-1)
        return F.cross_entropy(m[3](F.elu((weights @ heads).transpose(0, 1).flatten(1))), kinds)

    return train(model, loss)


@classic("a linear layer finds the coefficients of a polynomial")
def regression(device: str) -> Any:
    x = torch.randn(32, 1)
    powers = torch.cat([x**i for i in range(1, 5)], 1)
    goal = powers @ torch.tensor([[2.0], [-1], [0.5], [0.1]]) + 3
    powers, goal = powers.to(device), goal.to(device)
    return train(nn.Linear(4, 1).to(device), lambda m: F.smooth_l1_loss(m(powers), goal), 5)

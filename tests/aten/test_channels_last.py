"""Operations on channels-last images, and their gradients, have the values and the strides of CPU torch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (the usual name)

from tests.helpers.agreement import agree
from tests.helpers.tolerances import COMPOSED

IMAGES = {
    "batch norm": lambda x: F.batch_norm(x, None, None, training=True),
    "batch norm with weights": lambda x: F.batch_norm(x, None, None, *(x.new_ones(2, 6)), training=True),
    "group norm": lambda x: F.group_norm(x, 3),
    "max pool": lambda x: F.max_pool2d(x, 3, 2, 1),
    "average pool": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "adaptive pool": lambda x: F.adaptive_avg_pool2d(x, 2),
    "upsample": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "convolution": lambda x: F.conv2d(x, x.new_ones(4, 6, 3, 3), padding=1),
    "depthwise convolution": lambda x: F.conv2d(x, x.new_ones(6, 1, 3, 3), padding=1, groups=6),
    "transposed convolution": lambda x: F.conv_transpose2d(x, x.new_ones(6, 4, 2, 2), stride=2),
    "softmax": lambda x: x.softmax(1),
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), mode="reflect"),
    "shuffle": lambda x: F.channel_shuffle(x, 3),
    "cat": lambda x: torch.cat([x, x.relu()], 1),
    "reductions": lambda x: torch.cat([x.amax((2, 3)), x.mean(3).mean(2), x.cumsum(1).sum((2, 3))]),
    "flatten": lambda x: F.linear(x.flatten(1), x.new_ones(3, 6 * 7 * 5)),
    "indices": lambda x: x[:, [0, 2, 2]] * x.select(1, 1).unsqueeze(1),
    "attention": lambda x: F.scaled_dot_product_attention(*(x.permute(0, 2, 3, 1),) * 3),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", IMAGES)
def test_channels_last_images_agree_with_torch(name: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 6, 7, 5).to(memory_format=torch.channels_last)

    def results(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = x.detach().requires_grad_()
        out = IMAGES[name](x)
        return out, *torch.autograd.grad(out.exp().sum(), x)

    # torch's formula of the gradient of a group norm makes images contiguous on devices other than the CPU.
    agree(results(x.to("jax")), results(x), COMPOSED, strides=name not in ("group norm", "attention"))

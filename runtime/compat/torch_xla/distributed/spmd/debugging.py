"""`torch_xla.distributed.spmd.debugging`: pictures of shardings."""

from __future__ import annotations

import re
from typing import Any

import torch

from .....sharding.placing import sharding_of
from .....sharding.visualize import print_parts
from .xla_sharded_tensor import sharding_on_mesh, xla_text

_DEVICES = re.compile(r"\{devices=\[([\d,]+)\]([\d,]+)( last_tile_dim_replicate)?\}")


def visualize_tensor_sharding(t: torch.Tensor, **kwargs: Any) -> Any:
    """Print the parts of a tensor with their devices, and return the table; `kwargs` are those of the function below.

    Raises:
        ImportError: rich is not installed.
    """
    sharding = sharding_on_mesh(t)
    if sharding is not None:
        return visualize_sharding(xla_text(sharding, t.dim()), **kwargs)
    return print_parts({"all": [str(device.id) for device in sharding_of(t).device_set]})


def visualize_sharding(
    sharding: str, use_color: bool = True, scale: float = 1.0, min_width: int = 9, max_width: int = 80
) -> Any:
    """Print the tiles of a sharding such as '{devices=[2,2]0,1,2,3}' or '{replicated}' with their devices, and return
    the table, a `rich.table.Table`. The width of columns follows from their text.

    Raises:
        ValueError: the string has another form.
        ImportError: rich is not installed.
    """
    found = _DEVICES.fullmatch(sharding)
    if found is None and sharding != "{replicated}":
        raise ValueError(
            f"sharding {sharding!r} is not organized as expected: '{{devices=[2,1]0,1}}', '{{replicated}}'"
        )
    if found is None:
        return print_parts({"all": ["all"]})
    tiles = [int(n) for n in found[1].split(",")]
    devices = found[2].split(",")
    copies = tiles.pop() if found[3] else 1
    grid = torch.arange(len(devices)).reshape(*tiles, copies)
    places = [*torch.cartesian_prod(*map(torch.arange, tiles)).reshape(-1, len(tiles)).tolist()]
    return print_parts({str(place): [devices[int(i)] for i in grid[tuple(place)]] for place in places})

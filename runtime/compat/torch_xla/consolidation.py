"""`torch_xla.distributed.fsdp.state_dict_utils`: consolidation of the shards that each rank saved."""

from __future__ import annotations

import glob
from argparse import ArgumentParser
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.distributed.tensor import DTensor


def consolidate_sharded_state_dicts(
    state_dict_list: Sequence[Mapping[str, Any]], shard_metadata: Mapping[str, Any]
) -> OrderedDict[str, Any]:
    """The state dict of the unsharded module.

    Args:
        state_dict_list: `model.state_dict()` of each rank, by rank.
        shard_metadata: `model.get_shard_metadata()` of any rank.

    Raises:
        ValueError: the number of state dicts differs from the number of ranks.
    """
    _check_count(len(state_dict_list), shard_metadata, "state dicts")
    names = shard_metadata["shard_info"]
    whole: OrderedDict[str, Any] = OrderedDict()
    for name, value in state_dict_list[0].items():
        if isinstance(value, DTensor):
            value = torch.cat([state[name].to_local() for state in state_dict_list])
        whole[names[name]["name"]] = value
    return whole


def consolidate_sharded_model_checkpoints(
    ckpt_prefix: str, ckpt_suffix: str = "*.pth", save_path: str = "", save_model: bool = True
) -> tuple[OrderedDict[str, Any], str | None]:
    """Load the files of all ranks, and save the whole model.

    Args:
        ckpt_prefix: the prefix of the files' paths. Each file has a dict with `model.state_dict()` as "model" and
            `model.get_shard_metadata()` as "shard_metadata".
        ckpt_suffix: the pattern of the rest of the paths.
        save_path: a file for `{"model": state_dict}`; by default `ckpt_prefix + "_consolidated.pth"`.
        save_model: False to save nothing.

    Returns:
        The state dict on the CPU, and the path of the saved file or None.

    Raises:
        FileNotFoundError: no file matches.
        ValueError: there is not exactly one file of each rank.
    """
    paths = glob.glob(ckpt_prefix + ckpt_suffix)
    if not paths:
        raise FileNotFoundError(f"Cannot find any files matching {ckpt_prefix + ckpt_suffix}")
    found = [torch.load(path, map_location="cpu") for path in paths]
    found.sort(key=lambda checkpoint: checkpoint["shard_metadata"]["rank"])
    metadata = found[0]["shard_metadata"]
    _check_count(len(found), metadata, f"files that match {ckpt_prefix + ckpt_suffix}")
    ranks = [checkpoint["shard_metadata"]["rank"] for checkpoint in found]
    if ranks != [*range(len(found))]:
        raise ValueError(f"files that match {ckpt_prefix + ckpt_suffix} are those of ranks {ranks}; expected each once")
    whole = consolidate_sharded_state_dicts([checkpoint["model"] for checkpoint in found], metadata)
    if not save_model:
        return whole, None
    path = save_path or f"{ckpt_prefix}_consolidated.pth"
    torch.save({"model": whole}, path)
    return whole, path


def _check_count(count: int, metadata: Mapping[str, Any], what: str) -> None:
    if count != metadata["world_size"]:
        raise ValueError(f"{count} {what}; expected {metadata['world_size']}, one of each rank")


def main() -> None:
    """`python -m torch_xla.distributed.fsdp.consolidate_sharded_ckpts`."""
    parser = ArgumentParser(prog="consolidate_sharded_ckpts")
    parser.add_argument("--ckpt_prefix", required=True, help="what the paths of the files of the ranks begin with")
    parser.add_argument("--ckpt_suffix", default="*.pth", help="a pattern of what they end with (default: %(default)s)")
    parser.add_argument("--save_path", default="", help="the file to write (default: PREFIX_consolidated.pth)")
    options = parser.parse_args()
    consolidate_sharded_model_checkpoints(options.ckpt_prefix, options.ckpt_suffix, options.save_path)

"""`tenax xla -m torch_xla.distributed.fsdp.consolidate_sharded_ckpts`: make one model of the files of all ranks."""

from __future__ import annotations

from argparse import ArgumentParser

from .state_dict_utils import consolidate_sharded_model_checkpoints


def main() -> None:
    """Read the arguments and save the model."""
    parser = ArgumentParser(prog="consolidate_sharded_ckpts")
    parser.add_argument("--ckpt_prefix", required=True, help="what the paths of the files of the ranks begin with")
    parser.add_argument("--ckpt_suffix", default="*.pth", help="a pattern of what they end with (default: %(default)s)")
    parser.add_argument("--save_path", default="", help="the file to write (default: PREFIX_consolidated.pth)")
    options = parser.parse_args()
    consolidate_sharded_model_checkpoints(options.ckpt_prefix, options.ckpt_suffix, options.save_path)


if __name__ == "__main__":
    main()

"""Figures of accelerators, as published by their vendors.

GPUs: the data sheets of A100 80GB SXM, H100 SXM and H200 SXM; operations without sparsity, and half of the NVLink
bandwidth, which is stated for both directions. TPUs: https://docs.cloud.google.com/tpu/docs (pages v4, v5e, v5p, v6e,
tpu7x); half of the "bidirectional inter-chip interconnect bandwidth". The v4 page does not state that bandwidth: 6
links of 50 GB/s are from Jouppi et al., "TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning", ISCA
2023, table 4. Google states the capacity of memory in GiB (v4, v5p, v6e, TPU7x; v5e says GB). For JAX, a chip of TPU7x
is two devices, each with half of its figures.
"""

from __future__ import annotations

from typing import NamedTuple

GIB = 2.0**30


class Chip(NamedTuple):
    """Peak figures of one device: bfloat16 operations and bytes, per second except for `memory`."""

    name: str
    flops: float
    memory: float  # bytes
    bandwidth: float  # of the memory
    network: float  # of all its links to other devices, in one direction


CHIPS = {
    chip.name: chip
    for chip in (
        Chip("A100", 312e12, 80e9, 2.039e12, 300e9),
        Chip("H100", 989e12, 80e9, 3.35e12, 450e9),
        Chip("H200", 989e12, 141e9, 4.8e12, 450e9),
        Chip("TPU v4", 275e12, 32 * GIB, 1.2e12, 300e9),
        Chip("TPU v5e", 197e12, 16e9, 0.819e12, 200e9),
        Chip("TPU v5p", 459e12, 95 * GIB, 2.765e12, 600e9),
        Chip("TPU v6e", 918e12, 32 * GIB, 1.638e12, 400e9),
        Chip("TPU7x", 2307e12 / 2, 96 * GIB, 7.38e12 / 2, 600e9 / 2),
    )
}


def chip_of(chip: str | Chip) -> Chip:
    """A chip by its name; a user-defined `Chip` is returned unchanged.

    Raises:
        ValueError: the name is not known.
    """
    if isinstance(chip, Chip):
        return chip
    if chip not in CHIPS:
        raise ValueError(
            f"tenax.distributed.plan: the chip {chip!r} is not known; expected one of {', '.join(CHIPS)}, or a "
            "tenax.distributed.Chip with its figures"
        )
    return CHIPS[chip]

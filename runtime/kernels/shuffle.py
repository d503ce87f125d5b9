"""Rearrangements of channels: reshapes around one transpose."""

from __future__ import annotations

from tenax.words import Array


def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    """(..., C * r * r, H, W) to (..., C, H * r, W * r)."""
    *lead, channels, height, width = self.shape
    r = upscale_factor
    x = self.reshape(*lead, channels // (r * r), r, r, height, width)
    n = len(lead)
    x = x.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return x.reshape(*lead, channels // (r * r), height * r, width * r)


def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    """(..., C, H * r, W * r) to (..., C * r * r, H, W)."""
    *lead, channels, height, width = self.shape
    r = downscale_factor
    x = self.reshape(*lead, channels, height // r, r, width // r, r)
    n = len(lead)
    x = x.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return x.reshape(*lead, channels * r * r, height // r, width // r)


def channel_shuffle(self: Array, groups: int) -> Array:
    """Interleave `groups` groups of the channels, (N, C, *sizes)."""
    count, channels, *sizes = self.shape
    return self.reshape(count, groups, channels // groups, *sizes).swapaxes(1, 2).reshape(self.shape)

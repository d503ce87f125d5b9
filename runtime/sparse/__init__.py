"""Sparse and jagged tensors of the device."""

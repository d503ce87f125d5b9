"""Sparse tensors of the device."""

"""Torch functions as pure functions of JAX arrays."""

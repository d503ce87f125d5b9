"""Torch programs under a JAX trace: what they read, write and keep apart."""

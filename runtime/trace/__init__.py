"""Torch programs under a JAX trace: what they read and write, symbolic numbers, and transfers."""

"""Graphs that torch captured, by torch.compile and torch.export, as JAX functions."""

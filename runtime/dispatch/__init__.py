"""Dispatch of torch operators: from a call to an XLA executable, and from its results back to tensors."""

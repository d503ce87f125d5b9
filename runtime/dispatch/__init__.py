"""From a call of a torch operator to an XLA executable, and back to tensors."""

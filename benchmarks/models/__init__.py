"""Models as one writes them in PyTorch, and in `by_hand` the same in JAX: what `compiled.py` measures."""

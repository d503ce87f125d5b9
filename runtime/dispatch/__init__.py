"""From a call of torch to an executable of JAX: kernels, signatures, programs, the fast path."""

"""`tenax.jit`: whole torch functions as single XLA programs."""

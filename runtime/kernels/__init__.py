"""Lowerings longer than one expression: pure functions of JAX arrays with the parameters of their schema."""

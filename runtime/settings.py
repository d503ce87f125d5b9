"""The one JAX setting that the device needs, made when the first tensor comes to be."""

import jax

# torch's dtypes are explicit, and JAX honours an explicit 64-bit dtype under this setting. Its defaults stay 32-bit,
# so the user's own JAX code computes what it did.
jax.config.update("jax_explicit_x64_dtypes", "allow")

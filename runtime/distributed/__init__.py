"""`torch.distributed` on device "jax": the backend "tenax", one process per rank, over `jax.distributed`."""

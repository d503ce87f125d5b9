"""`tenax.distributed.plan`: what a training step would take on a mesh of devices that need not exist."""

"""`tenax.distributed.plan`: the resources that a training step needs on a mesh of devices that need not exist."""

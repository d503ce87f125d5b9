"""`torch_xla.distributed`."""

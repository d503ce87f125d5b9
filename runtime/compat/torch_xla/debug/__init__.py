"""`torch_xla.debug`."""

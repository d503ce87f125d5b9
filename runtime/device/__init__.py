"""What torch asks of a device: hooks, tensor methods, storages, serialization."""

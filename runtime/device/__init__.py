"""torch's interface for a device: hooks, tensor methods, storages, serialization."""

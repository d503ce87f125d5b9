"""The device: its tensors, their storages, memory, random state, and torch's hooks for all of it."""

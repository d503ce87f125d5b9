"""Public names of other libraries, implemented with tenax: `compat.torchax`, `compat.torch_xla`."""

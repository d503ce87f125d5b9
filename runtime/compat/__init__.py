"""Other libraries' public names over tenax, for programs written for them: `compat.torchax`, `compat.torch_xla`."""

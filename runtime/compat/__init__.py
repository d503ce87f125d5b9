"""Other libraries' public names over tenax, for programs that were written for them: `tenax.compat.torchax`."""

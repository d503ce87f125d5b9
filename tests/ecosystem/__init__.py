"""Other libraries on the device: `make ecosystem`."""

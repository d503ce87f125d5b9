"""A folder for `sys.path`: what it has is found as `torch_xla`."""

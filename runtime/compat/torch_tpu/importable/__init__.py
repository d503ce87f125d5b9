"""A folder for `sys.path`, whose module is imported as `torch_tpu`."""

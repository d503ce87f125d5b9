"""`torch.compile(backend="tenax")`: graphs captured by Dynamo as JAX programs."""

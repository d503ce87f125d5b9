"""`torch.compile(backend="tenax")`: graphs that Dynamo captured, as JAX programs."""

"""The generator: reads `ops_spec/` and torch's schemas, writes `generated/`. It imports neither torch nor JAX."""

if not __name__.startswith("tenax"):
    raise ImportError(f"import this package as tenax.codegen, not {__name__}: a second copy would have separate state")

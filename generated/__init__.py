"""Written by codegen: one module of lowerings per spec file, and `table`, which maps overloads to them."""

if not __name__.startswith("tenax"):
    raise ImportError(f"import this package as tenax.generated, not {__name__}: a second copy would hold its own state")

"""The specs as package data: one YAML file per op family; README.md is their grammar."""

if not __name__.startswith("tenax"):
    raise ImportError(f"import this package as tenax.ops_spec, not {__name__}: a second copy would hold its own state")

"""`python -m tenax.codegen`."""

from tenax.codegen.cli import app

app(prog_name="python -m tenax.codegen")

"""How `tenax.jit` makes a program of a torch function: a traced run, what it reads and changes, and calls of it."""

"""Lazy mode: operations are recorded, and compiled as one program at a barrier or when a value is needed."""

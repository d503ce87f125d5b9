"""Calls of the lowered overloads that no entry of torch's databases is recorded to reach."""

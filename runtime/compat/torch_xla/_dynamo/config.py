"""`torch_xla._dynamo.config`. The setting has no effect: calls check their inputs in JAX."""

from __future__ import annotations

skip_input_data_check = False
outside_on_cpu = False

"""`torch_xla._dynamo.dynamo_bridge`."""

from __future__ import annotations

from ..core.dynamo_bridge import extract_compiled_graph as extract_compiled_graph
from ..missing import names_of
from ..ordinals import is_xla_tensor as is_xla_tensor
from ..utils.buffer_donor_context import alias_with_buffer_donor_config as alias_with_buffer_donor_config

__getattr__ = names_of(__name__)

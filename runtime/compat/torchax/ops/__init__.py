"""`torchax.ops`: functions with which programs register operators, implemented with tenax's overrides."""

from __future__ import annotations

from . import jaten as jaten
from . import jlibrary as jlibrary
from . import jtorch as jtorch
from . import mappings as mappings
from . import op_base as op_base
from . import ops_registry as ops_registry

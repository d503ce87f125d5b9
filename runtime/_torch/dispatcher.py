"""torch's dispatcher: dispatch keys, registered kernels, and the guards that include or exclude keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    DispatchKey = torch._C.DispatchKey
    DispatchKeySet = torch._C.DispatchKeySet
    META = DispatchKey.Meta
    CPU = DispatchKey.CPU
    COMPOSITE_EXPLICIT = DispatchKey.CompositeExplicitAutograd
    NON_FUNCTIONAL = DispatchKey.CompositeExplicitAutogradNonFunctional
    COMPOSITE_IMPLICIT = DispatchKey.CompositeImplicitAutograd
    AUTOGRAD = DispatchKey.Autograd
    key_of_name = torch._C._parse_dispatch_key

    # Registrations. Operators are given by their full names, "aten::add.Tensor".
    operator_names = torch._C._dispatch_get_all_op_names
    has_kernels = torch._C._dispatch_has_kernel  # on any key
    has_kernel_on = torch._C._dispatch_has_kernel_for_dispatch_key
    computed_kernel_on = torch._C._dispatch_get_computed_kernel_for_dispatch_key
    registered_on = torch._C._dispatch_get_registrations_for_dispatch_key

    # Guards of this thread.
    BelowAutograd = torch._C._AutoDispatchBelowAutograd
    ExcludeKeys = torch._C._ExcludeDispatchKeyGuard
    ForceKeys = torch._C._ForceDispatchKeyGuard
    included_keys = torch._C._dispatch_tls_local_include_set
    excluded_keys = torch._C._dispatch_tls_local_exclude_set
    VMAP_KEYS = DispatchKeySet(DispatchKey.FuncTorchBatched) | DispatchKeySet(DispatchKey.FuncTorchVmapMode)
    VMAP_KEYS = VMAP_KEYS.add(DispatchKey.FuncTorchDynamicLayerFrontMode).add(DispatchKey.FuncTorchDynamicLayerBackMode)
    # `exclude_key(key, True)`, and later False: a third of the cost of the equivalent guard.
    exclude_key: Callable[[Any, bool], None] = torch._C._dispatch_tls_set_dispatch_key_excluded
    DisableAutocast = torch._C._DisableAutocast
    is_any_autocast_enabled = torch._C._is_any_autocast_enabled


def kernel_on(op: Any, key: Any) -> Callable[..., Any]:
    """torch's kernel of an overload for one dispatch key. If there is none, calling it ends the process."""
    with private_names("torch", torch.__version__):
        return partial(op._op_dk, key)

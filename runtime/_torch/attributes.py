"""The private attributes of torch objects that the package uses, by class.

Binding an object's attribute to a name in the seam would require a function call at each use. They are listed here
instead: `tests/structure/test_seams.py` rejects an underscored attribute that is neither the package's own nor in this
table, and `tenax doctor` looks up each of them.
"""

from __future__ import annotations

import dis
import inspect
from pkgutil import resolve_name
from types import FunctionType
from typing import Any

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "torch.Tensor": (
        "_version",  # counts writes
        "_backward_hooks",
        "_post_accumulate_grad_hooks",
        "_use_count",  # the number of C++ references, from tensors and graphs
        "_is_view",
        "_base",  # the tensor that a view was made of
        "_is_zerotensor",
        "_neg_view",
        "_indices",  # these four belong to COO tensors and do not require them to be coalesced
        "_values",
        "_nnz",
        "_coalesced_",
    ),
    "torch.cuda": (  # read by torch from every device module, including `torch.jax`
        "_initialized",
        "_is_in_bad_fork",
        "_lazy_init",
    ),
    "torch.UntypedStorage": ("_cdata",),  # the address of the C++ storage, the same for all tensors on it
    "torch.nn.Module": (
        "_apply",
        "_parameters",
        "_buffers",
        "_non_persistent_buffers_set",
        "_modules",
        "_forward_hooks",
        "_forward_pre_hooks",
        "_backward_hooks",
        "_backward_pre_hooks",
    ),
    "torch.nn.parallel.DistributedDataParallel": (
        *("_comm_hooks", "_join_config", "_delay_all_reduce_all_params", "_module_parameters"),
        *(
            "_check_sync_bufs_pre_fwd",
            "_check_sync_bufs_post_fwd",
            "_sync_buffers",
            "_default_broadcast_coalesced",
            "_run_ddp_forward",
        ),
    ),
    "torch.optim.SGD": (
        "_init_group",  # creates the state of a group's parameters; every torch optimizer has it
        "_optimizer_step_pre_hooks",
        "_optimizer_step_post_hooks",
    ),
    "torch.optim.lr_scheduler.SequentialLR": ("_schedulers",),
    "torch.amp.GradScaler": (
        "_device",
        "_enabled",
        "_growth_tracker",
        "_lazy_init_scale_growth_tracker",
        "_maybe_opt_step",
        "_per_optimizer_states",
        "_scale",
    ),
    "torch.library.Library": ("_destroy", "_register_fake"),
    "torch._ops.OpOverload": ("_overloadname", "_schema"),
    "torch._library.custom_ops.CustomOpDef": ("_abstract_fn", "_backward_fn", "_opoverload"),
}


def has_attribute(cls: Any, name: str) -> bool:
    """Whether a module, or instances of a class, have an attribute: defined, annotated, or assigned in a method."""
    if hasattr(cls, name) or not isinstance(cls, type):
        return hasattr(cls, name)
    if any(name in inspect.get_annotations(base) for base in cls.__mro__):
        return True
    codes = [value.__code__ for base in cls.__mro__ for value in vars(base).values() if isinstance(value, FunctionType)]
    return any(i.opname == "STORE_ATTR" and i.argval == name for c in codes for i in dis.get_instructions(c))


def missing_attributes() -> list[str]:
    """The attributes of the table that the installed torch does not have."""
    classes = {path: resolve_name(path) for path in ATTRIBUTES}
    return [f"{path}.{n}" for path, names in ATTRIBUTES.items() for n in names if not has_attribute(classes[path], n)]

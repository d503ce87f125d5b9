"""`tenax.ScannedModule`: a stack of identical layers as one `jax.lax.scan`; trace time does not grow with depth.

The layers' parameters are stacked, and one layer is traced as the body of the scan. This means that an optimizer sees
one tensor instead of one per layer, so one that uses whole-tensor statistics (LAMB, Muon) takes different steps.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn

from .._torch import NAME
from .functional_module import FunctionalModule, Slot, ties_of
from .remat import TransformedModule

_NAME = "layer"
_PLAIN = (bool, int, float, complex, str, type(None), torch.dtype, torch.Size)


class ScannedModule(nn.Module):
    """A stack of identical layers, applied in sequence by one loop of the compiled program.

    The module computes `for layer in layers: x = layer(x, *args, **kwargs)`, with gradients, both eagerly and in traced
    programs.

    - Random operations draw different numbers in each layer; the numbers differ from those of the Python loop.
    - Buffers that the layers write are updated.
    - `state_dict` and `load_state_dict` have the layout of `nn.ModuleList(layers)`. `named_parameters` returns the
      stacked tensors as `layer.*`; their first axis is the layer.

    Args:
        layers: modules of one class and structure, on device "jax". They are copied.
        remat: save only the inputs of each layer, and recompute its intermediate values in the backward pass.
        policy: with `remat`, which other values to save, as in `jax.checkpoint` (`jax.checkpoint_policies`).
        ignore: attributes in which layers may differ because they do not affect the computation (`layer_idx`).

    Raises:
        ValueError: there is no layer, the layers differ in structure, shapes, dtypes or attributes, or share a tensor.
        RuntimeError: a layer is on another device.
    """

    def __init__(
        self,
        layers: Iterable[nn.Module],
        *,
        remat: bool = False,
        ignore: Iterable[str] = (),
        policy: Callable[..., bool] | None = None,
    ) -> None:
        super().__init__()
        stack = list(layers)
        if not stack:
            raise ValueError("ScannedModule: got no layer; expected one or more")
        for i, layer in enumerate(stack[1:], 1):
            _compare(stack[0], layer, i, frozenset(ignore))
        self.length = len(stack)
        self.remat = remat
        self.policy = policy
        self.layer = copy.deepcopy(stack[0])
        with torch.no_grad():
            for slot, *same in zip(_slots(self.layer), *map(_slots, stack), strict=True):
                tensors = [own.tensor for own in same]
                if any(t.device.type != NAME for t in tensors):
                    raise RuntimeError(
                        f"ScannedModule: a layer is on {tensors[0].device}; expected layers.to({NAME!r})"
                    )
                if len({id(t) for t in tensors}) < len(tensors):
                    raise ValueError(f"ScannedModule: layers share {slot.names[0]}; expected parameters of their own")
                stacked = torch.stack(tensors)
                if isinstance(tensors[0], nn.Parameter):
                    stacked = nn.Parameter(stacked, tensors[0].requires_grad)
                slot.holder[slot.key] = stacked
        self._call = _call(self)
        self.register_state_dict_post_hook(_split)
        self.register_load_state_dict_pre_hook(_join)

    def forward(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The result of the last layer, with the structure, shapes and dtypes of `x`.

        Every layer receives the other arguments.
        """
        return self._call(x, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_call"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._call = _call(self)

    def extra_repr(self) -> str:
        """The number of layers and the `remat` flag."""
        return f"length={self.length}, remat={self.remat}"


def _call(module: ScannedModule) -> TransformedModule:
    length, remat, policy = module.length, module.remat, module.policy
    return TransformedModule(module.layer, lambda pure: scanned(pure, length, remat, policy))


def scanned(pure: FunctionalModule, length: int, remat: bool, policy: Any) -> Callable[..., Any]:
    """Apply the function of a layer to stacked tensors, in sequence; for `call_with_state`."""

    def run(params: Any, buffers: Any, key: Any, args: Any, kwargs: Any) -> Any:
        x, *rest = args

        def body(carry: Any, part: Any) -> Any:
            i, params, buffers = part
            mine = None if key is None else jax.random.fold_in(jax.random.wrap_key_data(key), i)
            return pure.apply(params, buffers, (carry, *rest), kwargs, mine)

        once = jax.checkpoint(body, prevent_cse=False, policy=policy) if remat else body
        return jax.lax.scan(once, x, (jnp.arange(length), params, buffers))

    return run


def _slots(layer: nn.Module) -> list[Slot]:
    """One slot of each tensor of a layer."""
    return [tie[0] for tie in ties_of(layer)]


def _compare(first: nn.Module, other: nn.Module, i: int, ignore: frozenset[str]) -> None:
    where = f"ScannedModule: layer {i} differs from layer 0"
    ours, theirs = dict(first.named_modules()), dict(other.named_modules())
    if ours.keys() != theirs.keys():
        raise ValueError(f"{where}: its modules are {sorted(theirs)}; expected {sorted(ours)}")
    for name, module in ours.items():
        if type(module) is not type(theirs[name]):
            raise ValueError(
                f"{where}: {name or 'it'} is {type(theirs[name]).__name__}; expected {type(module).__name__}"
            )
        for attribute in (vars(module).keys() | vars(theirs[name]).keys()) - ignore:
            a, b = (vars(m).get(attribute) for m in (module, theirs[name]))
            if isinstance(a, _PLAIN) and isinstance(b, _PLAIN) and (type(a), a) != (type(b), b):
                raise ValueError(f"{where}: {name}.{attribute} is {b!r}; expected {a!r}")
    tensors, others = map(_described, (first, other))
    for (name, is_parameter, expected), (its_name, its_kind, found) in zip(tensors, others, strict=False):
        if (name, is_parameter, expected) != (its_name, its_kind, found):
            raise ValueError(f"{where}: {its_name} is {found}; expected {name} as {expected}")
    if len(tensors) != len(others):
        raise ValueError(f"{where}: it has {len(others)} tensors; expected {len(tensors)}")


def _described(layer: nn.Module) -> list[tuple[str, bool, tuple[Any, ...]]]:
    """The name of each tensor of a layer, whether it is a parameter, and its shape, dtype and need of a gradient."""
    named = [(slot.names[0], slot.tensor) for slot in _slots(layer)]
    return [(name, isinstance(t, nn.Parameter), (t.shape, t.dtype, t.requires_grad)) for name, t in named]


def _split(module: ScannedModule, state: dict[str, Any], prefix: str, metadata: Any) -> None:
    """Replace the stacked tensors of a state with those of the layers."""
    stacked = {k: state.pop(k) for k in [k for k in state if k.startswith(f"{prefix}{_NAME}.")]}
    for i in range(module.length):
        for name, tensor in stacked.items():
            state[f"{prefix}{i}.{name.removeprefix(f'{prefix}{_NAME}.')}"] = tensor[i]


def _join(module: ScannedModule, state: dict[str, Any], prefix: str, *rest: Any) -> None:
    """Replace the tensors of the layers in a state with the stacked tensors."""
    for name, *_ in _described(module.layer):
        parts = [state.pop(f"{prefix}{i}.{name}", None) for i in range(module.length)]
        if all(p is not None for p in parts):
            state[f"{prefix}{_NAME}.{name}"] = torch.stack(parts)

"""`torchax.tensor`: the tensor class, the environment, and the methods of torchax tensors."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import torch

from ... import debug, patches
from ...aten.overrides import Override
from ...aten.registration import register_all
from ...device import tensor as device_tensor
from ...errors import TraceError
from ...interop.convert import j2t
from ...storage import random
from ...storage.random import draw_key, drawing, manual_seed, next_key
from ...storage.tensors import NAME, cell_of, covers_array
from ...trace.transfer import from_jax, tensor_to_jax, to_jax
from ...trace.transfer import from_jax as wrap  # noqa: F401 (torchax's names)
from ...trace.transfer import to_jax as unwrap  # noqa: F401
from .config import Configuration
from .definitions import Operators, of_tensors
from .mixed import NoMixedMath


class ArrayTensor(device_tensor.Tensor):  # type: ignore[metaclass]
    """`tenax.Tensor`, which also accepts an environment: `Tensor(array, env)`."""

    def __new__(cls, elem: jax.Array, env: Any = None, requires_grad: bool = False) -> torch.Tensor:  # type: ignore[misc]
        """Wrap an array without a copy."""
        return super().__new__(cls, elem).requires_grad_(requires_grad)


Tensor = View = ArrayTensor  # views are device tensors like all others


@dataclass(frozen=True)
class RuntimeProperty:
    """The properties of `Environment.override_property`: a mesh, a key for random operations, the autocast dtype."""

    mesh: Any = None
    prng: Any = None
    autocast_dtype: torch.dtype | None = None


class Environment:
    """The environment of torchax, with the methods that programs call. tenax itself needs no environment.

    As a context manager, or in a function that it decorates, it applies the flags of its configuration. Tensors without
    a device are created on the CPU. It is reentrant.
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        self.config = configuration or Configuration()
        self.operators = self._ops = Operators(self)  # programs write to the private name
        self._entered: list[ExitStack] = []
        self._properties = [RuntimeProperty()]
        self._key: tuple[tuple[int, int], Any] | None = None  # a state of the random stream, and its key

    def __enter__(self) -> Environment:
        with ExitStack() as stack:
            if not self.config.allow_mixed_math_with_scalar_tensor:
                stack.enter_context(NoMixedMath())
            if self.config.debug_accuracy_for_each_op:
                stack.enter_context(debug.compare())
            if self.config.debug_print_each_op:
                stack.enter_context(debug.log())
            self._entered.append(stack.pop_all())
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a function, which then runs within the environment."""

        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return within

    @property
    def param(self) -> RuntimeProperty:
        """The current properties. `prng` defaults to `prng_key`."""
        held = self._properties[-1]
        return held if held.prng is not None else dataclasses.replace(held, prng=self.prng_key)

    @contextmanager
    def override_property(self, **properties: Any) -> Iterator[None]:
        """Set properties temporarily: `prng`, a key from which random operations draw; `autocast_dtype`; `mesh`.

        Raises:
            TypeError: an unknown property.
        """
        self._properties.append(dataclasses.replace(self._properties[-1], **properties))
        try:
            with ExitStack() as stack:
                if properties.get("autocast_dtype") is not None:
                    stack.enter_context(torch.autocast(NAME, dtype=properties["autocast_dtype"]))
                if properties.get("prng") is not None:
                    stack.enter_context(drawing_from(properties["prng"]))
                yield
        finally:
            self._properties.pop()

    @property
    def prng_key(self) -> jax.Array:
        """The key of the current state of the device's random stream; it is the same until something is drawn.

        Setting a key restarts the stream from it; reading returns that key until something is drawn.
        """
        held = self._properties[-1].prng
        if held is not None:
            return held
        if drawing.stream is not None:
            raise TraceError("env.prng_key in a traced function: expected env.override_property(prng=key)")
        now = random.state()
        if self._key is None or self._key[0] != now:
            self._key = now, jax.random.wrap_key_data(jax.numpy.asarray(random.key_at(*now)))
        return self._key[1]

    @prng_key.setter
    def prng_key(self, key: jax.Array) -> None:
        if isinstance(key, jax.core.Tracer):
            raise TypeError("prng_key: got a key that JAX traces; expected env.override_property(prng=key)")
        data = np.asarray(jax.random.key_data(key)).astype(np.uint64).ravel()
        manual_seed(int(data[0]) << 32 | int(data[-1]))
        self._key = random.state(), key

    def get_and_rotate_prng_key(self, generator: torch.Generator | None = None) -> jax.Array:
        """A new key of the device's random stream, or of a generator."""
        return jax.random.wrap_key_data(next_key(generator))

    def manual_seed(self, seed: int) -> None:
        """`torch.manual_seed`."""
        torch.manual_seed(seed)

    def to_xla(self, tree: Any) -> Any:
        """Move the tensors of a tree to device "jax". Modules, which may also be leaves, are moved in place."""
        return jax.tree.map(lambda x: x.to(NAME) if isinstance(x, (torch.Tensor, torch.nn.Module)) else x, tree)

    def j2t_iso(self, tree: Any) -> Any:
        """Convert arrays to tensors of the device, without a copy."""
        return from_jax(tree)

    def t2j_iso(self, tree: Any) -> Any:
        """Convert tensors to arrays, without a copy."""
        return to_jax(tree)

    def v2t_iso(self, tree: Any) -> Any:
        """Return the tree: views are tensors."""
        return tree

    def j2t_copy(self, tree: Any) -> Any:
        """Convert arrays to CPU tensors."""
        return jax.tree.map(lambda x: j2t(x, device="cpu") if isinstance(x, jax.Array) else x, tree)

    def t2j_copy(self, tree: Any) -> Any:
        """Convert tensors, including CPU tensors, to arrays."""
        return to_jax(tree)

    def override_op_definition(
        self, op_to_override: Any, op_impl: Callable[..., Any], is_view_op: bool = False
    ) -> Override:
        """Compute an operator on device "jax" by a torch function, in this process.

        Args:
            op_to_override: an overload or packet of `torch.ops`, or a torch function that is implemented in C++, such
                as `torch.nn.functional.scaled_dot_product_attention`.
            op_impl: a function that receives the arguments of the call. It may compute with arrays, by `jax_view` and
                `torch_view`; if a gradient is needed, JAX differentiates it.
            is_view_op: has no effect, because views are tensors.

        Returns:
            The override; its `remove()` ends it.

        Raises:
            TypeError: torch has no such operator.
            NotImplementedError: the operator creates or views memory.
        """
        return of_tensors(op_to_override, op_impl)


default_environment = Environment()
move_to_device = default_environment.to_xla


@contextmanager
def drawing_from(key: jax.Array) -> Iterator[None]:
    """Make the random operations of this thread draw from a key."""
    numbers = itertools.count(1)

    def draw(generator: torch.Generator | None) -> Any:
        if generator is not None:
            return draw_key(generator)
        return jax.random.key_data(jax.random.fold_in(key, next(numbers)))

    before, drawing.draw = drawing.draw, draw
    try:
        yield
    finally:
        drawing.draw = before


def _apply_jax(self: torch.Tensor, function: Callable[..., Any], *args: Any, **kwargs: Any) -> torch.Tensor:
    """Apply a JAX function to the array, and convert the result to a tensor."""
    return from_jax(function(tensor_to_jax(self.detach()), *args, **kwargs))


def _apply_jax_(self: torch.Tensor, function: Callable[..., Any], *args: Any, **kwargs: Any) -> torch.Tensor:
    """Apply a JAX function to the array, and write the result into the tensor.

    Views share the new value. For a result of another shape, dtype or device, the tensor gets a new storage; views of
    the old storage keep it.

    Raises:
        RuntimeError: such a result for a tensor that is a part of a storage.
    """
    array = function(tensor_to_jax(self.detach()), *args, **kwargs)
    result, cell = from_jax(array), cell_of(self)
    whole = covers_array(self, cell)
    with torch.no_grad():
        if (result.shape, result.dtype, result.device) == (self.shape, self.dtype, self.device):
            if not whole:
                return self.copy_(result)
            torch.autograd.graph.increment_version(self)
            cell.write(array)
        elif not whole:
            raise RuntimeError(
                f"apply_jax_: a result of shape {tuple(result.shape)}, {result.dtype} for a view of shape "
                f"{tuple(self.shape)}, {self.dtype}; expected the same, or tensor.apply_jax(function)"
            )
        elif result.dtype == self.dtype and result.device == self.device:
            self.set_(result)
        else:
            self.data = result
    return self


def _shard_(self: torch.Tensor, sharding: Any) -> torch.Tensor:
    """Shard the tensor over devices, in place. Views remain aliased only if it covers its storage in memory order."""
    if covers_array(self, cell_of(self)):
        return _apply_jax_(self, jax.device_put, sharding)
    with torch.no_grad():
        return self.set_(_apply_jax(self, jax.device_put, sharding))  # type: ignore[call-overload]


def _jax_device(self: torch.Tensor) -> Any:
    """The JAX device of the tensor, or its sharding over several."""
    return tensor_to_jax(self.detach()).device


def _torch(self: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU."""
    return self.detach().cpu()


def _elem(self: torch.Tensor) -> Any:
    """The array of a device tensor; other tensors lack the attribute, by which programs tell them apart."""
    if isinstance(self, Tensor):
        return tensor_to_jax(self.detach())
    try:
        return self.__dict__["_elem"]  # of a subclass
    except KeyError:
        raise AttributeError("a CPU tensor has no '_elem'") from None


def _set_elem(self: torch.Tensor, value: Any) -> None:
    if isinstance(self, Tensor):
        _apply_jax_(self, lambda _: value)
    else:
        self.__dict__["_elem"] = value


def _array(plain: Callable[..., Any]) -> Callable[..., Any]:
    def __array__(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        """The value, of device tensors that require a gradient too."""
        return plain(self.detach() if isinstance(self, Tensor) else self, *args, **kwargs)

    return __array__


register_all()  # before a function is traced under autocast, and before `__array__` is replaced a second time
for _method in (_apply_jax, _apply_jax_, _shard_, _torch):
    patches.replace(f"torch.Tensor.{_method.__name__[1:]}", _method)
patches.replace("torch.Tensor.jax_device", property(_jax_device))
patches.replace("torch.Tensor._elem", property(_elem, _set_elem))
patches.wrap("torch.Tensor.__array__", _array)

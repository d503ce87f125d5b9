"""`torchax.interop`: conversion of values and functions, and JAX transformations of torch functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import torch
from jax import shard_map as shard_map
from torch import nn

from ...distributed.axes import axis_group
from ...functional.keys import refuse_draw
from ...interop.convert import t2j
from ...interop.functional_module import FunctionalModule, ties_of, unchanged, with_tensors
from ...interop.modules import JaxModule, from_flax
from ...interop.remat import TransformedModule, checkpoint, transformed_module
from ...sharding.current import automatic
from ...storage.random import next_key
from ...trace.core import current_trace
from ...trace.transfer import from_jax
from .conversion import call_jax as call_jax
from .conversion import call_torch as call_torch
from .conversion import j2t_autograd as j2t_autograd
from .conversion import jax_view as jax_view
from .conversion import jax_view_elem as jax_view_elem
from .conversion import torch_view as torch_view
from .conversion import torch_view_elem as torch_view_elem

Options = dict[str, Any] | None

fori_loop = torch_view(jax.lax.fori_loop)  # tensors that the body closes over get no torch gradient


def wrap_jax_jit(
    torch_function: Callable[..., Any], jax_jit_func: Callable[..., Any] = jax.jit, kwargs_for_jax: Options = None
) -> Callable[..., Any]:
    """Apply a JAX transformation to a torch function; the result is called with tensors.

    The function must be pure: it must not write tensors from outside. Its result has no torch gradient; use `tenax.jit`
    for functions that torch differentiates. Each call draws new random numbers.
    """
    transformed = _with_key(t2j(torch_function), jax_jit_func, kwargs_for_jax or {})

    @functools.wraps(torch_function)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        keyless = trace is not None and trace.draw is refuse_draw
        key = None if keyless else jax.random.wrap_key_data(next_key())
        return from_jax(transformed(key, *jax_view(args), **jax_view(kwargs)))

    return call


def _with_key(function: Callable[..., Any], transform: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Transform a function of arrays with the argument `rng`; the result takes the key first.

    `jax.jit` with `in_shardings` takes no keywords, so there the key is the last argument, with any sharding.
    """
    if options.get("in_shardings") is None:
        transformed = transform(function, **options)
        return lambda key, *args, **kwargs: transformed(*args, rng=key, **kwargs)
    given = options["in_shardings"]

    @functools.cache
    def for_length(length: int) -> Callable[..., Any]:
        shardings = tuple(given) if isinstance(given, (tuple, list)) else (given,) * length

        @functools.wraps(function)
        def positional(*args: Any) -> Any:
            return function(*args[:-1], rng=args[-1])

        del positional.__wrapped__  # its signature lacks the positional key
        return transform(positional, **{**options, "in_shardings": (*shardings, None)})

    return lambda key, *args, **kwargs: for_length(len(args))(*args, key, **kwargs)


def jax_jit(
    torch_function: Callable[..., Any],
    kwargs_for_jax_jit: Options = None,
    fix_for_buffer_donation: bool = False,
) -> Callable[..., Any]:
    """Apply `jax.jit` with `wrap_jax_jit`. `fix_for_buffer_donation` has no effect here."""
    return wrap_jax_jit(torch_function, jax.jit, kwargs_for_jax_jit)


def jax_value_and_grad(
    torch_function: Callable[..., Any], kwargs_for_value_and_grad: Options = None
) -> Callable[..., Any]:
    """Apply `jax.value_and_grad` with `wrap_jax_jit`."""
    return wrap_jax_jit(torch_function, jax.value_and_grad, kwargs_for_value_and_grad)


def jax_shard_map(torch_function: Callable[..., Any], kwargs_for_jax_shard_map: Options = None) -> Callable[..., Any]:
    """Apply `jax.shard_map` to a torch function without random operations; the result is called with tensors.

    The axes of its mesh are treated as automatic, as for all tensors, and their names are groups of torch's functional
    collectives; see `tenax.distributed.axis_group`.
    """
    options = dict(kwargs_for_jax_shard_map or {})
    if isinstance(options.get("mesh"), jax.sharding.Mesh):
        options["mesh"] = automatic(options["mesh"])
        for axis in options["mesh"].axis_names:
            axis_group(axis)
    mapped = jax.shard_map(t2j(torch_function), **options)
    return functools.wraps(torch_function)(lambda *args: from_jax(mapped(*jax_view(args))))


def gradient_checkpoint(torch_function: Callable[..., Any], kwargs: Options = None) -> Callable[..., Any]:
    """Apply `tenax.interop.checkpoint`, with the options `policy`, `prevent_cse` and `static_argnums`."""
    return checkpoint(torch_function, **(kwargs or {}))


class JittableModule(nn.Module):
    """A module whose methods run as XLA programs. `forward` supports `backward()` and updates buffers.

    Args:
        m: the module.
        extra_jit_args: options of `jax.jit`, in which parameters are argument 0, buffers are argument 1, and the
            arguments of the method start at 2. `forward` then accepts only arrays, unless arguments are static, and
            donates nothing.
        dedup_parameters: name tied tensors once in `params` and `buffers`.
    """

    def __init__(self, m: nn.Module, extra_jit_args: Options = None, dedup_parameters: bool = True) -> None:
        super().__init__()
        self._model = m
        self._extra_jit_args = dict(extra_jit_args or {})
        self._dedup = dedup_parameters
        self._jitted: dict[str, Callable[..., Any]] = {}
        self._named = _extract(m, dedup_parameters)  # plain dicts, which JAX knows as trees; programs write to them
        self._taken = {**self._named[0], **self._named[1]}  # their tensors, which are those of the module
        self.register_state_dict_pre_hook(lambda module, *_: module.take_tensors())

    @property
    def params(self) -> dict[str, torch.Tensor]:
        """The parameters that require a gradient, by name. What is set in the dictionary becomes the module's."""
        return self.take_tensors()[0]

    @params.setter
    def params(self, tensors: dict[str, torch.Tensor]) -> None:
        self._named = tensors, self.take_tensors()[1]

    @property
    def buffers(self) -> Any:
        """Buffers, frozen parameters, and tensors that are plain attributes, by name; as `params`."""
        return self.take_tensors()[1]

    @buffers.setter
    def buffers(self, tensors: dict[str, torch.Tensor]) -> None:
        self._named = self.take_tensors()[0], tensors

    def take_tensors(self) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """The dictionaries, after the module has taken what was set in them.

        Raises:
            KeyError: the module has no tensor of a name.
        """
        new = {k: v for d in self._named for k, v in d.items() if v is not self._taken.get(k)}
        if new:
            set_all_buffers(self._model, new, {}, shared=True)
        found = _extract(self._model, self._dedup)
        for held, now in zip(self._named, found, strict=True):
            held.clear()
            held.update(now)
        self._taken = {**found[0], **found[1]}
        return self._named

    def named_modules(self, *args: Any, **kwargs: Any) -> Any:
        """As of any module: what `parameters()` and its like read."""
        self.take_tensors()
        return super().named_modules(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled module."""
        return self.jittable_call("forward", *args, **kwargs)

    def jittable_call(self, method_name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method by name, compiled."""
        if method_name not in self._jitted:
            self.make_jitted(method_name)
        return self._jitted[method_name](*args, **kwargs)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class of the module, for `isinstance`."""
        model = self.__dict__.get("_modules", {}).get("_model")
        return JittableModule if model is None else type(model)

    def functional_call(self, method_or_name: Any, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the module, or a function that uses the module, with other parameters and buffers.

        A tensor given for one name of a tied tensor replaces it under all its names, unless these are given too.
        Tensors that are not given are kept.

        Raises:
            KeyError: the module has no tensor of a name.
            TypeError: `method_or_name` is neither a name nor callable.
        """
        self.take_tensors()
        function = _method(self._model, method_or_name)
        with with_tensors(self._model, {**params, **buffers}):
            return function(*args, **kwargs)

    def make_jitted(self, method: str) -> None:
        """Compile a method: `jittable.method(...)` then runs the program with the current tensors of the module.

        Results of methods other than `forward` have no torch gradient, and these methods update no buffers.
        """
        model, options = self._model, self._extra_jit_args
        if method == "forward":
            jitted = functools.partial(_jitted_with, options)
            forward = TransformedModule(model, jitted) if options else transformed_module(model, jax.jit)
        compiled: dict[tuple[bool, ...], Callable[..., Any]] = {}

        def call(*args: Any, **kwargs: Any) -> Any:
            params, buffers = self.take_tensors()
            if method == "forward":
                return forward(*args, **kwargs)
            modes = tuple(m.training for m in model.modules())
            if modes not in compiled:
                compiled[modes] = jax_jit(functools.partial(_call, model, method), options)
            return compiled[modes](params, buffers, *args, **kwargs)

        self._jitted[method] = call

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_jitted": {}}  # a copy compiles its own module

    def __getattr__(self, name: str) -> Any:
        jitted = self.__dict__.get("_jitted", {})
        if name in jitted:
            return jitted[name]
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_model"), name)


def _method(model: nn.Module, method_or_name: Any) -> Callable[..., Any]:
    """The function to call: a method by name, a bound method, or another callable with the module as first argument."""
    if isinstance(method_or_name, str):
        bound: Callable[..., Any] = getattr(model, method_or_name)
        return bound
    if not callable(method_or_name):
        raise TypeError(f"functional_call: got {type(method_or_name).__name__}; expected a name or a callable")
    if getattr(method_or_name, "__self__", None) is model:
        return method_or_name
    return functools.partial(method_or_name, model)


def _call(model: nn.Module, method: str, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
    with unchanged(model), with_tensors(model, {**params, **buffers}):
        return getattr(model, method)(*args, **kwargs)


def _jitted_with(options: dict[str, Any], pure: FunctionalModule) -> Callable[..., Any]:
    """The function of a module for `TransformedModule`, compiled with options of `jax.jit`."""

    def function(params: Any, buffers: Any, *args: Any, rng: Any = None, **kwargs: Any) -> Any:
        return pure.apply(params, buffers, args, kwargs, rng)

    kept = {k: v for k, v in options.items() if not k.startswith("donate_")}
    if "out_shardings" in kept:
        kept["out_shardings"] = kept["out_shardings"], None
    jitted = _with_key(function, jax.jit, kept)

    def call(params: Any, buffers: Any, key: Any, args: Any, kwargs: Any) -> Any:
        return jitted(None if key is None else jax.random.wrap_key_data(key), params, buffers, *args, **kwargs)

    return call


def extract_all_buffers(m: nn.Module) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """The tensors of a module by name: parameters that require a gradient; and buffers, frozen parameters, attributes.

    A tied tensor is listed under each of its names.
    """
    return _extract(m, dedup=False)


def _extract(m: nn.Module, dedup: bool) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    params: dict[str, torch.Tensor] = {}
    buffers: dict[str, torch.Tensor] = {}
    for tie in ties_of(m, attributes=True):
        for slot in tie[:1] if dedup else tie:
            trained = isinstance(slot.tensor, nn.Parameter) and slot.tensor.requires_grad
            (params if trained else buffers)[slot.names[0]] = slot.tensor
    return params, buffers


def set_all_buffers(
    m: nn.Module, params: dict[str, torch.Tensor], buffers: dict[str, torch.Tensor], shared: bool = False
) -> None:
    """Set the tensors of a module, by any of their names. Tied tensors stay tied.

    A value of another shape, dtype or device replaces the tensor's data; others are copied into it. With `shared`, each
    replaces the data, in the memory of the value. A tensor on device "meta" is replaced itself.

    Raises:
        KeyError: the module has no tensor of a name.
    """
    own = {name: tie for tie in ties_of(m, attributes=True) for slot in tie for name in slot.names}
    with torch.no_grad():
        for name, value in {**params, **buffers}.items():
            tensor = own[name][0].tensor
            alike = (tensor.shape, tensor.dtype, tensor.device) == (value.shape, value.dtype, value.device)
            if alike and not shared:
                tensor.copy_(value)
                continue
            value = value.detach() if shared else value.detach().clone()
            if not tensor.is_meta:
                tensor.data = value
                continue
            for slot in own[name]:
                is_parameter = isinstance(tensor, nn.Parameter)
                slot.holder[slot.key] = nn.Parameter(value, tensor.requires_grad) if is_parameter else value


def FlaxNNModule(  # noqa: N802 (torchax's name)
    env: Any, flax_module: Any, sample_args: Sequence[Any], sample_kwargs: dict[str, Any] | None = None
) -> JaxModule:
    """Apply `from_flax` to `flax_module.init(env.prng_key, ...)`; the next module is initialized with another key."""
    variables = flax_module.init(env.prng_key, *jax_view(tuple(sample_args)), **jax_view(sample_kwargs or {}))
    env.get_and_rotate_prng_key()
    return from_flax(flax_module, variables)

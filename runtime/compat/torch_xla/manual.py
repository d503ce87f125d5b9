"""Manual sharding: tensors of which each device of a mesh has its own, between `enable_manual_sharding` and
`disable_manual_sharding`.

Such a tensor has the shape of one device's part. Its values are one array with the devices as first axis, which is
sharded over the mesh. Each operation is `torch.vmap` over that axis, so that autograd, views and writes are torch's; a
JAX function, such as a Pallas kernel, is a `jax.shard_map`. Tensors from outside are the same on every device. For the
batched form of some operations, such as `topk` and writes by an index, XLA exchanges parts, which costs time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import jax
import torch
from jax import lax
from jax.sharding import PartitionSpec

from ..._torch import pytree
from ..._torch.dispatcher import VMAP_KEYS, ForceKeys, excluded_keys, included_keys
from ..._torch.tensors import new_wrapper
from ...dispatch.jax_call import call, function_number, function_of_number
from ...sharding.current import automatic
from ...storage.layout import lay_out
from .meshes import LogicalMesh, chosen_mesh
from .replicas import REDUCTIONS, Groups, Replicas, check_reduction
from .sharded_tensor import ShardingType

Tensor = torch.Tensor


class ManualTensor(Tensor):
    """A tensor of which each device of a mesh has its own."""

    parts: Tensor  # those of the devices, in the order of the mesh
    mesh: LogicalMesh
    sharding_spec, sharding_type = "{manual}", ShardingType.MANUAL
    mesh_shape = property(lambda self: self.mesh.mesh_shape)
    global_tensor = property(lambda self: self)

    @staticmethod
    def __new__(cls, parts: Tensor, mesh: LogicalMesh) -> ManualTensor:
        new = new_wrapper(cls, parts.shape[1:], parts.stride()[1:], dtype=parts.dtype, device=parts.device)
        new.parts, new.mesh = parts, mesh
        return new

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return f"ManualTensor(shape={[*self.shape]}, dtype={self.dtype}, on each device of {self.mesh})"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        leaves, tree = pytree.tree_flatten((args, kwargs or {}))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        mesh, *others = {str(m): m for m in (leaves[i].mesh for i in places if isinstance(leaves[i], cls))}.values()
        if others:
            raise ValueError(f"{func}: parts of {mesh} and of {others[0]}; expected those of one mesh")
        to_host = any(isinstance(leaf, torch.device) and leaf.type == "cpu" for leaf in leaves)
        if func is torch.ops.aten._local_scalar_dense.default or to_host:
            raise RuntimeError(f"{func}: each device has its own value; expected xs.disable_manual_sharding before it")
        if torch.Tag.inplace_view in func.tags:
            raise NotImplementedError(f"{func}: a tensor between enable_ and disable_manual_sharding keeps its shape")
        dims = tuple(0 if isinstance(leaves[i], cls) else None for i in places)
        given = [leaves[i].parts if isinstance(leaves[i], cls) else leaves[i] for i in places]

        def run(*tensors: Tensor) -> Any:
            filled = [*leaves]
            for i, tensor in zip(places, tensors, strict=True):
                filled[i] = tensor
            args, kwargs = pytree.tree_unflatten(filled, tree)
            return (_index if func is torch.ops.aten.index.Tensor else func)(*args, **kwargs)

        with ForceKeys(included_keys(), excluded_keys() - VMAP_KEYS):  # torch excludes them in this method
            if func is torch.ops.tenax.call.default:
                results: Any = _called(args[0], mesh, given, dims)
            else:
                results = torch.vmap(run, dims, randomness="different")(*given)
        if any(argument.is_write for argument in func._schema.arguments):
            return args[0]
        made, tree = pytree.tree_flatten(results)
        return pytree.tree_unflatten([ManualTensor(result, mesh) for result in made], tree)


def _index(x: Tensor, indices: Sequence[Tensor | None]) -> Any:
    """`x[indices]`. For the batched form, unlike that of `index_select`, XLA would gather the parts of all devices."""
    dim, *others = [d for d, index in enumerate(indices) if index is not None]
    index = indices[dim]
    if others or index is None or index.dtype not in (torch.int64, torch.int32):
        return torch.ops.aten.index.Tensor(x, indices)
    rows = torch.where(index < 0, index + x.shape[dim], index).reshape(-1)
    return x.index_select(dim, rows).reshape(*x.shape[:dim], *index.shape, *x.shape[dim + 1 :])


def _mapped(
    key: Any, body: Callable[..., Any], mesh: LogicalMesh, given: Any, specs: Any, out: Any, parent: int | None = None
) -> Any:
    """Call a function of arrays on each device of a mesh, with its parts by the specs."""
    jax_mesh = automatic(mesh.get_jax_mesh())
    number = function_number(
        (*key, str(mesh), specs, out),
        lambda: jax.shard_map(body, mesh=jax_mesh, in_specs=specs, out_specs=out, check_vma=False),
        parent,
    )
    return call(number, given)


def _by_device(mesh: LogicalMesh) -> PartitionSpec:
    return PartitionSpec(mesh.get_jax_mesh().axis_names)


def _called(number: int, mesh: LogicalMesh, given: Sequence[Tensor], dims: tuple[int | None, ...]) -> Any:
    def body(*blocks: Any) -> Any:
        function = function_of_number(number)
        results = function(*(b if d is None else b[0] for b, d in zip(blocks, dims, strict=True)))
        return tuple(r[None] for r in results)

    specs = tuple(PartitionSpec() if d is None else _by_device(mesh) for d in dims)
    return _mapped(("manual", number), body, mesh, given, specs, _by_device(mesh), parent=number)


class _Boundary(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, convert: Callable[[Tensor], Tensor], t: Tensor) -> Tensor:
        return convert(t)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise NotImplementedError(
            "enable_manual_sharding has no gradient, as in PyTorch/XLA; expected it, and disable_manual_sharding, in "
            "the forward and in the backward of an autograd.Function"
        )


def enable_manual_sharding(t: Tensor, partition_spec: Sequence[Any], *, mesh: LogicalMesh | None = None) -> Any:
    """The part of a tensor on each device of a mesh; what is computed of it is computed on each device.

    Collectives of `xm` exchange values between the devices, whose numbers are those of groups.

    Args:
        t: a tensor on the device.
        partition_spec: for each dimension a mesh axis by name or number, a tuple of axes, or None.
        mesh: by default that of `set_global_mesh`.

    Raises:
        ValueError: the spec does not fit the tensor or the mesh; the devices do not divide a dimension.
    """
    chosen = chosen_mesh(mesh)
    spec = chosen.fitted("enable_manual_sharding", t, partition_spec).spec

    def convert(t: Tensor) -> Tensor:
        parts = _mapped(("enable",), lambda block: (block[None],), chosen, [t], (spec,), _by_device(chosen))
        return ManualTensor(parts[0], chosen)

    return _Boundary.apply(convert, t) if t.requires_grad and torch.is_grad_enabled() else convert(t)


def disable_manual_sharding(
    t: Tensor, partition_spec: Sequence[Any], full_shape: Sequence[int], *, mesh: LogicalMesh | None = None
) -> Tensor:
    """The tensor whose parts the devices have. Along axes of the mesh that the spec leaves out, one part counts.

    Args:
        t: the part of each device; a tensor from outside is the same on each.
        partition_spec: as in `enable_manual_sharding`.
        full_shape: the shape of the result.
        mesh: by default that of `set_global_mesh`.

    Raises:
        ValueError: the spec does not fit the tensor or the mesh, or the parts do not have the shape together.
    """
    chosen = chosen_mesh(mesh)
    part = t if isinstance(t, ManualTensor) else enable_manual_sharding(t, (None,) * t.dim(), mesh=chosen)
    sharding = chosen.fitted("disable_manual_sharding", torch.empty(full_shape, device="meta"), partition_spec)
    expected = sharding.shard_shape(tuple(full_shape))
    if expected != tuple(part.shape) or str(chosen) != str(part.mesh):
        raise ValueError(
            f"disable_manual_sharding: parts of shape {[*part.shape]} on {part.mesh} by {tuple(partition_spec)} for "
            f"full_shape {[*full_shape]}; expected parts of shape {[*expected]} on {chosen}"
        )

    def convert(part: Any) -> Tensor:
        full = _mapped(("disable",), lambda x: (x[0],), chosen, [part.parts], (_by_device(chosen),), sharding.spec)[0]
        lay_out(full, sharding)  # for `full.sharding_spec`, also in a trace
        return full

    return _Boundary.apply(convert, part) if part.requires_grad and torch.is_grad_enabled() else convert(part)


class ManualReplicas(Replicas):
    """The devices of a mesh, for collectives of manual tensors. Groups consist of the numbers of devices."""

    def __init__(self, mesh: LogicalMesh) -> None:
        self.mesh, self.size = mesh, mesh.size()

    def members(self, groups: Groups) -> list[int]:
        return [*(groups or [self.mesh.device_ids.tolist()])[0]]

    def _on_parts(self, collective: Any, tensor: Any, **options: Any) -> Any:
        axes, by_device = self.mesh.get_jax_mesh().axis_names, _by_device(self.mesh)
        key = collective.__name__, *options.items()

        def body(block: Any) -> Any:
            return (collective(block[0], axes, **options)[None],)

        parts = tensor.parts if isinstance(tensor, ManualTensor) else tensor.expand(self.size, *tensor.shape)
        return ManualTensor(_mapped(key, body, self.mesh, [parts], (by_device,), by_device)[0], self.mesh)

    def _places(self, groups: Groups) -> Any:
        place = {number: i for i, number in enumerate(self.mesh.device_ids.tolist())}
        return tuple(tuple(place[i] for i in group) for group in groups) if groups else None

    def gathered(self, tensor: Tensor, groups: Groups = None) -> list[Tensor]:
        return [*self._on_parts(lax.all_gather, tensor, axis_index_groups=self._places(groups))]

    def reduced(self, kind: str, tensors: Sequence[Tensor], groups: Groups = None) -> list[Tensor]:
        if kind != "sum" or any(x.dtype == torch.bool for x in tensors):
            return super().reduced(kind, tensors, groups)
        return [self._on_parts(lax.psum, x, axis_index_groups=self._places(groups)) for x in tensors]

    def scattered(self, kind: str, tensor: Tensor, groups: Groups = None) -> Tensor:
        check_reduction(kind)
        if kind == "sum" and tensor.dtype != torch.bool:
            return self._on_parts(lax.psum_scatter, tensor, axis_index_groups=self._places(groups), tiled=True)
        return reduce(REDUCTIONS[kind], self.exchanged(tensor, groups).chunk(len(self.members(groups))))

    def exchanged(self, tensor: Tensor, groups: Groups = None) -> Tensor:
        rows = tensor.reshape(len(self.members(groups)), -1)
        options = {"split_axis": 0, "concat_axis": 0, "axis_index_groups": self._places(groups), "tiled": True}
        return self._on_parts(lax.all_to_all, rows, **options).reshape(tensor.shape)

    def permuted(self, tensor: Tensor, pairs: Sequence[Sequence[int]]) -> Tensor:
        return self._on_parts(lax.ppermute, tensor, perm=self._places(pairs) or ())

"""The seam to JAX: every private name of JAX that the package uses is bound here. Importing it imports JAX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.extend.core.primitives import jit_p, scan_p, svd_p

from .releases import check_release, private_names

check_release("jax", jax.__version__)

with private_names("jax", jax.__version__):
    from jax._src import config as _config
    from jax._src import core as _core
    from jax._src import dtypes as _dtypes
    from jax._src import source_info_util as _source_info
    from jax._src import tree_util as _tree_util
    from jax._src import xla_bridge as _xla_bridge
    from jax._src.array import ArrayImpl as ArrayImpl  # the class of every concrete array
    from jax._src.interpreters import mlir as _mlir
    from jax._src.interpreters import pxla as _pxla
    from jax._src.named_sharding import SdyArray as _SdyArray
    from jax._src.named_sharding import SdyDim as _SdyDim
    from jax._src.random.prng import PRNGImpl as PRNGImpl  # the parameter of an equation that makes random keys
    from jax._src.sharding_impls import replicated_hlo_sharding as _replicated
    from jaxlib import _jax as _jaxlib
    from jaxlib.mlir._mlir_libs import _mlirHlo
    from jaxlib.mlir.dialects import chlo as _chlo
    from jaxlib.mlir.dialects import mpmd as _mpmd
    from jaxlib.mlir.dialects import sdy as _sdy
    from jaxlib.mlir.dialects import stablehlo as _stablehlo

    # Whether no JAX trace is active on this thread.
    trace_state_clean: Callable[[], bool] = _core.trace_state_clean
    shaped_abstractify = _core.shaped_abstractify
    # The type of the array that holds the elements of an array: of random keys, that of their data.
    physical_aval: Callable[[Any], jax.core.ShapedArray] = _core.physical_aval
    # JAX's two tables, by type, that convert an argument to its abstract value and to its canonical value.
    abstract_value_of: dict[type, Callable[[Any], Any]] = _core.pytype_aval_mappings
    value_of: Any = _dtypes.canonicalize_value_handlers

    # A context that binds axis names before a mesh has them, and the effect that records which names a program uses.
    named_axes: Callable[[list[tuple[str, int]]], AbstractContextManager[Any]] = _core.extend_axis_env_nd
    NamedAxisEffect = _core.NamedAxisEffect

    # Whether JAX has initialized a backend; after that, the process cannot join a distributed program.
    backends_are_initialized: Callable[[], bool] = _xla_bridge.backends_are_initialized

    _put: Callable[..., jax.Array] = _pxla.batched_device_put
    _explicit: Callable[[], AbstractContextManager[None]] = _config.explicit_device_put_scope  # for transfer guards
    _ShapedArray = _core.ShapedArray

    _jaxlib.LoadedExecutable.execute_sharded  # noqa: B018 (checked here, used below)
    _jaxlib.ExecuteResults.consume_with_handlers  # noqa: B018
    _jaxlib.ExecuteResults.disassemble_into_single_device_arrays  # noqa: B018


def uncommitted(array: jax.Array) -> jax.Array:
    """An uncommitted array on the same buffer: JAX moves it to the devices of arrays it is combined with."""
    with private_names("jax", jax.__version__):
        # The array is its own single shard, so skip JAX's checks, which take five times as long.
        return ArrayImpl(array.aval, array.sharding, [array], False, _skip_checks=True)  # type: ignore[list-item]


def put_on_first_device(array: Any) -> jax.Array:
    """Put a host array, which nothing else may write, on the first device, uncommitted; 64 bits need `enable_x64`.

    `jax.device_put` takes seven times as long, because it first analyses its argument and the destination.
    """
    device, sharding = _first_device()
    with _explicit():
        return _put(_ShapedArray(array.shape, array.dtype), sharding, [array], [device], committed=False)


@cache
def _first_device() -> tuple[jax.Device, jax.sharding.Sharding]:
    device = jax.local_devices()[0]
    return device, jax.sharding.SingleDeviceSharding(device)


def direct_call(compiled: jax.stages.Compiled) -> tuple[Callable[[list[jax.Array]], Any], Sequence[Any]]:
    """The functions that run a compiled program directly: `execute(arrays).consume_with_handlers(handlers)`.

    The handlers, which wrap each result buffer in an array, are those that JAX prepared for the executable.
    """
    with private_names("jax", jax.__version__):
        execute = compiled.runtime_executable().execute_sharded  # type: ignore[union-attr]
        return execute, compiled._executable.unsafe_call.out_handler.handlers  # type: ignore[attr-defined]


def forget_lowering(jaxpr: Any) -> None:
    """Evict a jaxpr that was lowered with `keep_unused`: a cache of JAX 0.12 maps it to itself, so it would not die."""
    with private_names("jax", jax.__version__):
        _pxla._dce_jaxpr.evict_weakref(jaxpr)


def mlir_context() -> Any:
    """A context for lowered programs, as JAX's `make_ir_context` creates, without importing the Python module of MHLO.

    That import takes longer than lowering a small program, and lowering does not use it.
    """
    with private_names("jax", jax.__version__):
        context = _mlir.JaxIrContext()
        context.append_dialect_registry(_mlir.upstream_dialects)
        context.load_all_available_dialects()
        context.set_thread_pool(_mlir.global_thread_pool)
        for dialect in (_sdy, _mpmd, _chlo, _stablehlo):
            dialect.register_dialect(context)
        _mlirHlo.register_mhlo_dialect(context)
    return context


def is_over_mesh(context: Any) -> bool:
    """Whether the program that is being lowered, or the part of it in a `shard_map`, leaves partitioning to XLA."""
    with private_names("jax", jax.__version__):
        place = context.module_context.axis_context
        if (mesh := getattr(place, "mesh", None)) is not None:
            return len(mesh.axis_names) > len(place.manual_axes)
        return getattr(place, "num_devices", 1) != 1


def constrained_to_whole_axes(context: Any, x: Any, axes: Sequence[int]) -> Any:
    """A value of the program that is being lowered, constrained not to be split along `axes`."""
    with private_names("jax", jax.__version__):
        (aval,) = context.avals_in
        if _config.use_shardy_partitioner.value:
            parts = tuple(_SdyDim((), is_open=axis not in axes) for axis in range(aval.ndim))
            return _mlir.wrap_with_sharding_op(context, x, aval, _SdyArray(mesh_shape=None, dim_shardings=parts))
        others = {*range(aval.ndim)} - {*axes}
        return _mlir.wrap_with_sharding_op(context, x, aval, _replicated.to_proto(), unspecified_dims=others)


def trace_settings() -> tuple[Any, ...]:
    """This thread's JAX settings that a trace depends on, as values whose text is the same in every process."""
    with private_names("jax", jax.__version__):
        return tuple(value for value in _config.trace_context() if value.__class__ is not _core.AxisEnv)


class ExecutableSource(Protocol):
    """Provides `jit_of_compiled` with an executable for each call."""

    @property
    def jitted(self) -> Callable[..., Any]:
        """The function to call when there is no executable."""

    def compiled_for(self, operands: tuple[Any, ...]) -> jax.stages.Compiled | None:
        """The executable for these operands; None if the call should use `jitted`."""


def jit_of_compiled(function: Callable[..., Any], program: ExecutableSource) -> Callable[..., Any]:
    """Like `jax.jit(function)`, but with executables that `program` provides.

    Calls go through the C++ function behind `jax.jit`, and are as fast. A call that misses its cache gets an executable
    from `program`. JAX calls AOT executables the same way, except that there a miss always runs that one executable.
    """

    def miss(*operands: Any) -> tuple[Any, Any, bool]:
        compiled = program.compiled_for(operands)
        if compiled is None:
            return program.jitted(*operands), None, False
        executable: Any = compiled._executable
        flat = jax.tree.leaves(operands)
        results = call_compiled(compiled, operands)
        if executable.unsafe_call.has_unordered_effects or executable.unsafe_call.has_host_callbacks:
            return results, None, False
        arrays, tree = _pxla.reflatten_outputs_for_dispatch(compiled.out_tree, jax.tree.leaves(results))
        data = _pxla.MeshExecutableFastpathData(
            xla_executable=executable.xla_executable,
            out_pytree_def=tree,
            in_shardings=executable._in_shardings,
            out_shardings=executable._out_shardings,
            out_avals=[a.aval for a in arrays],
            out_committed=[a.committed for a in arrays],
            kept_var_bitvec=[i in executable._kept_var_idx for i in range(len(flat))],
            in_device_local_layouts=executable._dispatch_in_layouts,
            const_args=[],
        )
        return results, data, False

    with private_names("jax", jax.__version__):
        keys, registry = _pxla.JitGlobalCppCacheKeys(), _tree_util.dispatch_registry
        made = _jaxlib.pjit(function.__name__, None, miss, [], [], keys, registry, _pxla.cc_shard_arg)
        call: Any = wraps(function)(made)
        call.program = program
        return call


def ask_again(call: Any) -> None:
    """Clear the cache of a function from `jit_of_compiled`, so that its next call consults its program."""
    with private_names("jax", jax.__version__):
        call._clear_cache()


def call_compiled(compiled: jax.stages.Compiled, operands: tuple[Any, ...]) -> Any:
    """Call an executable, whatever JAX's current settings are."""
    with private_names("jax", jax.__version__):
        executable: Any = compiled._executable
    return jax.tree.unflatten(compiled.out_tree, executable.call(*jax.tree.leaves(operands)))


def result_avals(compiled: jax.stages.Compiled) -> Any:
    """The abstract values of an executable's results, in their tree."""
    with private_names("jax", jax.__version__):
        return jax.tree.unflatten(compiled.out_tree, compiled._executable.out_avals)  # type: ignore[attr-defined]


def traced_as(equation: Any) -> AbstractContextManager[Any]:
    """A context in which new equations get the source line and name scopes of `equation`."""
    with private_names("jax", jax.__version__):
        stack = _source_info.current_name_stack() + equation.source_info.name_stack
        return _source_info.user_context(equation.source_info.traceback, name_stack=stack)


def local_call(compiled: jax.stages.Compiled) -> Callable[[list[jax.Array]], list[jax.Array]]:
    """A function that runs this process's part of a multi-process program, on arrays of its one device."""
    with private_names("jax", jax.__version__):
        execute = compiled.runtime_executable().execute_sharded  # type: ignore[union-attr]
        return lambda arrays: [uncommitted(x) for (x,) in execute(arrays).disassemble_into_single_device_arrays()]


@cache
def lower_for_tpus() -> None:
    """Replace JAX's lowering of `lax.scan` and `lax.linalg.svd` for TPUs, which emulate 64-bit integers. With 64-bit
    types on, a scan counts in them, and the loops of `svd` end the compiler's process."""
    with private_names("jax", jax.__version__):
        scan, svd = (_mlir._lowerings[primitive].rule for primitive in (scan_p, svd_p))

    def scan_rule(context: Any, *operands: Any, length: Any, **parameters: Any) -> Any:
        if isinstance(length, int) and length < 1 << 31:
            length = np.int32(length)  # the counter is of the same type
        return scan(context, *operands, length=length, **parameters)

    def svd_rule(context: Any, *operands: Any, **parameters: Any) -> Any:
        with jax.enable_x64(False):
            return svd(context, *operands, **parameters)

    _mlir.register_lowering(scan_p, scan_rule, platform="tpu")
    _mlir.register_lowering(svd_p, svd_rule, platform="tpu")


def tpu_chips() -> int:
    """The number of TPU chips of this host; a backend is not initialized."""
    with private_names("jax", jax.__version__):
        from jax._src import hardware_utils

        return int(hardware_utils.num_available_tpu_chips_and_device_id()[0])


@cache
def _call_parameters() -> dict[str, Any]:
    """The parameters of an equation that calls a function of one argument."""
    return dict(jax.make_jaxpr(jax.jit(jax.lax.neg))(1.0).eqns[0].params)


def apply_jaxpr(jaxpr: Jaxpr, constants: Sequence[Any], arguments: Sequence[Any]) -> list[jax.Array]:
    """Call a jaxpr as one equation, because evaluating its equations one by one would trace them a second time. A
    constant that the jaxpr does not use may be None."""
    given = [(v, c) for v, c in zip(jaxpr.constvars, constants, strict=True) if c is not None]
    inputs = [*(v for v, _ in given), *jaxpr.invars]
    info = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    closed = ClosedJaxpr(jaxpr.replace(constvars=(), invars=inputs, debug_info=info), ())
    params = dict(_call_parameters())
    for name in ("in_shardings", "in_layouts", "donated_invars"):
        params[name] *= len(inputs)
    for name in ("out_shardings", "out_layouts"):
        params[name] *= len(jaxpr.outvars)
    params.update(jaxpr=closed, name="run")
    return jit_p.bind(*(c for _, c in given), *arguments, **params)


class Option(NamedTuple):
    """A compiler option of XLA."""

    value: str | bool  # a valid value
    releases: str  # of JAX, among those that are supported
    without: str  # what is lost without the option
    is_optional: bool = True  # False: programs would compute other values, so XLA's error is raised


OPTIONS = {
    "xla_cpu_use_fusion_emitters": Option(
        False, "0.10 to 0.11.0", "first code takes two thirds of the default's compile time instead of a third"
    ),
    "xla_backend_optimization_level": Option("0", "all", "code compiles as slowly as XLA's default"),
    "xla_llvm_disable_expensive_passes": Option(True, "all", "first code compiles more slowly"),
    "xla_cpu_parallel_codegen_split_count": Option("1", "all", "small programs compile more slowly"),
    "xla_gpu_autotune_level": Option("0", "all", "XLA tries all algorithms before the first call"),
    "xla_gpu_enable_triton_gemm": Option(False, "all", "XLA tries all algorithms before the first call"),
    "xla_gpu_cuda_data_dir": Option("", "all", "programs for a GPU that need not exist do not compile", False),
    "xla_disable_hlo_passes": Option("", "all", "each consumer of a depthwise convolution computes it again"),
    "xla_allow_excess_precision": Option(False, "all", "float16 is not rounded within lazy programs", False),
}
_UNKNOWN = re.compile(r"No such compile option: '(.+?)'")
_NEVER_KNOWN = "tenax_no_such_option"


@cache
def missing_options() -> frozenset[str]:
    """The options of the table that the first device's XLA does not have; all of them if it does not tell.

    XLA refuses an option that it does not have, and drops options without notice. So those that only change the speed
    of compilation are left out where they are unknown.

    XLA sets options in their order before it compiles, and names the first one that it does not have. If that is one
    that no XLA has, it has all those before it. This takes two milliseconds, and compiles nothing.
    """
    with private_names("jax", jax.__version__):
        device, settings = jax.local_devices()[0], _jaxlib.CompileOptions()
        client: Any = device.client
        devices = _jaxlib.DeviceList((device,))
    missing: set[str] = set()
    while True:
        asked = [(name, option.value) for name, option in OPTIONS.items() if name not in missing]
        settings.env_option_overrides = [*asked, (_NEVER_KNOWN, True)]
        refused = None
        try:
            client.compile_and_load("module { func.func @main() { return } }", devices, settings)
        except jax.errors.JaxRuntimeError as error:
            refused = _UNKNOWN.search(str(error))
        if refused is not None and refused[1] == _NEVER_KNOWN:
            return frozenset(missing)
        if refused is None or refused[1] not in dict(asked):
            return frozenset(OPTIONS)
        missing.add(refused[1])

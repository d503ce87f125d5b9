"""Lightning's `Trainer` and `Fabric` with `accelerator="jax"`: an accelerator, its strategies and precision plugins.

Lightning exists under two names (`lightning.pytorch`, `pytorch_lightning`) with separate classes, so ours are created
for the package that was imported. They are registered by name in Lightning's registries. The choice of strategy and
precision plugin for an accelerator is hard-coded in two methods of Lightning's connectors, which are wrapped. The
strategy `jax_compiled` runs `training_step`, backward, clipping and optimizer as one XLA program.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .. import patches
from .._torch import NAME, pytree
from .hugging_face import tell_of_device

# Hooks that Lightning calls between parts of what is one program with `jax_compiled`.
_INSIDE = ("on_before_backward", "on_after_backward", "on_before_optimizer_step")


@dataclass(frozen=True)
class Family:
    """The modules of one of Lightning's packages, and the attributes of its connector that store the user's choices."""

    root: str
    connector: str
    registry: str  # name of the registry of accelerators
    precision: str
    precision_plugin: str

    def part(self, name: str) -> Any:
        """A submodule of the package."""
        return importlib.import_module(f"{self.root}.{name}")


def _family(module: str) -> Family:
    if module.endswith(".accelerator_connector"):
        root = module.removesuffix(".trainer.connectors.accelerator_connector")
        path, names = f"{module}._AcceleratorConnector", ("AcceleratorRegistry", "_precision_flag")
        return Family(root, path, *names, "_precision_plugin_flag")
    root = module.removesuffix(".connector")
    return Family(root, f"{module}._Connector", "ACCELERATOR_REGISTRY", "_precision_input", "_precision_instance")


def install(module: str) -> None:
    """Register the device with a Lightning package, whose connector module was just imported."""
    family = _family(module)
    accelerator = _accelerator(family)
    getattr(family.part("accelerators"), family.registry).register("jax", accelerator, description="JAX, by tenax")
    strategies = family.part("strategies")
    single = _strategy(family)
    registry = strategies.STRATEGY_REGISTRY if family.registry.isupper() else strategies.StrategyRegistry
    registry.register("jax", single, description="one device of JAX")
    if not family.registry.isupper():
        registry.register("jax_compiled", _compiled_strategy(family.root, single), description="one program for a step")

    def with_strategy(plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(plain)
        def choose(self: Any) -> Any:
            return "jax" if _is_ours(self) else plain(self)

        return choose

    def with_precision(plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(plain)
        def check(self: Any) -> Any:
            wanted = getattr(self, family.precision)
            given = getattr(self, family.precision_plugin)
            if given is None and _is_ours(self) and wanted in ("16-mixed", "bf16-mixed"):
                return importlib.import_module(f"{family.root}.plugins.precision").MixedPrecision(wanted, NAME)
            return plain(self)

        return check

    def _is_ours(connector: Any) -> bool:
        return isinstance(connector.accelerator, accelerator)

    def with_notice(plain: Callable[[], str]) -> Any:
        def choose() -> str:
            chosen = plain()
            if chosen == "cpu":
                tell_of_device("Lightning", '`accelerator="jax"`', '`accelerator="cpu"`')
            return chosen

        return staticmethod(functools.wraps(plain)(choose))

    patches.wrap(f"{family.connector}._choose_strategy", with_strategy)
    patches.wrap(f"{family.connector}._check_and_init_precision", with_precision)
    patches.wrap(f"{family.connector}._choose_auto_accelerator", with_notice)


def _accelerator(family: Family) -> Any:
    base: Any = family.part("accelerators").Accelerator

    class JaxAccelerator(base):  # type: ignore[misc]
        """One device of JAX."""

        def setup_device(self, device: torch.device) -> None:
            if device.type != NAME:
                raise ValueError(f"JaxAccelerator: the strategy is for device {device}; expected one of type {NAME}")

        def teardown(self) -> None:
            pass

        def get_device_stats(self, device: Any) -> dict[str, Any]:
            return {"memory_allocated": torch.accelerator.memory_allocated(device)}

        @staticmethod
        def parse_devices(devices: Any) -> list[int]:
            """The ordinals of the devices: one, given as 1, "1", [ordinal] or "ordinal,"."""
            if isinstance(devices, str):
                devices = [int(d) for d in devices.split(",") if d] if "," in devices else int(devices)
            found = list(range(torch.accelerator.device_count())) if devices == -1 else devices
            ordinals = list(range(found)) if isinstance(found, int) else list(found)
            if len(ordinals) != 1:
                raise ValueError(
                    f'devices={devices!r} with accelerator="jax": {len(ordinals)} devices; expected one. One process '
                    "trains on several devices by `tenax.mesh`, and a process per device by `tenax.launch`"
                )
            return ordinals

        @staticmethod
        def get_parallel_devices(devices: list[int]) -> list[torch.device]:
            return [torch.device(NAME, ordinal) for ordinal in devices]

        @staticmethod
        def auto_device_count() -> int:
            return 1

        @staticmethod
        def is_available() -> bool:
            return True

        @staticmethod
        def name() -> str:
            return "jax"

    return JaxAccelerator


def _strategy(family: Family) -> Any:
    base: Any = family.part("strategies").SingleDeviceStrategy

    class JaxStrategy(base):  # type: ignore[misc]
        """Lightning's strategy for one device, on the device that the accelerator was given."""

        strategy_name = "jax"

        def __init__(self, device: Any = f"{NAME}:0", **options: Any) -> None:
            super().__init__(device, **options)

        @property
        def parallel_devices(self) -> list[torch.device]:
            return []  # so that the connector sets them

        @parallel_devices.setter
        def parallel_devices(self, devices: list[torch.device]) -> None:
            if devices:
                self._root_device = devices[0]

    return JaxStrategy


def _compiled_strategy(root: str, single: Any) -> Any:
    """The strategy class for a Lightning package, derived from its strategy for one JAX device."""
    pytorch: Any = importlib.import_module(root)
    is_overridden: Any = importlib.import_module(f"{root}.utilities.model_helpers").is_overridden

    class CompiledStrategy(single):  # type: ignore[misc]
        """Compiles the step of a module with automatic optimization and one optimizer.

        Logged values of `training_step` are results of the program. The batch index is a symbolic number in it.

        Raises:
            ValueError: in `fit`, if the program would need manual optimization, several optimizers, accumulated
                gradients, or hooks between backward pass and optimizer.
        """

        strategy_name = "jax_compiled"

        def setup(self, trainer: Any) -> None:
            super().setup(trainer)
            module = self.lightning_module
            if self.optimizers:
                owners = [module, *trainer.callbacks]
                parents = [pytorch.LightningModule, *[pytorch.Callback] * len(trainer.callbacks)]
                hooks = [h for h in _INSIDE for o, p in zip(owners, parents, strict=True) if is_overridden(h, o, p)]
                for found, what in (
                    (not module.automatic_optimization, "manual optimization"),
                    (len(self.optimizers) != 1, f"{len(self.optimizers)} optimizers"),
                    (trainer.accumulate_grad_batches != 1, "accumulate_grad_batches"),
                    (bool(hooks), " and ".join(dict.fromkeys(hooks))),
                ):
                    if found:
                        raise ValueError(f'strategy "jax_compiled": {what} in a compiled step; expected strategy="jax"')
                self._program = self._compiled(module, self.optimizers[0], trainer)

        def training_step(self, *args: Any, **kwargs: Any) -> Any:
            numbers = {i: torch.tensor(a, device=self.root_device) for i, a in enumerate(args) if type(a) is int}
            output, logged = self._program([a for a in args if type(a) is not int], numbers)
            for name, value, options in logged:
                self.lightning_module.log(name, value, **options)
            return output

        def backward(self, closure_loss: torch.Tensor, optimizer: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
            return closure_loss  # done in `training_step`

        def optimizer_step(self, optimizer: Any, closure: Any, model: Any = None, **kwargs: Any) -> Any:
            return closure()  # `training_step` has stepped the optimizer

        def _compiled(self, module: Any, optimizer: Any, trainer: Any) -> Any:
            from .._jit.jitted import jit

            precision = self.precision_plugin
            scaler = getattr(precision, "scaler", None)
            clipping = trainer.gradient_clip_val, trainer.gradient_clip_algorithm

            def step(tensors: list[Any], numbers: dict[int, torch.Tensor]) -> Any:
                args = list(tensors)
                for place in sorted(numbers):
                    args.insert(place, numbers[place].item())
                logged: list[Any] = []
                module.log = lambda name, value, **options: logged.append((name, _detached(value), options))
                try:
                    with precision.train_step_context():
                        output = module.training_step(*args)
                finally:
                    del module.log
                loss = output["loss"] if isinstance(output, Mapping) else output
                (loss if scaler is None else scaler.scale(loss)).backward()
                if scaler is not None:
                    scaler.unscale_(optimizer)
                if clipping[0]:
                    module.configure_gradient_clipping(optimizer, *clipping)
                if scaler is None:
                    optimizer.step()
                else:
                    scaler.step(optimizer)
                    scaler.update()
                optimizer.zero_grad()
                return pytree.tree_map_only(torch.Tensor, _detached, output), logged

            return jit(step)

    return CompiledStrategy


def _detached(value: Any) -> Any:
    """A tensor, _detached; anything else unchanged."""
    return value.detach() if isinstance(value, torch.Tensor) else value

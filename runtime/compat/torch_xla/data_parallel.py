"""`torch_xla.distributed.data_parallel`, which programs import as `dp`: one thread per device."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from .device_type import jax_device
from .hardware import get_xla_supported_devices
from .loaders import ParallelLoader
from .presented import xla_named
from .replicas import run_threads


class ReplicaContext:
    """State that a replica keeps between calls, as attributes."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def getattr_or(self, name: str, defval: Any) -> Any:
        """An attribute; if missing, it is set to `defval`, or to its result if that is a function."""
        if getattr(self, name, None) is None:
            setattr(self, name, defval() if callable(defval) else defval)
        return getattr(self, name)


class DataParallel:
    """Copies of a module on devices, each with a thread that runs its loop function."""

    def __init__(self, network: Any, device_ids: Sequence[Any] | None = None, **kwargs: Any) -> None:
        """Copy the module to the devices.

        Args:
            network: a module, or a function that returns one.
            device_ids: devices or their strings; None for all. With an empty list, the loop runs on the CPU.
            kwargs: options of `ParallelLoader`.
        """
        self._kwargs = kwargs
        devices = get_xla_supported_devices() or [] if device_ids is None else device_ids
        module = network if isinstance(network, torch.nn.Module) else network()
        self.devices = [jax_device(d) for d in devices]
        if self.devices:
            self._models = [copy.deepcopy(module).to(device) for device in self.devices]
        else:
            self._models = [module]
        self._contexts = [ReplicaContext(xla_named(d)) for d in self.devices or [torch.device("cpu")]]

    @property
    def models(self) -> list[torch.nn.Module]:
        """The copies of the module, one per device."""
        return self._models

    def __call__(
        self,
        loop_fn: Callable[[Any, Any, Any, Any], Any],
        loader: Iterable[Any],
        fixed_batch_size: bool = False,
        batchdim: int = 0,
        **kwargs: Any,
    ) -> list[Any]:
        """Call `loop_fn(model, device_loader, device, context)` for each device, in a separate thread.

        The threads are the replicas of the collectives of `xla_model`.

        Args:
            loop_fn: the training or evaluation loop.
            loader: an iterable whose batch i goes to device `i % len(devices)`.
            fixed_batch_size: see `ParallelLoader`.
            batchdim: see `ParallelLoader`.
            kwargs: arguments of the loop.

        Returns:
            The results of the calls, by device.

        Raises:
            Exception: the first exception of a call.
        """
        if not self.devices:
            return [loop_fn(self._models[0], loader, torch.device("cpu"), self._contexts[0], **kwargs)]
        options = {"batchdim": batchdim, "fixed_batch_size": fixed_batch_size, **self._kwargs}
        parallel = ParallelLoader(loader, self.devices, **options)
        results: list[Any] = [None] * len(self.devices)

        def run(rank: int) -> None:
            device = self.devices[rank]
            try:
                loader = parallel.per_device_loader(device)
                results[rank] = loop_fn(self._models[rank], loader, xla_named(device), self._contexts[rank], **kwargs)
            except BaseException:
                parallel.close()
                raise

        run_threads(self.devices, "DataParallel", run)
        return results

"""Lightning's strategy `jax_compiled`: `training_step`, backward, clipping and optimizer as one XLA program."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import torch

from .._torch import pytree

# Hooks that Lightning calls between parts of what is one program here.
_INSIDE = ("on_before_backward", "on_after_backward", "on_before_optimizer_step")


def compiled_strategy(root: str, single: Any) -> Any:
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
                module.log = lambda name, value, **options: logged.append((name, detached(value), options))
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
                return pytree.tree_map_only(torch.Tensor, detached, output), logged

            return jit(step)

    return CompiledStrategy


def detached(value: Any) -> Any:
    """A tensor, detached; anything else unchanged."""
    return value.detach() if isinstance(value, torch.Tensor) else value

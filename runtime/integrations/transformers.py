"""transformers' `Trainer` with one XLA program per step: forward, backward, clipping and optimizer.

Importing this module also makes the trainer choose the device, like `tenax.integrations.accelerate`.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from transformers import Trainer

from . import accelerate as accelerate


class CompiledTrainer(Trainer):
    """A `Trainer` whose step is compiled.

    Batches should have few different shapes, because each shape is compiled: pad to fixed lengths
    (`DataCollatorWithPadding(..., padding="max_length")`), and drop the last, smaller batch. With gradient accumulation
    the program of the last part also steps the optimizer. Gradients are None when `on_pre_optimizer_step` is called.

    Raises:
        ValueError: for fp16, because Accelerate steps its scaler outside the program; bf16 needs no scaler.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.args.fp16:
            raise ValueError("CompiledTrainer: fp16=True; expected bf16=True, which needs no scaler")
        from .._jit.jitted import jit

        self._compiled = jit(self._step)
        self._norm: torch.Tensor | None = None

    def training_step(
        self, model: Any, inputs: Any, num_items_in_batch: torch.Tensor | int | None = None
    ) -> torch.Tensor:
        """Run the program for one batch and return the loss."""
        model.train()
        inputs = self._prepare_inputs(inputs)
        items = num_items_in_batch
        if isinstance(items, int):  # the value of a Python number would be a constant of the program
            items = torch.tensor(items, device=self.args.device)
        loss, self._norm = self._compiled(model, inputs, items, self.accelerator.sync_gradients)
        return loss

    def _step(self, model: Any, inputs: Any, items: Any, steps: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
        with self.compute_loss_context_manager():
            loss: Any = self.compute_loss(model, inputs, num_items_in_batch=items)
        if not (self.model_accepts_loss_kwargs and items is not None) and self.compute_loss_func is None:
            loss = loss / self.current_gradient_accumulation_steps
        loss.backward()
        if not steps:
            return loss.detach(), None
        limit = self.args.max_grad_norm or float("inf")
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
        optimizer = cast("Any", self.optimizer).optimizer  # Accelerate's optimizer wraps torch's
        optimizer.step()
        optimizer.zero_grad()  # so that the loop's own call of the optimizer finds no gradients
        return loss.detach(), norm

    def _clip_grad_norm(self, model: Any) -> torch.Tensor | None:
        return self._norm

    def _get_grad_norm(self, model: Any, grad_norm: Any = None) -> torch.Tensor | None:
        return self._norm

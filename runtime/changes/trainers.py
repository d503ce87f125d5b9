"""The attributes of trainers and of safetensors that tenax replaces because they offer no extension point."""

from __future__ import annotations

from .rows import Patch, When

# Lightning is published as two packages, each with two classes that choose a device.
_CONNECTORS = (
    "lightning.pytorch.trainer.connectors.accelerator_connector._AcceleratorConnector",
    "lightning.fabric.connector._Connector",
    "pytorch_lightning.trainer.connectors.accelerator_connector._AcceleratorConnector",
    "lightning_fabric.connector._Connector",
)

TRAINERS: tuple[Patch, ...] = (
    Patch(
        "accelerate.Accelerator",
        "__init__",
        (When.ACCELERATE,),
        'With `mixed_precision="fp16"` the device is accepted, and gets a `torch.amp.GradScaler`; the list of devices '
        "with fp16 is closed. Other devices behave as before.",
    ),
    Patch(
        "accelerate.PartialState",
        "set_device",
        (When.ACCELERATE,),
        "If Accelerate chooses the CPU by itself, one warning says how to choose the device. `cpu=True` and "
        "`use_cpu=True` choose the CPU also where the variable that chooses the device is set.",
    ),
    Patch(
        "transformers.training_args",
        "is_torch_bf16_gpu_available",
        (When.TRANSFORMERS,),
        "`bf16=True` is accepted if Accelerate has chosen the device.",
    ),
    Patch(
        "safetensors.torch",
        "load_file",
        (When.SAFETENSORS,),
        '`device="jax"`, which is not among the names that the library knows, loads onto the device.',
    ),
    *(
        Patch(
            connector,
            "_choose_strategy _check_and_init_precision",
            (When.LIGHTNING,),
            'With `accelerator="jax"`, the strategy and the precision plugin are those of the device; Lightning names '
            "its own accelerators in these methods. Others behave as before.",
        )
        for connector in _CONNECTORS
    ),
    *(
        Patch(
            connector,
            "_choose_auto_accelerator",
            (When.LIGHTNING,),
            "If Lightning chooses the CPU by itself, one warning says how to choose the device.",
        )
        for connector in _CONNECTORS
    ),
)

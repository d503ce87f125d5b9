"""transformers' `Trainer` with FSDPv2 of PyTorch/XLA: the loss is that of the CPU, and all parameters are sharded."""

import sys

import torch
import torch_xla.runtime as xr
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

xr.use_spmd()
rows = torch.randint(2, 32, (16, 8), generator=torch.Generator().manual_seed(0))
sizes = {"vocab_size": 32, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
sharded = {"xla": True, "xla_fsdp_v2": True, "xla_fsdp_grad_ckpt": True}


def trained(**options):
    torch.manual_seed(0)
    options |= {
        "max_steps": 3,
        "per_device_train_batch_size": 8,
        "save_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
    }
    data = [{"input_ids": row, "labels": row} for row in rows]
    trainer = Trainer(
        LlamaForCausalLM(LlamaConfig(**sizes)), TrainingArguments(sys.argv[1], **options), train_dataset=data
    )
    trainer.create_optimizer()  # which transformers 5.23 leaves out with FSDP of XLA
    return trainer.train().training_loss, trainer.model_wrapped


expected, _ = trained(use_cpu=True)
found, model = trained(
    fsdp="full_shard", fsdp_config=sharded | {"transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"]}
)
assert abs(found - expected) < 1e-4, (found, expected)
assert all("devices=" in parameter.sharding_spec for parameter in model.parameters())

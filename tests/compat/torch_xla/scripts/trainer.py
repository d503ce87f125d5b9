"""transformers' `Trainer` as written for PyTorch/XLA: it trains, evaluates, resumes and saves as on the CPU."""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(0)
rows = torch.randint(2, 32, (16, 8))
sizes = {"vocab_size": 32, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}


def trained(folder, steps, resumed=None, **options):
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**sizes))
    options |= {"max_steps": steps, "save_steps": 2, "learning_rate": 0.01, "report_to": [], "disable_tqdm": True}
    trainer = Trainer(
        model, TrainingArguments(folder, **options), train_dataset=[{"input_ids": r, "labels": r} for r in rows]
    )
    trainer.train(resume_from_checkpoint=resumed)
    return model, trainer.evaluate(trainer.train_dataset)["eval_loss"]


folder = sys.argv[1]
_, expected = trained(f"{folder}/cpu", 4, use_cpu=True)
model, found = trained(f"{folder}/xla", 4)
assert model.device.type == "xla" and abs(found - expected) < 1e-4, (model.device, found, expected)
_, again = trained(f"{folder}/xla", 4, resumed=f"{folder}/xla/checkpoint-2")
assert abs(again - found) < 1e-5, (again, found)
model.save_pretrained(f"{folder}/saved")
saved = LlamaForCausalLM.from_pretrained(f"{folder}/saved").state_dict()
for name, value in model.state_dict().items():
    assert torch.equal(value.cpu(), saved[name]), name

"""Trainers of other libraries choose the device, in the precisions they offer, and compile their steps."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HEAD = """
import logging, os, warnings
import torch
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED, IN_HALVES, LOSSES

generator = torch.Generator().manual_seed(0)
"""
ACCELERATE = """
from accelerate import Accelerator, GradScalerKwargs
from accelerate.state import AcceleratorState

x = torch.randn(64, 8, generator=generator)
data = torch.utils.data.TensorDataset(x, x.square().sum(1, keepdim=True))

def losses(**options):
    AcceleratorState._reset_state(reset_partial_state=True)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    accelerator = Accelerator(**options)
    loader = torch.utils.data.DataLoader(data, batch_size=16)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01), loader)
    seen = []
    for x, y in loader:
        optimizer.zero_grad()
        with accelerator.autocast():
            loss = torch.nn.functional.mse_loss(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
        seen.append(loss.detach().float().cpu())
    return accelerator, torch.stack(seen)
"""
LIGHTNING = """
import lightning.pytorch as pl

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
x = torch.randn(64, 8, generator=generator)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.square().sum(1, keepdim=True)), batch_size=16)

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        self.seen = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.layers(x), y)
        self.log("loss", loss)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.seen.append(outputs["loss"].float().cpu())

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)
        return [optimizer], [{"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 2), "interval": "step"}]

OFF = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)

def fit(kind=Net, **options):
    torch.manual_seed(0)
    model = kind()
    trainer = pl.Trainer(max_epochs=2, **OFF, **options)
    trainer.fit(model, loader)
    return trainer, torch.stack([*model.seen, trainer.callback_metrics["loss"]])
"""


def runs(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, in which the library is imported for the first time."""
    text = "\n".join(map(textwrap.dedent, program.split("\f")))
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **variables}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=env, timeout=600)
    assert not done.returncode, done.stderr[-3000:]
    return done


def test_accelerate_trains_on_the_device_in_each_precision_and_compiled() -> None:
    body = """
    import tenax.integrations.accelerate

    accelerator, reference = losses(mixed_precision="no")
    assert accelerator.device.type == "jax"
    os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"
    close(reference, losses()[1], LOSSES)
    cpu_bf16 = losses(mixed_precision="bf16")[1]
    os.environ["ACCELERATE_TORCH_DEVICE"] = "jax"
    close(losses(mixed_precision="bf16")[1].bfloat16(), cpu_bf16.bfloat16(), IN_HALVES)
    for _ in range(2):
        accelerator, half = losses(mixed_precision="fp16", kwargs_handlers=[GradScalerKwargs(init_scale=4.0)])
        assert accelerator.mixed_precision == "fp16" and accelerator.scaler.is_enabled()
        close(half.half(), reference.half(), IN_HALVES)
    _, compiled = losses(dynamo_backend="inductor")
    close(compiled, reference, LOSSES)
    accelerator, on_cpu = losses(cpu=True)
    assert accelerator.device.type == "cpu"
    close(on_cpu, reference, LOSSES)
    half_on_cpu, _ = losses(cpu=True, mixed_precision="fp16")
    assert half_on_cpu.device.type == "cpu" and (half_on_cpu.scaler is None or half_on_cpu.scaler._device == "cpu")
    """
    runs(HEAD + ACCELERATE + "\f" + body)


def test_accelerate_on_the_cpu_is_reported_once_unless_it_was_asked_for() -> None:
    body = """
    import tenax

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        losses(cpu=True)
        assert not caught
        losses(), losses()
    (warning,) = [str(w.message) for w in caught if "jax" in str(w.message)]
    assert "import tenax.integrations.accelerate" in warning, warning
    """
    runs(HEAD + ACCELERATE + "\f" + body)


def test_a_script_of_accelerate_run_by_tenax_chooses_the_device(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import sys, accelerate\nprint(accelerate.Accelerator().device, *sys.argv[1:])\n")
    program = [sys.executable, "-c", "from tenax.cli import app; app()", "run", str(script), "--steps", "3"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["jax", "--steps", "3"]


def test_lightning_trains_on_the_device_eagerly_and_compiled() -> None:
    body = """
    reference = fit(accelerator="cpu", gradient_clip_val=5.0)[1]
    trainer, eager = fit(accelerator="jax", gradient_clip_val=5.0)
    assert trainer.strategy.root_device == torch.device("jax:0")
    close(eager, reference, LOSSES)
    trainer, compiled = fit(accelerator="jax", strategy="jax_compiled", gradient_clip_val=5.0)
    import tenax
    assert "traced once" in str(tenax.explain(trainer.strategy._program))
    close(compiled, reference, LOSSES)
    reference = fit(accelerator="cpu", precision="bf16-mixed")[1].bfloat16()
    for strategy in ("auto", "jax_compiled"):
        close(fit(accelerator="jax", strategy=strategy, precision="bf16-mixed")[1].bfloat16(), reference, IN_HALVES)
    """
    runs(HEAD + LIGHTNING + "\f" + body)


def test_lightning_says_what_the_device_and_a_compiled_step_cannot_do() -> None:
    body = """
    def error(call):
        try:
            call()
        except ValueError as e:
            return str(e)

    class Hooked(Net):
        def on_after_backward(self):
            pass

    options = {"accelerator": "jax", "strategy": "jax_compiled"}
    assert "on_after_backward" in error(lambda: fit(Hooked, **options))
    assert "accumulate_grad_batches" in error(lambda: fit(accumulate_grad_batches=2, **options))
    assert "tenax.mesh" in error(lambda: pl.Trainer(accelerator="jax", devices=2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pl.Trainer(**OFF), pl.Trainer(**OFF)
    (warning,) = [str(w.message) for w in caught if "jax" in str(w.message)]
    assert 'accelerator="jax"' in warning
    """
    runs(HEAD + LIGHTNING + "\f" + body)


def test_fabric_takes_the_device_and_bf16() -> None:
    body = """
    from lightning.fabric import Fabric

    x = torch.randn(16, 8, generator=generator)
    losses = []
    for accelerator in ("cpu", "jax"):
        torch.manual_seed(0)
        fabric = Fabric(accelerator=accelerator, precision="bf16-mixed")
        model = torch.nn.Linear(8, 1)
        model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=0.1))
        for _ in range(2):
            loss = model(x.to(fabric.device)).square().mean()
            fabric.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.detach().cpu().bfloat16())
    assert fabric.device == torch.device("jax:0")
    close(*losses, IN_HALVES)
    """
    runs(HEAD + "\f" + body)


TRANSFORMERS = """
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
from tenax.integrations.transformers import CompiledTrainer

config = LlamaConfig(
    vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
    num_key_value_heads=1,
)
words = torch.randint(0, 32, (16, 8), generator=generator)
data = [{"input_ids": row, "labels": row} for row in words]
OPTIONS = dict(
    max_steps=4, per_device_train_batch_size=4, logging_steps=1, report_to=[], save_strategy="no", learning_rate=1e-3,
    disable_tqdm=True,
)

def fit(folder, kind=Trainer, **options):
    torch.manual_seed(0)
    arguments = TrainingArguments(folder, **OPTIONS, **options)
    trainer = kind(LlamaForCausalLM(config), arguments, train_dataset=data)
    trainer.train()
    return trainer, torch.tensor([float(log["loss"]) for log in trainer.state.log_history if "loss" in log])
"""


def test_the_trainer_of_transformers_chooses_the_device_and_compiles_its_step(tmp_path: Path) -> None:
    body = f"""
    import tenax

    trainer, eager = fit({str(tmp_path)!r}, bf16=True)
    assert trainer.args.device.type == "jax" and trainer.accelerator.mixed_precision == "bf16"
    os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"
    reference = fit({str(tmp_path)!r})[1]
    accumulated = fit({str(tmp_path)!r}, gradient_accumulation_steps=2)[1]
    os.environ["ACCELERATE_TORCH_DEVICE"] = "jax"
    close(eager.bfloat16(), reference.bfloat16(), IN_HALVES)
    trainer, compiled = fit({str(tmp_path)!r}, CompiledTrainer)
    assert "traced once, 1 program" in str(tenax.explain(trainer._compiled))
    close(compiled, reference, ACCUMULATED)
    close(fit({str(tmp_path)!r}, CompiledTrainer, gradient_accumulation_steps=2)[1], accumulated, ACCUMULATED)
    try:
        fit({str(tmp_path)!r}, CompiledTrainer, fp16=True)
    except ValueError as error:
        assert "bf16=True" in str(error)
    else:
        raise AssertionError("fp16 was accepted")
    """
    runs(HEAD + TRANSFORMERS + "\f" + body)

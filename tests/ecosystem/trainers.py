"""Small programs of libraries that train: each chooses the device in the library's own way."""

from __future__ import annotations

from typing import Any

import torch

from tests.ecosystem.program import program


@program
def pytorch_ignite(device: str) -> Any:
    from ignite.engine import Events, create_supervised_trainer
    from ignite.metrics import Accuracy

    x, y = torch.randn(32, 8), torch.randint(0, 3, (32,))
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)
    model = torch.nn.Linear(8, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.cross_entropy, device=device)
    losses: list[float] = []
    trainer.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: losses.append(engine.state.output))
    trainer.run(data, max_epochs=2)
    accuracy = Accuracy(device=device)
    accuracy.update((model(x.to(device)), y.to(device)))
    return torch.tensor(losses), torch.tensor(accuracy.compute()), model.weight


@program
def skorch(device: str) -> Any:
    from skorch import NeuralNetClassifier

    x, y = torch.randn(32, 8).numpy(), torch.randint(0, 3, (32,)).numpy()
    options = {"module__in_features": 8, "module__out_features": 3, "max_epochs": 3, "lr": 0.1, "verbose": 0}
    cross_entropy: Any = torch.nn.CrossEntropyLoss
    net = NeuralNetClassifier(torch.nn.Linear, criterion=cross_entropy, device=device, train_split=None, **options)
    net.fit(x, y)
    return torch.tensor(net.history[:, "train_loss"]), torch.from_numpy(net.predict_proba(x)), net.module_.weight


@program
def stable_baselines3(device: str) -> Any:
    """A deep Q-network; it explores with numpy's random numbers, which do not depend on the device."""
    import gymnasium
    from stable_baselines3 import DQN

    options = {"learning_starts": 16, "batch_size": 8, "buffer_size": 100, "train_freq": 4, "target_update_interval": 8}
    environment = gymnasium.make("CartPole-v1")
    model = DQN("MlpPolicy", environment, seed=0, device=device, policy_kwargs={"net_arch": [16]}, **options)
    assert model.device.type == device
    model.learn(64)
    return [p.detach() for p in model.policy.parameters()]


@program
def sentence_transformers(device: str) -> Any:
    """The library's trainer, on a model and words made here."""
    import os
    import tempfile

    from accelerate.state import AcceleratorState
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
        losses,
        models,
    )
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    os.environ["ACCELERATE_TORCH_DEVICE"] = device
    AcceleratorState._reset_state(reset_partial_state=True)
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    words = Tokenizer(WordLevel({w: i for i, w in enumerate([*special.values(), *"abcd"])}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 1}
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    options = {"max_steps": 3, "logging_steps": 1, "report_to": [], "save_strategy": "no", "disable_tqdm": True}
    with tempfile.TemporaryDirectory() as folder:
        PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)
        BertModel(BertConfig(vocab_size=8, **sizes, **dropout)).save_pretrained(folder)
        model = SentenceTransformer(modules=[models.Transformer(folder), models.Pooling(16)], device=device)
        pairs = {"anchor": ["a b", "c d", "a c", "b d"] * 2, "positive": ["b a", "d c", "c a", "d b"] * 2}
        trainer = SentenceTransformerTrainer(
            model=model,
            args=SentenceTransformerTrainingArguments(folder, per_device_train_batch_size=4, **options),
            train_dataset=Dataset.from_dict(pairs),
            loss=losses.MultipleNegativesRankingLoss(model),
        )
        assert trainer.args.device.type == model.device.type == device
        trainer.train()
    history = torch.tensor([float(log["loss"]) for log in trainer.state.log_history if "loss" in log])
    return history, model.encode(["a b c"], convert_to_tensor=True)

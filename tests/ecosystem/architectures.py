"""The architectures of transformers that are tried: which class has a model of each, with which sizes and inputs."""

from __future__ import annotations

import math
import os
from typing import Any

import torch

os.environ["HF_HUB_OFFLINE"] = "1"

TOKENS = 64


def architectures(head: int = 8, length: int = 16) -> dict[str, tuple[str, dict[str, Any]]]:
    """The class of a model and its sizes, by the type of its configuration.

    Args:
        head: the size of a head, of which there are four.
        length: how many tokens a text has, or patches an image; there are positions for twice as many tokens.
    """
    width, inner, side, positions = 4 * head, 8 * head, 4 * math.isqrt(length), 2 * length
    words = {"vocab_size": TOKENS, "pad_token_id": 0}
    gpt = words | {"n_embd": width, "n_layer": 2, "n_head": 4, "n_positions": positions}
    neo = {"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]}
    neo |= words | {"hidden_size": width, "max_position_embeddings": positions}
    distilled = {"vocab_size": TOKENS, "dim": width, "n_layers": 2, "n_heads": 4, "hidden_dim": inner}
    distilled |= {"max_position_embeddings": positions}
    plain = {"hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": 4}
    text = words | plain
    wide = text | {"intermediate_size": inner, "max_position_embeddings": positions}
    roberta = wide | {"max_position_embeddings": positions + 2}  # positions begin after that of the padding
    grouped = wide | {"num_key_value_heads": 2}
    heads = grouped | {"head_dim": head}
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": inner}
    latent = {"q_lora_rank": head, "kv_lora_rank": head, "qk_nope_head_dim": head // 2, "qk_rope_head_dim": head // 2}
    deepseek = wide | latent | experts | {"v_head_dim": head, "n_routed_experts": 4, "first_k_dense_replace": 1}
    state = {"vocab_size": TOKENS, "hidden_size": width, "num_hidden_layers": 2, "state_size": 4}
    layers = {"d_model": width, "encoder_layers": 1, "decoder_layers": 1}
    layers |= {"encoder_ffn_dim": inner, "decoder_ffn_dim": inner}
    sequences = layers | words | {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
    long = sequences | {"max_position_embeddings": positions}
    heard = sequences | {"max_source_positions": length, "max_target_positions": positions}
    t5 = {"vocab_size": TOKENS, "d_model": width, "d_kv": head, "d_ff": inner, "num_layers": 2, "num_heads": 4}
    patches = plain | {"image_size": side, "patch_size": 4, "intermediate_size": inner}
    stages = {"image_size": 32, "embed_dim": head, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4}
    pyramid = {"image_size": 32, "depths": [1, 1, 1, 1], "hidden_sizes": [head, 2 * head, 3 * head, 4 * head]}
    sound = wide | {"conv_dim": [32, 32], "conv_kernel": [10, 3], "conv_stride": [5, 2], "num_feat_extract_layers": 2}
    sound |= {"apply_spec_augment": False, "num_conv_pos_embeddings": 16}
    depth = patches | {"num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "fusion_hidden_size": 32}
    both = {"text_config": wide, "vision_config": patches}
    causal, masked, pairs, images = "ForCausalLM", "ForMaskedLM", "ForSeq2SeqLM", "ForImageClassification"
    return {
        "llama": (causal, grouped),
        "mistral": (causal, grouped),
        "qwen2": (causal, grouped),
        "qwen3": (causal, heads),
        "gemma": (causal, heads),
        "gemma2": (causal, heads),
        "gemma3_text": (causal, heads),
        "phi": (causal, wide),
        "phi3": (causal, grouped),
        "olmo2": (causal, grouped),
        "cohere": (causal, grouped),
        "granite": (causal, grouped),
        "glm": (causal, heads),
        "stablelm": (causal, grouped),
        "starcoder2": (causal, grouped),
        "gpt2": (causal, {k: v for k, v in gpt.items() if k != "pad_token_id"}),
        "gptj": (causal, gpt | {"rotary_dim": head // 2}),
        "gpt_neo": (causal, neo),
        "gpt_neox": (causal, wide),
        "opt": (causal, text | {"ffn_dim": inner, "max_position_embeddings": positions, "word_embed_proj_dim": width}),
        "bloom": (causal, words | {"hidden_size": width, "n_layer": 2, "n_head": 4}),
        "falcon": (causal, text | {"alibi": False}),
        "mpt": (causal, words | {"d_model": width, "n_layers": 2, "n_heads": 4, "max_seq_len": positions}),
        "mixtral": (causal, grouped | {"num_local_experts": 4}),
        "qwen2_moe": (causal, grouped | experts | {"shared_expert_intermediate_size": inner}),
        "qwen3_moe": (causal, heads | experts),
        "olmoe": (causal, grouped | {"num_experts": 4, "num_experts_per_tok": 2}),
        "gpt_oss": (causal, heads | {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": length // 2}),
        "deepseek_v3": (causal, deepseek | {"n_group": 2, "topk_group": 1}),
        "jamba": (causal, grouped | {"num_experts": 4, "attn_layer_period": 2, "attn_layer_offset": 1}),
        "mamba": (causal, state),
        "mamba2": (causal, state | {"num_heads": 8, "head_dim": head, "n_groups": 1, "chunk_size": 16}),
        "recurrent_gemma": (causal, heads | {"lru_width": width, "block_types": ["recurrent", "attention"]}),
        "bert": (masked, wide),
        "roberta": (masked, roberta),
        "distilbert": (masked, distilled),
        "albert": (masked, wide | {"embedding_size": width}),
        "electra": (masked, wide | {"embedding_size": width}),
        "mpnet": (masked, roberta),
        "deberta-v2": (masked, wide | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
        "modernbert": (masked, wide | {"local_attention": length // 2}),
        "t5": (pairs, t5),
        "bart": (pairs, long),
        "pegasus": (pairs, long),
        "m2m_100": (pairs, long),
        "vit": (images, patches),
        "deit": (images, patches | {"architectures": ["DeiTForImageClassification"]}),
        "beit": (images, patches),
        "dinov2": (images, plain | {"image_size": side, "patch_size": 4}),
        "swin": (images, stages),
        "convnext": (images, pyramid),
        "convnextv2": (images, pyramid),
        "resnet": (images, {"embedding_size": head, "layer_type": "basic"} | pyramid),
        "mobilenet_v2": (images, {"image_size": 32, "depth_multiplier": 0.25}),
        "dpt": ("ForDepthEstimation", depth),
        "whisper": ("ForSpeechSeq2Seq", heard),
        "wav2vec2": ("ForCTC", sound),
        "hubert": ("ForCTC", sound),
        "clip": ("", both),
        "siglip": ("", both),
    }


def built(name: str, head: int = 8, length: int = 16) -> Any:
    """A model without dropout."""
    import transformers

    kind, sizes = architectures(head, length)[name]
    config: Any = transformers.AutoConfig.for_model(name, **sizes)
    for part in (config, *filter(None, (getattr(config, key, None) for key in type(config).sub_configs))):
        for key, value in part.to_dict().items():
            if isinstance(value, float) and "drop" in key:
                setattr(part, key, 0.0)
    if kind == "ForSeq2SeqLM":
        config.decoder_start_token_id = 1
    return getattr(transformers, f"AutoModel{kind}").from_config(config)


def batch(model: Any, length: int) -> dict[str, Any]:
    """Two examples of what a model takes, with labels if its loss of them depends on no value."""
    name, config = model.main_input_name, model.config
    words, labels = (torch.randint(3, TOKENS, (2, length)) for _ in range(2))
    if name == "input_features":
        sound = torch.randn(2, config.num_mel_bins, 2 * config.max_source_positions)
        return {name: sound, "labels": labels}
    if name == "input_values":
        return {name: torch.randn(2, 10 * length + 16)}  # with labels, the forward pass branches on their largest
    if hasattr(config, "vision_config"):
        size = config.vision_config.image_size
        return {name: words, "pixel_values": torch.randn(2, 3, size, size), "return_loss": True}
    if name == "pixel_values":
        size = getattr(config, "image_size", 32)
        images = {name: torch.randn(2, 3, size, size)}
        return images if "Depth" in type(model).__name__ else images | {"labels": torch.tensor([0, 1])}
    return {name: words, "labels": labels}


def loss(model: Any, inputs: dict[str, Any]) -> torch.Tensor:
    """The loss of a model, or the mean of its first result if it has none."""
    found = model(**inputs)
    return found["loss"] if "loss" in found else found[0].float().mean()

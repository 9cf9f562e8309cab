"""Writes small random Marian checkpoints and what transformers computes with them.

Made with: python 3.11, torch 2.13.0, transformers 4.57.6, safetensors 0.8.0.
Run in this folder: python make_golden.py
Each folder gets a HuggingFace checkpoint (config.json, model.safetensors) and golden.safetensors:
source and target ids, the states behind every layer, the caches, and the logits, computed in
float64 (all targets in one pass, and token by token with the cache: both are stored).
"""

import json
import pathlib

import torch
from safetensors.torch import save_file
from transformers import MarianConfig, MarianMTModel

BASE = dict(vocab_size=37, d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=4,
            decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=20,
            max_position_embeddings=24, pad_token_id=36, decoder_start_token_id=36, eos_token_id=0,
            forced_eos_token_id=0, scale_embedding=True, activation_function="swish")
VARIANTS = {
    "tied": {},
    "separate": dict(share_encoder_decoder_embeddings=False, tie_word_embeddings=False,
                     decoder_vocab_size=29, pad_token_id=28, decoder_start_token_id=28,
                     scale_embedding=False, activation_function="relu"),
}
SOURCE = [5, 17, 3, 9, 22, 8, 0]
TARGET_TAIL = [4, 11, 7, 26, 2]


def randomise(model):
    generator = torch.Generator().manual_seed(20)
    for name, parameter in model.named_parameters():
        if "embed_positions" in name:
            continue
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32) * 0.3
        parameter.data = (noise + 1.0 if "layer_norm.weight" in name else noise)
    bias = torch.randn(model.final_logits_bias.shape, generator=generator)
    model.final_logits_bias = bias * 0.3


def golden(model, config):
    model = model.double().eval()
    source = torch.tensor([SOURCE])
    target = torch.tensor([[config.decoder_start_token_id] + TARGET_TAIL])
    out = {"source": source[0], "target": target[0]}
    with torch.no_grad():
        full = model(input_ids=source, decoder_input_ids=target, output_hidden_states=True,
                     use_cache=True)
        for i, states in enumerate(full.encoder_hidden_states):
            out[f"encoder.{i}"] = states[0]
        for i, states in enumerate(full.decoder_hidden_states):
            out[f"decoder.{i}"] = states[0]
        out["logits"] = full.logits[0]
        encoder = model.get_encoder()(source)
        past, steps = None, []
        for i in range(target.shape[1]):
            step = model(encoder_outputs=encoder, decoder_input_ids=target[:, i:i + 1],
                         past_key_values=past, use_cache=True)
            past = step.past_key_values
            steps.append(step.logits[0, 0])
        out["step_logits"] = torch.stack(steps)
        for i in range(config.decoder_layers):
            for kind, cache in (("self", past.self_attention_cache), ("cross", past.cross_attention_cache)):
                for part in ("keys", "values"):
                    tensor = getattr(cache.layers[i], part)[0]  # [heads, length, head_dim]
                    out[f"{kind}.{i}.{part}"] = tensor.transpose(0, 1).reshape(tensor.shape[1], -1)
    return {name: tensor.contiguous() for name, tensor in out.items()}


for name, changes in VARIANTS.items():
    torch.manual_seed(1)
    config = MarianConfig(**{**BASE, **changes})
    model = MarianMTModel(config)
    randomise(model)
    folder = pathlib.Path(name)
    folder.mkdir(exist_ok=True)
    weights = {key: value.detach().float().contiguous().clone() for key, value in model.state_dict().items()
               if not key.endswith("embed_positions.weight")}
    if config.tie_word_embeddings:
        for copy in ("lm_head.weight", "model.encoder.embed_tokens.weight",
                     "model.decoder.embed_tokens.weight"):
            weights.pop(copy, None)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config.to_dict(), indent=1, sort_keys=True) + "\n")
    save_file(golden(model, config), folder / "golden.safetensors")

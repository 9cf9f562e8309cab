#!/usr/bin/env python3
"""Writes the packages and the golden data of this folder.

A tiny Marian checkpoint, trained for a moment so that its answers depend on the source, is exported
by optimum in both of its forms: merged/ (encoder_model and decoder_model_merged) and three_files/
(encoder_model, decoder_model, decoder_with_past_model). Inner values and nodes get short names to
keep the files small; nothing else of optimum's graphs is touched. golden.json holds what
transformers answers on the checkpoint, without a cache: greedy tokens with the padding token masked,
and the logits of every step.

    pip install torch==2.13.0 transformers==4.57.6 optimum==2.1.0 optimum-onnx==0.1.0 onnx==1.23.2
    python make_fixtures.py
"""
import importlib.metadata
import json
import os
import pathlib
import shutil
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import onnx
import torch
from optimum.exporters.onnx import onnx_export_from_model
from transformers import MarianConfig, MarianMTModel

VERSIONS = {"torch": "2.13.0+cpu", "transformers": "4.57.6", "optimum": "2.1.0",
            "optimum-onnx": "0.1.0", "onnx": "1.23.2"}
HERE = pathlib.Path(__file__).resolve().parent
FORMS = {"merged": ["encoder_model.onnx", "decoder_model_merged.onnx"],
         "three_files": ["encoder_model.onnx", "decoder_model.onnx",
                         "decoder_with_past_model.onnx"]}
VOCAB, PAD, EOS, STEPS = 37, 36, 0, 9
SOURCES = [[5, 9, 0], [7, 0], [11, 3, 30, 8, 8, 21, 2, 0], [17, 4, 29, 12, 0], [0]]


def main():
    for name, wanted in VERSIONS.items():
        found = importlib.metadata.version(name)
        assert found == wanted, f"{name}: {found} is installed, {wanted} is pinned"
    torch.set_num_threads(1)
    torch.manual_seed(20)
    model = trained_model()
    write_packages(model)
    write_golden(model)


def trained_model():
    config = MarianConfig(
        vocab_size=VOCAB, decoder_vocab_size=VOCAB, d_model=8, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
        max_position_embeddings=24, activation_function="swish", scale_embedding=True,
        pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD, forced_eos_token_id=EOS,
        bad_words_ids=[[PAD]], init_std=0.35, dropout=0.0)
    model = MarianMTModel(config)
    with torch.no_grad():
        model.final_logits_bias.copy_(0.5 * torch.randn(1, VOCAB))
    targets = torch.randint(1, PAD, (len(SOURCES), STEPS))
    width = max(map(len, SOURCES))
    sources = torch.tensor([s + [PAD] * (width - len(s)) for s in SOURCES])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(400):
        optimizer.zero_grad()
        model(input_ids=sources, attention_mask=(sources != PAD).long(), labels=targets).loss.backward()
        optimizer.step()
    with torch.no_grad():
        model.model.shared.weight[PAD].zero_()
    return model.eval()


def write_packages(model):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx_export_from_model(model, folder, task="text2text-generation-with-past",
                               do_validation=False, no_post_process=False, preprocessors=[])
        for form, files in FORMS.items():
            (HERE / form).mkdir(exist_ok=True)
            for file in ["config.json", "generation_config.json"]:
                shutil.copyfile(folder / file, HERE / form / file)
            for file in files:
                graph = onnx.load(folder / file)
                shorten_names(graph.graph, {}, {""})
                onnx.checker.check_model(graph)
                onnx.save(graph, HERE / form / file)


def shorten_names(graph, names, keep):
    """Gives inner values short names, in branches too; inputs and outputs keep theirs."""
    keep = keep | {value.name for value in [*graph.input, *graph.output]}
    short = lambda name: name if name in keep else names.setdefault(name, f"v{len(names)}")
    for tensor in graph.initializer:
        tensor.name = short(tensor.name)
    for node in graph.node:
        node.name = ""
        node.input[:] = [short(name) for name in node.input]
        node.output[:] = [short(name) for name in node.output]
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                shorten_names(attribute.g, names, keep)


def greedy(model, source):
    """Tokens after the start token, and the raw logits they were taken from."""
    tokens, logits = [PAD], []
    for _ in range(STEPS):
        out = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([tokens]),
                    use_cache=False).logits[0, -1]
        logits.append([round(float(value), 5) for value in out])
        out[PAD] = -float("inf")
        tokens.append(int(out.argmax()))
    return tokens[1:], logits


def write_golden(model):
    cases = []
    with torch.no_grad():
        for source in SOURCES:
            tokens, logits = greedy(model, source)
            cases.append({"source": source, "tokens": tokens, "logits": logits})
    golden = {"versions": VERSIONS, "vocab_size": VOCAB, "pad_token_id": PAD,
              "max_positions": model.config.max_position_embeddings, "cases": cases}
    text = json.dumps(golden, separators=(",", ":")).replace('{"source"', '\n{"source"')
    (HERE / "golden.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

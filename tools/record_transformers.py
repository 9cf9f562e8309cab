#!/usr/bin/env python3
"""Records what transformers makes of lines of text, for `sampan verify --baseline`.

    python3 -m venv recorder
    recorder/bin/pip install torch==2.13.0 transformers==4.57.6 sentencepiece==0.2.3
    recorder/bin/python tools/record_transformers.py CHECKPOINT TEXT [--beams N] > baseline.jsonl

CHECKPOINT is a folder of a MarianMT or M2M100 checkpoint, TEXT has one sentence a line. Each line becomes
one JSON object: source, translation, tokens (with the end of sentence, without decoder start and padding),
score (sum of log-probabilities / tokens^length_penalty), split (false: the line was read as one sentence)
and producer. Lines are translated one by one, on one thread, so that a recording can be made again.
"""

import argparse
import json
import sys

import torch
import transformers


def generation_settings(beams):
    settings = {"num_return_sequences": 1, "do_sample": False}
    if beams is not None:
        settings["num_beams"] = beams
    return settings


def trimmed(ids, config):
    """Generated ids up to and with the first end of sentence."""
    eos = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    tokens = []
    for token in ids[1:]:
        tokens.append(token)
        if token in eos:
            break
    return tokens


def record(line, tokenizer, model, settings):
    inputs = tokenizer([line], return_tensors="pt", truncation=True)
    with torch.no_grad():
        result = model.generate(**inputs, **settings, return_dict_in_generate=True, output_scores=True)
    config = model.generation_config
    tokens = trimmed(result.sequences[0].tolist(), config)
    beams = getattr(result, "beam_indices", None)
    steps = model.compute_transition_scores(result.sequences, result.scores, beams, normalize_logits=beams is None)
    total = steps[0][: len(tokens)].sum().item()
    return {
        "source": line,
        "translation": tokenizer.decode(tokens, skip_special_tokens=True),
        "tokens": tokens,
        "score": total / len(tokens) ** config.length_penalty,
        "split": False,
        "producer": f"transformers {transformers.__version__}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint")
    parser.add_argument("text")
    parser.add_argument("--beams", type=int, help="instead of the checkpoint's own number")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.checkpoint)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(arguments.checkpoint, dtype=torch.float32)
    model.eval()
    settings = generation_settings(arguments.beams)
    with open(arguments.text, encoding="utf-8") as text:
        for line in text.read().split("\n"):
            if line.strip():
                print(json.dumps(record(line, tokenizer, model, settings), ensure_ascii=False))
                sys.stdout.flush()


if __name__ == "__main__":
    main()

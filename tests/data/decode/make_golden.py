#!/usr/bin/env python3
"""Writes the golden tokens of this folder with transformers' own generate().

    pip install torch==2.13.0 transformers==4.57.6 sentencepiece==0.2.3
    python3 make_golden.py [--only NAME ...] [--corpus DIR] [--model DIR]

Every sentence is translated by itself (batch 1, no padding), in float32, on one thread, and source
texts are not truncated. Files:

    sources.ids     source ids of the 1,000 + 1,012 lines, end of sentence included
    settings.json   {setting: {"lines": ..., "config": a complete generation_config.json}};
                    targets have 200 tokens at most over all lines, 60 over the short set
    SETTING.ids     generated ids with end of sentence, without decoder start and prefix, one line a
                    sentence. Settings with several hypotheses separate them by "|"; a beam search
                    over the short set appends ";score" to each.
    prefix.ids      target prefixes of the settings named *_prefix, one line a sentence
    processors.json     cases of transformers' logits processors over a vocabulary of 10: scores before
                    and after, of greedy search (logits), beam search (log-probabilities), sampling
    target_scores.txt   per line "ids;log-probabilities" of given targets, the pad token masked

"lines" is "all" (2,012) or "short" (the first 50 of each corpus).
"""

import argparse
import json
import pathlib

import sentencepiece
import torch
import transformers

PINNED = {"torch": "2.13.0", "transformers": "4.57.6", "sentencepiece": "0.2.3"}
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CORPORA = ["tatoeba-test.en", "flores-devtest.en"]
SHORT = 50

ALL_SETTINGS = {
    "greedy": {"num_beams": 1},
    "beam4": {"num_beams": 4},
    "beam4_length_penalty_0.6": {"num_beams": 4, "length_penalty": 0.6},
    "beam4_length_penalty_2": {"num_beams": 4, "length_penalty": 2.0},
    "beam4_early_stopping": {"num_beams": 4, "early_stopping": True},
    "beam4_no_repeat_ngram_3": {"num_beams": 4, "no_repeat_ngram_size": 3},
}

SHORT_SETTINGS = {
    "beam2": {"num_beams": 2},
    "beam8": {"num_beams": 8},
    "beam4_return_4": {"num_beams": 4, "num_return_sequences": 4},
    "beam4_early_stopping_return_4": {
        "num_beams": 4, "num_return_sequences": 4, "early_stopping": True},
    "beam4_never": {"num_beams": 4, "early_stopping": "never"},
    "beam4_never_length_penalty_minus_1": {
        "num_beams": 4, "early_stopping": "never", "length_penalty": -1.0},
    "beam4_length_penalty_0": {"num_beams": 4, "length_penalty": 0.0},
    "beam4_no_renormalize": {"num_beams": 4, "renormalize_logits": False},
    "beam4_repetition_penalty": {"num_beams": 4, "repetition_penalty": 1.3},
    "greedy_repetition_penalty": {"num_beams": 1, "repetition_penalty": 1.3},
    "greedy_no_repeat_ngram_2": {"num_beams": 1, "no_repeat_ngram_size": 2},
    "beam4_no_repeat_ngram_1": {"num_beams": 4, "no_repeat_ngram_size": 1},
    "beam4_min_new_tokens": {"num_beams": 4, "min_new_tokens": 20},
    "greedy_min_length": {"num_beams": 1, "min_length": 15},
    "beam4_max_length_12": {"num_beams": 4, "max_length": 12},
    "beam4_max_length_12_unforced": {
        "num_beams": 4, "num_return_sequences": 4, "max_length": 12, "forced_eos_token_id": None},
    "greedy_max_new_tokens_8": {"num_beams": 1, "max_new_tokens": 8},
    "beam4_forced_bos": {"num_beams": 4, "forced_bos_token_id": 4031},
    "greedy_forced_bos": {"num_beams": 1, "forced_bos_token_id": 4031},
    "beam4_suppress_tokens": {"num_beams": 4, "suppress_tokens": [4001, 4000, 12, 9820]},
    "beam4_bad_words": {
        "num_beams": 4,
        "bad_words_ids": [[9820], [4003, 4009], [4001, 4000], [4002, 4000], [0], [4015, 4007, 4014]]},
    "greedy_bad_words": {
        "num_beams": 1, "bad_words_ids": [[9820], [4001, 4000], [4002, 4000], [4000, 0]]},
    "beam4_two_eos": {"num_beams": 4, "eos_token_id": [0, 12]},
    "beam4_prefix": {"num_beams": 4},
    "greedy_prefix": {"num_beams": 1, "min_new_tokens": 5, "no_repeat_ngram_size": 3},
    "beam4_max_new_tokens_prefix": {
        "num_beams": 4, "max_new_tokens": 6, "repetition_penalty": 1.2, "min_length": 6},
}


def check_versions():
    found = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__,
             "sentencepiece": sentencepiece.__version__}
    if found != PINNED:
        raise SystemExit(f"versions {found}, but the golden data is made with {PINNED}")


def settings_of(model):
    """Complete generation configs: the checkpoint's own, the length of this set, the setting."""
    base = json.loads((model / "generation_config.json").read_text())
    result = {}
    for lines, length, group in (("all", 200, ALL_SETTINGS), ("short", 60, SHORT_SETTINGS)):
        for name, changes in group.items():
            result[name] = {"lines": lines, "config": {**base, "max_length": length, **changes}}
    return result


def join(ids):
    return " ".join(str(i) for i in ids)


def hypotheses_of(model, source, config, prefix, scored):
    """The generated ids (and scores) of one sentence as they stand in a file of this folder."""
    given = dict(config)
    start = given["decoder_start_token_id"]
    if prefix is not None:
        given["decoder_input_ids"] = torch.tensor([[start] + prefix])
    given.update(return_dict_in_generate=True, output_scores=True)
    out = model.generate(input_ids=torch.tensor([source]),
                         attention_mask=torch.ones(1, len(source), dtype=torch.long), **given)
    skip = 1 + len(prefix or [])
    ends = given["eos_token_id"]
    ends = set(ends if isinstance(ends, list) else [ends])
    texts = []
    for row, sequence in enumerate(out.sequences.tolist()):
        generated = []
        for token in sequence[skip:]:
            generated.append(token)
            if token in ends:
                break
        while generated and generated[-1] == given["pad_token_id"]:  # length of the longest row
            generated.pop()
        text = join(generated)
        if scored and given["num_beams"] > 1:
            text += f";{out.sequences_scores[row].item():.6f}"
        texts.append(text)
    return "|".join(texts)


def write_setting(model, name, setting, sources, prefixes):
    short = setting["lines"] == "short"
    chosen = [i for i in range(len(sources)) if not short or i < SHORT or 1000 <= i < 1000 + SHORT]
    lines = []
    for number, i in enumerate(chosen):
        prefix = prefixes[number] if name.endswith("_prefix") else None
        lines.append(hypotheses_of(model, sources[i], setting["config"], prefix, short))
    (HERE / f"{name}.ids").write_text("\n".join(lines) + "\n")
    print(name, "done", flush=True)


def write_target_scores(model, sources, config):
    """Targets are the greedy translations of other lines, so likely and unlikely tokens both occur."""
    greedy = [[int(t) for t in line.split()] for line in (HERE / "greedy.ids").read_text().split("\n")[:-1]]
    lines = []
    for i in range(40):
        target = greedy[i if i % 2 else i + 1]
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([sources[i]]), decoder_input_ids=torch.tensor(
                [[config["decoder_start_token_id"]] + target[:-1]])).logits[0].clone()
        for word in config["bad_words_ids"]:
            logits[:, word[0]] = -torch.inf
        log_probs = logits.log_softmax(dim=-1).gather(1, torch.tensor(target)[:, None])[:, 0]
        lines.append(join(target) + ";" + " ".join(f"{p:.5f}" for p in log_probs.tolist()))
    (HERE / "target_scores.txt").write_text("\n".join(lines) + "\n")


PROCESSOR_CASES = [
    {"bad_words_ids": [[9]]},
    {"bad_words_ids": [[9], [0], [3, 4], [4, 3, 4], [7, 3, 4, 5], [2, 2]]},
    {"suppress_tokens": [1, 5]},
    {"no_repeat_ngram_size": 1},
    {"no_repeat_ngram_size": 2},
    {"no_repeat_ngram_size": 3},
    {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.7, "bad_words_ids": [[9]], "renormalize_logits": True},
    {"min_length": 6},
    {"min_new_tokens": 3},
    {"min_new_tokens": 2, "eos_token_id": [0, 4]},
    {"forced_bos_token_id": 6},
    {"forced_bos_token_id": 6, "renormalize_logits": True, "repetition_penalty": 2.0},
    {"forced_eos_token_id": 0, "min_length": 7},
    {"forced_eos_token_id": [0, 4], "eos_token_id": [0, 4], "renormalize_logits": True},
    {"forced_eos_token_id": [0, 4], "suppress_tokens": [4]},
    {"renormalize_logits": True, "bad_words_ids": [[9]], "suppress_tokens": [2]},
    {"do_sample": True, "temperature": 0.5, "top_k": 0},
    {"do_sample": True, "temperature": 1.7, "top_k": 3},
    {"do_sample": True, "top_k": 50, "top_p": 0.6},
    {"do_sample": True, "top_k": 4, "top_p": 0.8, "bad_words_ids": [[9]]},
    {"do_sample": True, "top_k": 0, "top_p": 0.3, "temperature": 2.0},
    {"do_sample": True, "top_k": 0, "top_p": 0.9, "repetition_penalty": 1.5, "min_new_tokens": 6},
]
PROCESSOR_TARGETS = [[9], [9, 3, 4, 5, 3, 4], [9, 2, 2, 2, 7], [9, 4, 3, 4, 0, 1, 1]]


def finite(row):
    """JSON has no infinities: a forbidden entry is null."""
    return [None if x == -float("inf") else x for x in row]


def write_processor_cases(model):
    torch.manual_seed(7)
    cases = []
    for changes in PROCESSOR_CASES:
        for tokens in PROCESSOR_TARGETS:
            logits = torch.randn(1, 10) * 3
            logits[0, 5] = logits[0, 8]  # a tie
            beams = not changes.get("do_sample", False)
            config = {"eos_token_id": 0, "decoder_start_token_id": 9, "pad_token_id": 9,
                      "max_length": 7, "top_k": 50, **changes}
            given = transformers.GenerationConfig(**config)
            if given.min_new_tokens is not None:
                given.min_length = given.min_new_tokens + 1
            model._prepare_special_tokens(given, True, device="cpu")
            processors = model._get_logits_processor(
                given, input_ids_seq_length=1, encoder_input_ids=torch.tensor([[1]]), device="cpu")
            ids = torch.tensor([tokens])
            case = {"config": config, "tokens": tokens, "logits": logits[0].tolist(),
                    "logits_after": finite(processors(ids, logits.clone())[0].tolist())}
            if beams:
                after = processors(ids, logits.log_softmax(-1))[0]
                case["log_probs_after"] = finite(after.tolist())
            cases.append(case)
    lines = ",\n".join(json.dumps(case) for case in cases)
    (HERE / "processors.json").write_text(f"[{lines}]\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", help="settings to write; none: the small files alone")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "tests/data/corpus")
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "models/tatoeba-en-zh")
    options = parser.parse_args()
    check_versions()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    tokenizer = transformers.MarianTokenizer.from_pretrained(options.model)
    model = transformers.MarianMTModel.from_pretrained(options.model, torch_dtype=torch.float32).eval()
    texts = [line for name in CORPORA
             for line in (options.corpus / name).read_text(encoding="utf-8").split("\n")[:-1]]
    sources = [tokenizer(text).input_ids for text in texts]
    assert max(len(s) for s in sources) <= model.config.max_position_embeddings
    (HERE / "sources.ids").write_text("\n".join(join(s) for s in sources) + "\n")
    settings = settings_of(options.model)
    (HERE / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    write_processor_cases(model)
    names = list(settings) if options.only is None else options.only
    prefixes = []
    for name in names:
        if name.endswith("_prefix"):
            greedy = (HERE / "greedy.ids").read_text().split("\n")
            other = [i + 1 for i in range(SHORT)] + [1001 + i for i in range(SHORT)]
            prefixes = [[int(t) for t in greedy[i].split()[:1 + i % 3] if t != "0"] or [4003] for i in other]
            (HERE / "prefix.ids").write_text("\n".join(join(p) for p in prefixes) + "\n")
        write_setting(model, name, settings[name], sources, prefixes)
        if name == "greedy":
            write_target_scores(model, sources, settings[name]["config"])


if __name__ == "__main__":
    main()

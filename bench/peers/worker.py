"""One peer engine in a process of its own, driven by compare.py.

usage: worker.py ENGINE MODEL CHECKPOINT SENTENCES THREADS BEAMS BATCH NEW_TOKENS

Loads the model, answers with one JSON line, then translates all sentences once for each line "run".
Sentences are tokenised before the clock starts and are not turned back into text: only what the
engine itself does is timed. NEW_TOKENS forces that many tokens from every sentence; 0 does not.
A line "translate", a tab, a file of sentences, a tab, and a file to write puts the translations
there, untimed and in batches of 32.
"""

import importlib
import json
import sys
import time


def status_megabytes(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def batches(rows, size):
    """Indices of rows, in batches of similar length, as each engine's documentation advises."""
    ordered = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    return [ordered[i:i + size] for i in range(0, len(ordered), size)]


def generate_options(beams, new_tokens):
    options = dict(num_beams=beams, do_sample=False)
    if new_tokens:
        options.update(max_new_tokens=new_tokens, min_new_tokens=new_tokens)
    else:
        options.update(max_length=200)
    return options


def import_engine(engine):
    modules = {"pytorch": ["torch", "transformers.models.marian.modeling_marian"],
               "optimum": ["torch", "onnxruntime", "optimum.onnxruntime"],
               "ctranslate2": ["ctranslate2"]}
    for module in modules[engine.split("-")[0]]:
        importlib.import_module(module)


def load_huggingface(engine, model_path, threads):
    import torch
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    if engine == "pytorch":
        from transformers import MarianMTModel
        return MarianMTModel.from_pretrained(model_path, dtype=torch.float32).eval()
    import onnxruntime
    from optimum.onnxruntime import ORTModelForSeq2SeqLM
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return ORTModelForSeq2SeqLM.from_pretrained(model_path, session_options=options,
                                                provider="CPUExecutionProvider")


def until_end(ids, eos):
    return ids[:ids.index(eos) + 1] if eos in ids else ids


def huggingface_translator(model, tokenizer, beams, new_tokens):
    """Of rows of ids: a function that takes them through the model, and gives rows of target ids."""
    import torch
    options = generate_options(beams, new_tokens)
    eos, pad = tokenizer.eos_token_id, tokenizer.pad_token_id

    def prepare(rows, batch):
        prepared = []
        for group in batches(rows, batch):
            ids = torch.full((len(group), max(len(rows[i]) for i in group)), pad)
            for place, i in enumerate(group):
                ids[place, :len(rows[i])] = torch.tensor(rows[i])
            prepared.append((group, ids, (ids != pad).long()))

        def run():
            results = [None] * len(rows)
            for group, ids, mask in prepared:
                output = model.generate(input_ids=ids, attention_mask=mask, **options).tolist()
                for i, row in zip(group, output):
                    results[i] = until_end(row[1:], eos)
            return results
        return run
    return prepare


def ctranslate2_translator(model_path, compute_type, threads, tokenizer, beams, new_tokens):
    import ctranslate2
    translator = ctranslate2.Translator(model_path, device="cpu", compute_type=compute_type,
                                        inter_threads=1, intra_threads=threads)
    options = dict(beam_size=beams, batch_type="examples", return_end_token=True,
                   max_decoding_length=new_tokens or 199, min_decoding_length=new_tokens or 1)

    def prepare(rows, batch):
        pieces = [tokenizer.convert_ids_to_tokens(row) for row in rows]

        def run():
            results = translator.translate_batch(pieces, max_batch_size=batch, **options)
            return [result.hypotheses[0] for result in results]
        return run
    return prepare


def read_rows(path, tokenizer):
    with open(path, encoding="utf-8") as file:
        return [tokenizer(line.rstrip("\n")).input_ids for line in file]


def write_translations(prepare, tokenizer, source, output):
    with open(output, "w", encoding="utf-8") as file:
        for row in prepare(read_rows(source, tokenizer), 32)():
            if row and isinstance(row[0], str):
                row = tokenizer.convert_tokens_to_ids(row)
            file.write(tokenizer.decode(row, skip_special_tokens=True) + "\n")


def main():
    engine, model_path, checkpoint, sentences = sys.argv[1:5]
    threads, beams, batch, new_tokens = map(int, sys.argv[5:9])
    import_engine(engine)
    from transformers import MarianTokenizer
    tokenizer = MarianTokenizer.from_pretrained(checkpoint)
    rows = read_rows(sentences, tokenizer)
    idle = status_megabytes("VmRSS")  # with everything imported: an interpreter is not the engine's
    start = time.perf_counter()
    if engine.startswith("ctranslate2"):
        compute_type = "int8" if engine.endswith("int8") else "float32"
        prepare = ctranslate2_translator(model_path, compute_type, threads, tokenizer, beams,
                                         new_tokens)
    else:
        model = load_huggingface(engine, model_path, threads)
        prepare = huggingface_translator(model, tokenizer, beams, new_tokens)
    answer = {"load_seconds": time.perf_counter() - start, "idle_mb": idle}
    print(json.dumps(answer), flush=True)
    run = prepare(rows, batch)
    for command in sys.stdin:
        word, *files = command.rstrip("\n").split("\t")
        if word == "translate":
            write_translations(prepare, tokenizer, *files)
            print("{}", flush=True)
            continue
        begin = time.perf_counter()
        tokens = sum(map(len, run()))
        print(json.dumps({"seconds": time.perf_counter() - begin, "tokens": tokens,
                          "peak_mb": status_megabytes("VmHWM")}), flush=True)


main()

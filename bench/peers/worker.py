"""One peer engine in a process of its own, driven by compare.py.

usage: worker.py ENGINE MODEL CHECKPOINT SENTENCES THREADS BEAMS BATCH NEW_TOKENS

Loads the model, answers with one JSON line, then translates all sentences once for each line "run".
Sentences are tokenised before the clock starts and are not turned back into text: only what the
engine itself does is timed. NEW_TOKENS forces that many tokens from every sentence; 0 does not.
"""

import importlib
import json
import sys
import time


def status_megabytes(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    return 0.0


def batches(rows, size):
    """Batches of rows of similar length, as each engine's documentation advises."""
    ordered = sorted(rows, key=len)
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


def huggingface_run(model, tokenizer, rows, batch, beams, new_tokens):
    import torch
    options = generate_options(beams, new_tokens)
    eos, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    prepared = []
    for group in batches(rows, batch):
        width = max(map(len, group))
        ids = torch.full((len(group), width), pad)
        for i, row in enumerate(group):
            ids[i, :len(row)] = torch.tensor(row)
        prepared.append((ids, (ids != pad).long()))

    def run():
        tokens = 0
        for ids, mask in prepared:
            for row in model.generate(input_ids=ids, attention_mask=mask, **options).tolist():
                body = row[1:]
                tokens += body.index(eos) + 1 if eos in body else len(body)
        return tokens
    return run


def ctranslate2_run(model_path, compute_type, threads, tokenizer, rows, batch, beams, new_tokens):
    import ctranslate2
    translator = ctranslate2.Translator(model_path, device="cpu", compute_type=compute_type,
                                        inter_threads=1, intra_threads=threads)
    pieces = [tokenizer.convert_ids_to_tokens(row) for row in rows]
    options = dict(beam_size=beams, max_batch_size=batch, batch_type="examples",
                   return_end_token=True)
    options["max_decoding_length"] = new_tokens or 199
    options["min_decoding_length"] = new_tokens or 1

    def run():
        results = translator.translate_batch(pieces, **options)
        return sum(len(result.hypotheses[0]) for result in results)
    return run


def main():
    engine, model_path, checkpoint, sentences = sys.argv[1:5]
    threads, beams, batch, new_tokens = map(int, sys.argv[5:9])
    import_engine(engine)
    from transformers import MarianTokenizer
    tokenizer = MarianTokenizer.from_pretrained(checkpoint)
    with open(sentences, encoding="utf-8") as file:
        rows = [tokenizer(line.rstrip("\n")).input_ids for line in file]
    idle = status_megabytes("VmRSS")  # with everything imported: an interpreter is not the engine's
    start = time.perf_counter()
    if engine.startswith("ctranslate2"):
        compute_type = "int8" if engine.endswith("int8") else "float32"
        run = ctranslate2_run(model_path, compute_type, threads, tokenizer, rows, batch, beams,
                              new_tokens)
    else:
        model = load_huggingface(engine, model_path, threads)
        run = huggingface_run(model, tokenizer, rows, batch, beams, new_tokens)
    print(json.dumps({"load_seconds": time.perf_counter() - start, "idle_mb": idle}), flush=True)
    for command in sys.stdin:
        if command.strip() != "run":
            break
        begin = time.perf_counter()
        tokens = run()
        print(json.dumps({"seconds": time.perf_counter() - begin, "tokens": tokens,
                          "peak_mb": status_megabytes("VmHWM")}), flush=True)


main()

"""Opens sampan's packages with optimum's ORTModelForSeq2SeqLM and with plain onnxruntime.

Run in a virtual environment with bench/peers/requirements.txt installed, outside the tree:

    python tools/check_optimum.py PACKAGE... [--lines N] [--sampan PROGRAM]

For each package (layout shared or separate) the greedy tokens of the first N test sentences are
compared with the golden ones of transformers 4.57.6 (tests/data/decode/greedy.ids), or, for
quantised packages, with those that the given sampan makes of the same package: through optimum with the merged decoder, through optimum with the separate decoders, and through a plain
loop over onnxruntime sessions. Exits with 1 if a line differs.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import numpy
import onnxruntime
import torch
from optimum.onnxruntime import ORTModelForSeq2SeqLM

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data" / "decode"
MAX_LENGTH = 200


def read_ids(name, lines):
    return [[int(i) for i in row.split()]
            for row in (DATA / name).read_text().splitlines()[:lines]]


def sampan_tokens(program, folder, lines):
    source = (ROOT / "tests/data/corpus/tatoeba-test.en").read_text().splitlines()[:lines]
    # One line at a time: dynamic int8 lets a line depend on the others of its batch.
    command = [program, "translate", folder, "--json", "--quiet", "--greedy", "--no-split",
               "--max-length", str(MAX_LENGTH), "--batch-size", "1"]
    answer = subprocess.run(command, input="\n".join(source) + "\n", capture_output=True,
                            text=True, check=True)
    return [json.loads(line)["tokens"] for line in answer.stdout.splitlines()]


def optimum_tokens(folder, sources, merged):
    model = ORTModelForSeq2SeqLM.from_pretrained(folder, use_merged=merged,
                                                 provider="CPUExecutionProvider")
    for source in sources:
        output = model.generate(input_ids=torch.tensor([source]), num_beams=1, do_sample=False,
                                max_length=MAX_LENGTH)
        yield output[0, 1:].tolist()


def runtime_tokens(folder, sources):
    graphs = folder / "onnx" if (folder / "onnx").is_dir() else folder
    encoder, decoder, with_past = (
        onnxruntime.InferenceSession(graphs / f"{name}.onnx", providers=["CPUExecutionProvider"])
        for name in ("encoder_model", "decoder_model", "decoder_with_past_model"))
    for source in sources:
        ids = numpy.array([source])
        mask = numpy.ones_like(ids)
        states, = encoder.run(None, {"input_ids": ids, "attention_mask": mask})
        pad = decoder.get_outputs()[0].shape[-1] - 1  # Marian's pad token starts the target
        target, session = [pad], decoder
        feeds = {"encoder_hidden_states": states}
        while len(target) < MAX_LENGTH and (len(target) == 1 or target[-1] != 0):
            feeds |= {"input_ids": numpy.array([target[-1:]]), "encoder_attention_mask": mask}
            outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
            logits = outputs.pop("logits")[0, -1]
            logits[pad] = -numpy.inf
            target.append(0 if len(target) == MAX_LENGTH - 1 else int(logits.argmax()))
            feeds.pop("encoder_hidden_states", None)
            feeds |= {name.replace("present", "past_key_values"): value
                      for name, value in outputs.items()}
            session = with_past
        yield target[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--sampan", metavar="PROGRAM")
    arguments = parser.parse_args()
    sources = read_ids("sources.ids", arguments.lines)
    expected = read_ids("greedy.ids", arguments.lines)
    differing = 0
    for package in arguments.packages:
        if arguments.sampan:
            expected = sampan_tokens(arguments.sampan, package, arguments.lines)
        loaders = {
            "optimum, merged decoder": optimum_tokens(package, sources, True),
            "optimum, separate decoders": optimum_tokens(package, sources, False),
            "onnxruntime": runtime_tokens(package, sources),
        }
        for name, tokens in loaders.items():
            wrong = sum(ours != golden for ours, golden in zip(tokens, expected))
            differing += wrong
            print(f"{package.name}, {name}: {wrong} of {len(expected)} lines differ", flush=True)
    sys.exit(1 if differing else 0)


main()

"""Runs sampan and its peers on the same sentences, interleaved, and prints a table.

Peers are converted from the same checkpoint once, into --work. Every engine lives in a process of
its own; rounds take turns (A B C, A B C, ...), so that a machine whose speed drifts treats all alike.
Figures are medians of the rounds after one warm-up. With --quality-source and --quality-reference
BLEU (sacrebleu, zh) of these lines stands beside the speed. See README.md beside this file.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--package", action="append", default=[], metavar="NAME=FOLDER",
                        help="a sampan package; may be repeated")
    parser.add_argument("--sentences", required=True)
    parser.add_argument("--lines", type=int, default=50)
    parser.add_argument("--work", required=True, help="folder for the peers' converted models")
    parser.add_argument("--worker", default=str(HERE.parent.parent / "build/release/bench/sampan_translate_worker"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--new-tokens", type=int, default=0,
                        help="force this many tokens from every sentence; 0: real lengths")
    parser.add_argument("--quality-source", help="lines to translate for BLEU, untimed")
    parser.add_argument("--quality-reference", help="their references")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", default="pytorch,optimum,optimum-int8,ctranslate2,ctranslate2-int8")
    return parser.parse_args()


def run_quietly(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")


def convert(engine, checkpoint, work):
    """The model folder of a peer, converted from the checkpoint if it is not there yet."""
    target = work / engine
    if engine == "pytorch":
        return checkpoint
    if target.exists():
        return target
    if engine == "optimum":
        run_quietly(["optimum-cli", "export", "onnx", "--model", checkpoint, "--task",
                     "text2text-generation-with-past", target])
    elif engine == "optimum-int8":
        # The merged decoder is not quantised by optimum: its three plain files are.
        source = convert("optimum", checkpoint, work)
        run_quietly(["optimum-cli", "onnxruntime", "quantize", "--onnx_model", source, "--avx512_vnni",
                     "--per_channel", "-o", target])
    else:
        quantization = "int8" if engine.endswith("int8") else "float32"
        run_quietly(["ct2-transformers-converter", "--model", checkpoint, "--output_dir", target,
                     "--quantization", quantization])
    return target


class Worker:
    def __init__(self, name, command):
        self.name = name
        environment = dict(os.environ, HF_HUB_OFFLINE="1", OMP_NUM_THREADS=command[-4])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL, env=environment)
        self.loaded = self.answer()
        self.rounds = []

    def answer(self):
        line = self.process.stdout.readline()
        while line and not line.startswith("{"):
            line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name}: the worker ended early")
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def processor():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "?")


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def bleu_of(worker, arguments, work):
    """BLEU of the quality lines; peaks of memory are read before, so these lines do not count."""
    import sacrebleu
    output = work / "translations.txt"
    worker.ask("translate", arguments.quality_source, str(output))
    return sacrebleu.corpus_bleu(read_lines(output), [read_lines(arguments.quality_reference)],
                                 tokenize="zh").score


def start_workers(arguments, work, settings):
    workers = []
    for item in arguments.package:
        name, folder = item.split("=", 1)
        workers.append(Worker(f"sampan {name}", [arguments.worker, folder] + settings))
    for engine in filter(None, arguments.engines.split(",")):
        model = convert(engine, arguments.checkpoint, work)
        workers.append(Worker(engine, [sys.executable, str(HERE / "worker.py"), engine, str(model),
                                       arguments.checkpoint] + settings))
    return workers


def print_table(arguments, work, workers):
    bleu = bool(arguments.quality_source and arguments.quality_reference)
    print(f"{time.strftime('%Y-%m-%d')}, {processor()}, {platform.system()} {platform.machine()}; "
          f"{arguments.lines} sentences, threads {arguments.threads}, beams {arguments.beams}, batch "
          f"{arguments.batch}, forced tokens {arguments.new_tokens or 'none'}; medians of "
          f"{arguments.rounds} rounds\n")
    print("| engine | tokens/s | against first | tokens | load s | peak MB | growth MB |"
          + (" BLEU |" if bleu else ""))
    print("|---|" + "--:|" * (7 if bleu else 6))
    first = None
    for worker in workers:
        speeds = [answer["tokens"] / answer["seconds"] for answer in worker.rounds]
        speed = statistics.median(speeds)
        first = first or speed
        peak = worker.rounds[-1]["peak_mb"]
        print(f"| {worker.name} | {speed:.1f} ({min(speeds):.1f}-{max(speeds):.1f}) | {speed / first:.2f} | "
              f"{worker.rounds[-1]['tokens']} | {worker.loaded['load_seconds']:.2f} | {peak:.0f} | "
              f"{peak - worker.loaded['idle_mb']:.0f} |"
              + (f" {bleu_of(worker, arguments, work):.2f} |" if bleu else ""), flush=True)
        worker.close()


def main():
    arguments = parse_arguments()
    work = pathlib.Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    sentences = work / "sentences.txt"
    with open(arguments.sentences, encoding="utf-8") as file:
        sentences.write_text("".join(file.readlines()[:arguments.lines]), encoding="utf-8")
    settings = [str(sentences)] + [str(value) for value in (
        arguments.threads, arguments.beams, arguments.batch, arguments.new_tokens)]

    workers = start_workers(arguments, work, settings)
    for worker in workers:
        worker.ask("run")
    for _ in range(arguments.rounds):
        for worker in workers:
            worker.rounds.append(worker.ask("run"))
    print_table(arguments, work, workers)


main()

"""Proves the tokenizer.json files that sampan writes against MarianTokenizer and records the proof.

    pip install transformers==4.57.6 sentencepiece==0.2.3 tokenizers==0.22.2
    build/dev/sampan_text_test --gtest_filter='TokenizerJson.*'    # writes build/dev/tokenizer_json/
    python tests/data/text/check_tokenizer_json.py build/dev/tokenizer_json

Compares ids on the corpus and on 40,000 random texts. Where source.spm knows every character they
must be equal, but for ties between two ways to cut a word, which are listed. The record,
tokenizer_json.json, holds the digests of the files, so that the proof stays valid while the tests
find the same bytes, and examples of text outside of source.spm with both answers.
"""

import hashlib
import json
import os
import pathlib
import random
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import tokenizers
import transformers

import make_golden as golden

ENGLISH = ["tatoeba-test.en", "tatoeba-dev.en", "flores-devtest.en", "calibration.en"]

OUTSIDE = [
    "I like 你好.", "你好", "你 好", "T恤", "The word is 图书馆.", "naïve Ωmega", "x\U0001f600y", "a > b",
    "\uff1c/s\uff1e", "</s>", "Hello >>cmn_Hans<<", "한국어", "\u1112\u1161\u11ab", "¨\u0301",
]


def random_texts(known):
    """Known characters at random, shared lines with insertions, and random Unicode."""
    choose = random.Random(5)
    spaces = [" ", " ", "  ", "\t", "\u00a0", "\u3000", "\r\n", "\u200b"]
    for _ in range(10000):
        yield "".join(choose.choice(known + spaces) for _ in range(choose.randrange(1, 40)))
    lines = [line for name in ENGLISH for line in golden.corpus_lines(name)]
    extra = [" ", "\u0301", "\u2581", "\ufb01", "①", "Ａ", "½", "…", "\u00a8", "\u00ad", "\u3000"]
    for _ in range(10000):
        text = list(choose.choice(lines))
        for _ in range(choose.randrange(1, 6)):
            text.insert(choose.randrange(len(text) + 1), choose.choice(known + extra))
        yield "".join(text)
    generator = golden.Random(7)
    for _ in range(20000):
        yield golden.random_text(generator)


def score_of(model, tokens):
    return sum(model.get_score(model.piece_to_id(token)) for token in tokens)


def check(folder, path):
    marian = transformers.MarianTokenizer.from_pretrained(folder)
    ours = tokenizers.Tokenizer.from_file(str(path))
    model = marian.spm_source
    pieces = [model.id_to_piece(i) for i in range(model.get_piece_size())]
    known = [piece for piece in pieces if len(piece) == 1 and piece != "\u2581"]
    texts = [line for name in ENGLISH for line in golden.corpus_lines(name)]
    texts.append("His hobby is colll ecti-nlg old stamps.")  # "co ll l" and "co l ll" weigh the same
    texts += random_texts(known)
    equal, outside, ties = 0, 0, []
    for text in texts:
        expected, found = marian(text).input_ids, ours.encode(text).ids
        if model.unk_id() in model.encode(text):
            outside += 1
        elif expected == found:
            equal += 1
        else:
            scores = [score_of(model, marian.convert_ids_to_tokens(ids[:-1])) for ids in (expected, found)]
            assert len(expected) == len(found) and abs(scores[0] - scores[1]) < 1e-4, text
            ties.append({"text": text, "marian": expected, "tokenizers": found})
    assert len(ties) * 10000 < equal, len(ties)
    examples = []
    for text in OUTSIDE:
        examples.append({
            "text": text, "marian": marian(text, split_special_tokens=True).input_ids,
            "tokenizers": ours.encode(text).ids})
    return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "equal": equal,
            "outside": outside, "ties": ties, "examples": examples}


if __name__ == "__main__":
    written = pathlib.Path(sys.argv[1])
    record = {
        "bundled": check(golden.MODEL, written / "bundled.json"),
        "tagged": check(golden.HERE / "tagged", written / "tagged.json"),
    }
    golden.write_lines("tokenizer_json.json", [json.dumps(record, indent=1)])
    print({name: (found["equal"], found["outside"], len(found["ties"])) for name, found in record.items()})

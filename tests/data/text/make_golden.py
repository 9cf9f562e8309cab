"""Records what transformers' MarianTokenizer does, for tests/text.

    pip install transformers==4.57.6 sentencepiece==0.2.3 tokenizers==0.22.2
    python tests/data/text/make_golden.py        # from the root of the repository

Writes the files of this folder. The bundled model's goldens hold one line a text: the number of
tokens and a 32-bit FNV-1a hash of them (of the UTF-8 bytes for decoded text); texts and ids that are
not in tests/data/corpus come from the generator below, which tests/text/random_text.h repeats.
"""

import io
import json
import os
import pathlib

import sentencepiece
import tokenizers
import transformers

assert transformers.__version__ == "4.57.6", transformers.__version__
assert sentencepiece.__version__ == "0.2.3", sentencepiece.__version__
assert tokenizers.__version__ == "0.22.2", tokenizers.__version__

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent / "corpus"
MODEL = HERE.parent.parent.parent / "models" / "tatoeba-en-zh"
MASK = (1 << 64) - 1


def fnv(values):
    state = 2166136261
    for value in values:
        state = ((state ^ (value & 0xFFFFFFFF)) * 16777619) & 0xFFFFFFFF
    return state


class Random:
    """splitmix64."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) % limit


# First and last code point of what a run of characters is drawn from; NUL and surrogates are left out.
RANGES = [
    (0x61, 0x7A), (0x61, 0x7A), (0x41, 0x5A), (0x20, 0x20), (0x20, 0x2F), (0x30, 0x39), (0x3A, 0x40),
    (0x5B, 0x60), (0x7B, 0x7E), (0x01, 0x1F), (0x7F, 0xA0), (0xA1, 0xFF), (0x100, 0x24F),
    (0x250, 0x2FF), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F),
    (0x1100, 0x11FF), (0x2000, 0x206F), (0x2070, 0x214F), (0x2150, 0x23FF), (0x2400, 0x27BF),
    (0x2E80, 0x303F), (0x3040, 0x30FF), (0x3100, 0x33FF), (0x4E00, 0x9FFF), (0x4E00, 0x51FF),
    (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xF900, 0xFAFF), (0xFB00, 0xFB4F), (0xFB50, 0xFDFF),
    (0xFE00, 0xFE6F), (0xFE70, 0xFEFF), (0xFF00, 0xFFEF), (0xFFF0, 0xFFFF), (0x1D400, 0x1D7FF),
    (0x1F000, 0x1FAFF), (0x20000, 0x2A6DF), (0xE0000, 0xE007F), (0x10FF00, 0x10FFFF),
    (0x2581, 0x2581),
]


def random_text(random):
    """Runs of 1 to 6 characters of one range each; a text never starts with '>'."""
    text = ""
    for _ in range(1 + random.below(12)):
        first, last = RANGES[random.below(len(RANGES))]
        for _ in range(1 + random.below(6)):
            text += chr(first + random.below(last - first + 1))
    return text.lstrip(">")


def random_ids(random, limit):
    """Up to 24 ids, some of them outside of the vocabulary."""
    return [random.below(limit + 20) for _ in range(1 + random.below(24))]


def write_lines(name, lines):
    (HERE / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def corpus_lines(name):
    return (CORPUS / name).read_text(encoding="utf-8").split("\n")[:-1]


def id_line(ids):
    return f"{len(ids)} {fnv(ids):08x}"


def bundled_goldens():
    tokenizer = transformers.MarianTokenizer.from_pretrained(MODEL)

    def source(texts):
        return [id_line(tokenizer(t, split_special_tokens=True).input_ids) for t in texts]

    def target(texts):
        found = []
        for text in texts:
            ids = tokenizer(text_target=text, split_special_tokens=True).input_ids
            found.append(id_line(ids[:-1]))
        return found

    for name in ("tatoeba-test.en", "tatoeba-dev.en", "flores-devtest.en", "calibration.en"):
        write_lines(f"ids.{name}", source(corpus_lines(name)))
    for name in ("tatoeba-test.zh", "tatoeba-dev.zh", "flores-devtest.zh"):
        write_lines(f"ids.{name}", target(corpus_lines(name)))

    random = Random(1)
    texts = [random_text(random) for _ in range(2000)]
    write_lines("ids.random", source(texts))
    write_lines("ids.random.target", target(texts))

    random = Random(2)
    decoded = []
    for _ in range(1000):
        ids = random_ids(random, len(tokenizer))
        text = tokenizer.decode(ids, skip_special_tokens=True).encode("utf-8")
        decoded.append(id_line(text))
    write_lines("decoded.random", decoded)


# Rules of a small character map: code points in hexadecimal before and after.
RULES = "A0\t20\n3000\t20\n9\t20\nFB01\t66 69\n65 301\tE9\nFF21\t41\n2026\t2E 2E 2E\nAD\t\n"


def train(lines, path, rules=None, **options):
    """A model without normalisation, or with the rules given."""
    model = io.BytesIO()
    if rules:
        file = pathlib.Path("rules.tsv")  # the model keeps the name: no path of this machine in it
        file.write_text(rules, encoding="utf-8")
        options["normalization_rule_tsv"] = file.name
    else:
        options["normalization_rule_name"] = "identity"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, num_threads=1, minloglevel=2,
        shuffle_input_sentence=False, hard_vocab_limit=False, **options)
    if rules:
        file.unlink()
    path.write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


def vocabulary(pieces, extra=()):
    """</s> and <unk> first, <pad> last, as OPUS-MT orders them."""
    entries = ["</s>", "<unk>"]
    for piece in [*pieces, *extra]:
        if piece not in entries and piece != "<s>":
            entries.append(piece)
    return {piece: i for i, piece in enumerate([*entries, "<pad>"])}


def write_json(path, value):
    path.write_text(json.dumps(value, indent=0, ensure_ascii=True) + "\n", encoding="utf-8")


TAGGED = [
    "Hello, world.", ">>cmn_Hans<< Hello, world.", ">>cmn_Hans<<Hello.", ">>cmn_Hans<<  ", ">>cmn_Hans<<",
    " >>cmn_Hans<< Hello.", "Hello >>cmn_Hans<< world.", ">>cmn_Hans<< >>fra<< Hello.", ">> Hello", "",
    "   ", "</s> and <unk> and <pad>", "<pad>", "\u2581Hello\u2581world", "你好。", "Hello 你好 world",
    "tab\there", "A\u00a0B\u3000C", "e\u0301", "\ufb01ne",
]


def small_checkpoints():
    english = corpus_lines("tatoeba-dev.en")
    chinese = corpus_lines("tatoeba-dev.zh")

    # Several target languages in one vocabulary, a character map of eight rules.
    tagged = HERE / "tagged"
    tagged.mkdir(exist_ok=True)
    source = train(english, tagged / "source.spm", rules=RULES, vocab_size=160, character_coverage=0.995)
    target = train(chinese[:25], tagged / "target.spm", vocab_size=260, character_coverage=0.98)
    tags = [">>cmn_Hans<<", ">>cmn_Hant<<", ">>fra<<"]
    write_json(tagged / "vocab.json", vocabulary(source, [*tags, *target]))
    write_json(tagged / "tokenizer_config.json",
               {"source_lang": "eng", "target_lang": "zho", "tokenizer_class": "MarianTokenizer"})

    # A vocabulary for each side, BPE with byte fallback as target, spaces cleaned up.
    separate = HERE / "separate"
    separate.mkdir(exist_ok=True)
    source = train(english, separate / "source.spm", vocab_size=120, model_type="bpe")
    target = train(english, separate / "target.spm", vocab_size=400, model_type="bpe",
                   byte_fallback=True, character_coverage=0.98)
    write_json(separate / "vocab.json", vocabulary(source))
    write_json(separate / "target_vocab.json", vocabulary(target[::-1]))
    write_json(separate / "tokenizer_config.json",
               {"separate_vocabs": True, "clean_up_tokenization_spaces": True,
                "added_tokens_decoder": {
                    "0": {"content": "</s>", "special": True},
                    "1": {"content": "<unk>", "special": True}},
                "eos_token": {"__type": "AddedToken", "content": "</s>", "special": True}})

    for folder in (tagged, separate):
        tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
        random = Random(3)
        texts = TAGGED + [random_text(random) for _ in range(60)] + english[:20] + chinese[:20]
        limit = max(tokenizer.decoder) + 1
        cases = []
        for text in texts:
            case = {"text": text}
            # transformers takes any leading >>...<< off; for us an unknown tag is plain text, and
            # target text has no tags.
            if not text.startswith(">>cmn_Hans<<"):
                case["target"] = tokenizer(text_target=text, split_special_tokens=True).input_ids[:-1]
            if "target" in case or folder == tagged:
                case["source"] = tokenizer(text, split_special_tokens=True).input_ids
            cases.append(case)
        decoded = []
        for _ in range(120):
            ids = random_ids(random, limit)
            decoded.append({"ids": ids, "text": tokenizer.decode(ids, skip_special_tokens=True)})
        lines = [json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in cases + decoded]
        write_lines(f"{folder.name}.jsonl", lines)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    bundled_goldens()
    small_checkpoints()

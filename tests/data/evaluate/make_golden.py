"""Scores small files with sacrebleu: the values that our metrics must reproduce.

Made with: python 3.11, sacrebleu 2.6.0. Run in this folder: python make_golden.py
Writes NAME.hyp and NAME.ref (one line each a segment) and golden.tsv: name, BLEU with tokenizer zh,
BLEU with tokenizer 13a, chrF2, all unrounded.
"""

import pathlib
import random

from sacrebleu.metrics import BLEU, CHRF

CORPUS = pathlib.Path("../corpus")
rng = random.Random(7)


def corpus(name, count):
    return (CORPUS / name).read_text(encoding="utf-8").split("\n")[:count]


def damage(line, unit):
    """A bad translation: some units dropped, doubled or swapped."""
    units = line.split(unit) if unit else list(line)
    out = []
    for item in units:
        draw = rng.random()
        if draw < 0.12:
            continue
        out.append(item)
        if draw > 0.92:
            out.append(rng.choice(units))
    return unit.join(out)


nasty = [
    ("1,234.56 元,是“真的”吗?", "1,234.56元，是“真的”吗？"),
    ("a-b 3-4 x.y 5.z .5 ,a,", "a-b 3-4 x.y 5.z .5 , a ,"),
    ("&quot;R&amp;D&quot; &lt;b&gt; <skipped> end", "\"R&D\" <b> end"),
    ("𠀀𠀁 … — ‘引’ ☃ ㈱ ｱ", "𠀀𠀂 … — ‘引’ ☃ ㈱ ｱ"),
    ("  leading\u3000and\u00a0trailing \t ", "leading and trailing"),
    ("", "空"), ("空", ""), ("..,,--..", "..,,--.."), ("don't can't", "do n't ca n't"),
]
sets = {
    "zh": [(damage(line, ""), line) for line in corpus("tatoeba-test.zh", 60)],
    "en": [(damage(line, " "), line) for line in corpus("flores-devtest.en", 40)],
    "nasty": nasty,
    "short": [("你好", "你好吗"), ("好", "好")],
    "nothing": [("甲 乙", "丙 丁")],
    "empty": [("", "一 二 三")],
}
with open("golden.tsv", "w", encoding="utf-8") as table:
    for name, pairs in sets.items():
        hypotheses, references = map(list, zip(*pairs))
        pathlib.Path(f"{name}.hyp").write_text("".join(f"{h}\n" for h in hypotheses), encoding="utf-8")
        pathlib.Path(f"{name}.ref").write_text("".join(f"{r}\n" for r in references), encoding="utf-8")
        scores = [BLEU(tokenize=tokenizer).corpus_score(hypotheses, [references]).score
                  for tokenizer in ("zh", "13a")]
        scores.append(CHRF().corpus_score(hypotheses, [references]).score)
        table.write("\t".join([name] + [repr(float(score)) for score in scores]) + "\n")

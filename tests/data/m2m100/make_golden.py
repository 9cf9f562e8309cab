"""Writes a small random M2M100 checkpoint and what transformers does with it.

Made with: python 3.11, torch 2.13.0, transformers 4.57.6, sentencepiece 0.2.3, safetensors 0.8.0.
Run in this folder: python make_golden.py
Writes checkpoint/ (HuggingFace layout) and golden.tsv, a line each: search (greedy, beam4), target
language, text, source ids, generated ids (without the decoder start token).
"""

import json
import pathlib

import sentencepiece
import torch
from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer

CORPUS = pathlib.Path("../corpus")
FOLDER = pathlib.Path("checkpoint")
FOLDER.mkdir(exist_ok=True)

sentencepiece.SentencePieceTrainer.train(
    input=str(CORPUS / "tatoeba-dev.en"), model_prefix="spm", vocab_size=180, model_type="bpe",
    character_coverage=1.0, num_threads=1, minloglevel=2)
pathlib.Path("spm.model").rename(FOLDER / "sentencepiece.bpe.model")
pathlib.Path("spm.vocab").unlink()
model = sentencepiece.SentencePieceProcessor(model_file=str(FOLDER / "sentencepiece.bpe.model"))
pieces = ["<s>", "<pad>", "</s>", "<unk>"] + [model.id_to_piece(i) for i in range(3, len(model))]
(FOLDER / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}, indent=0))
tokenizer = M2M100Tokenizer(str(FOLDER / "vocab.json"), str(FOLDER / "sentencepiece.bpe.model"),
                            src_lang="en", tgt_lang="zh")
tokenizer.save_pretrained(FOLDER)

torch.manual_seed(5)
config = M2M100Config(vocab_size=len(pieces) + 108, d_model=32, encoder_layers=2, decoder_layers=3,
                      encoder_attention_heads=4, decoder_attention_heads=2, encoder_ffn_dim=48,
                      decoder_ffn_dim=40, max_position_embeddings=64, init_std=0.4)
network = M2M100ForConditionalGeneration(config).eval()
for name, parameter in network.named_parameters():
    if name.endswith("bias"):  # transformers starts biases at zero, which would hide a missing one
        torch.nn.init.normal_(parameter, std=0.2)
network.generation_config.max_length = 40
network.save_pretrained(FOLDER)

TEXTS = ["Hello.", "I have never seen such a big dog before!", "x", "Where is Tom? 1,234 — ok",
         "  two  spaces ", "Émile 你好"]
with open("golden.tsv", "w", encoding="utf-8") as golden:
    for search, options in (("greedy", dict(num_beams=1)), ("beam4", dict(num_beams=4))):
        for language in ("zh", "fr"):
            for text in TEXTS:
                inputs = tokenizer(text, return_tensors="pt")
                with torch.no_grad():
                    output = network.generate(**inputs, do_sample=False, max_length=40, no_repeat_ngram_size=2,
                                              forced_bos_token_id=tokenizer.get_lang_id(language), **options)
                row = [search, language, text, " ".join(map(str, inputs.input_ids[0].tolist())),
                       " ".join(map(str, output[0, 1:].tolist()))]
                golden.write("\t".join(row) + "\n")

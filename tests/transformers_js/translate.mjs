// Greedy target ids of a package by transformers.js and onnxruntime-node, from text.
//
//   node translate.mjs PACKAGE SUBFOLDER MAX_LENGTH < SENTENCES > TARGETS
//
// SUBFOLDER is where the graphs lie in the package: "" (shared layout) or "onnx" (separate layout).
// A line of SENTENCES gives a line of TARGETS: the generated ids, without the decoder start token.

import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';

// The module lies where the set-up installed it, not beside this file.
const require = createRequire(path.join(process.env.TRANSFORMERS_JS, 'package.json'));
const { AutoModelForSeq2SeqLM, AutoTokenizer, env } = require('@huggingface/transformers');

const [folder, subfolder, maxLength] = process.argv.slice(2);
env.allowRemoteModels = false;
env.localModelPath = path.dirname(path.resolve(folder)) + '/';
const name = path.basename(folder);

const tokenizer = await AutoTokenizer.from_pretrained(name, { local_files_only: true });
const model = await AutoModelForSeq2SeqLM.from_pretrained(name, {
  dtype: 'fp32', device: 'cpu', local_files_only: true, subfolder,
});
for await (const line of readline.createInterface({ input: process.stdin })) {
  const output = await model.generate({
    ...tokenizer(line), num_beams: 1, max_length: Number(maxLength),
  });
  console.log(output.tolist()[0].slice(1).join(' '));
}

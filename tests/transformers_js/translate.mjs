// Greedy token ids of a package by transformers.js and onnxruntime-node.
//
//   node translate.mjs PACKAGE SUBFOLDER MAX_LENGTH < SOURCES > TARGETS
//
// SUBFOLDER is where the graphs lie in the package: "" (shared layout) or "onnx" (separate layout).
// Each line of SOURCES holds the ids of one sentence; each line of TARGETS the generated ids, the
// decoder start token left out.

import path from 'node:path';
import readline from 'node:readline';
import { AutoModelForSeq2SeqLM, Tensor, env } from '@huggingface/transformers';

const [package_, subfolder, maxLength] = process.argv.slice(2);
env.allowRemoteModels = false;
env.localModelPath = path.dirname(path.resolve(package_)) + '/';

const model = await AutoModelForSeq2SeqLM.from_pretrained(path.basename(package_), {
  dtype: 'fp32', device: 'cpu', local_files_only: true, subfolder,
});
for await (const line of readline.createInterface({ input: process.stdin })) {
  const ids = line.split(' ').map(BigInt);
  const shape = [1, ids.length];
  const output = await model.generate({
    inputs: new Tensor('int64', BigInt64Array.from(ids), shape),
    attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    num_beams: 1, max_length: Number(maxLength),
  });
  console.log(output.tolist()[0].slice(1).join(' '));
}

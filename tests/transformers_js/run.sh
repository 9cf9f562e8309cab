#!/usr/bin/env bash
# transformers.js gives transformers' greedy tokens with a package of ours, from both layouts, and
# sampan's own with the portable quantised ones.
#
#   run.sh SAMPAN MODULES WORK     MODULES: where node_modules lies; WORK: a folder to write in
set -euo pipefail
sampan=$1 modules=$(realpath "$2") work=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
data=$here/../data
lines=60
export ORT_DISABLE_TELEMETRY=1  # onnxruntime-node would report to its maker

mkdir -p "$work"
head -n "$lines" "$data/corpus/tatoeba-test.en" >"$work/source.en"
head -n "$lines" "$data/decode/greedy.ids" >"$work/expected.ids"
for layout in shared separate; do
  subfolder=$([[ $layout == separate ]] && echo onnx || true)
  "$sampan" export "$here/../../models/tatoeba-en-zh" --output "$work/$layout" --layout "$layout" --force
  TRANSFORMERS_JS=$modules node "$here/translate.mjs" "$work/$layout" "$subfolder" 200 \
    <"$work/source.en" >"$work/$layout.ids"
  diff "$work/expected.ids" "$work/$layout.ids"
  echo "$layout layout: the tokens of $lines sentences are transformers' own"
done
for scheme in dynamic-int8 static-int8 fp16; do
  text=()
  if [[ $scheme == static-int8 ]]; then
    text=(--calibration "$data/corpus/calibration.en" --calibration-lines 50)
  fi
  "$sampan" quantize "$work/shared" --output "$work/$scheme" --scheme "$scheme" "${text[@]}" --force --quiet
  "$sampan" translate "$work/$scheme" --json --quiet --greedy --no-split --max-length 200 \
    --batch-size 1 "$work/source.en" |
    sed 's/.*"tokens":\[\([0-9,]*\)\].*/\1/; s/,/ /g' >"$work/$scheme.expected"
  TRANSFORMERS_JS=$modules node "$here/translate.mjs" "$work/$scheme" "" 200 \
    <"$work/source.en" >"$work/$scheme.ids"
  diff "$work/$scheme.expected" "$work/$scheme.ids"
  echo "$scheme: the tokens of $lines sentences are sampan's own"
done

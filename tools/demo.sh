#!/usr/bin/env bash
# Exports the bundled checkpoint and writes the package that is fastest on this machine, unless that was done,
# and translates examples/sentences.en.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kProgram=build/release/sampan
readonly kCheckpoint=models/tatoeba-en-zh
readonly kPortable=build/demo/tatoeba-en-zh-fp32
readonly kPackage=build/demo/tatoeba-en-zh
readonly kSentences=examples/sentences.en

TIMEFORMAT=%R

if [[ ! -f $kPackage/sampan.json || $kProgram -nt $kPackage/sampan.json ]]; then
  mkdir -p "$(dirname "$kPackage")"
  { time "$kProgram" export "$kCheckpoint" --output "$kPortable" --force >&2; } 2>build/demo/export.log || {
    cat build/demo/export.log >&2
    exit 1
  }
  echo "Exported $kCheckpoint to $kPortable in $(tail -n1 build/demo/export.log) s."
  "$kProgram" quantize "$kPortable" --output "$kPackage" --scheme auto --calibration "$kSentences" --force \
    2>build/demo/quantize.log || {
    cat build/demo/quantize.log >&2
    exit 1
  }
  echo "Measured on this machine, one sentence at a time:"
  sed -nE 's/^sampan: (.* tokens\/s.*|chosen: .*)$/  \1/p' build/demo/quantize.log
fi

{ time "$kProgram" translate "$kPackage" "$kSentences" --output build/demo/sentences.zh --quiet; } \
  2>build/demo/translate.log || {
  cat build/demo/translate.log >&2
  exit 1
}
paste -d '\n' "$kSentences" build/demo/sentences.zh
echo "Translated $(wc -l <"$kSentences") sentences in $(tail -n1 build/demo/translate.log) s," \
  "the start of the program and loading the model included."

#!/usr/bin/env bash
# Exports the bundled checkpoint, unless that was done, and translates examples/sentences.en.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kProgram=build/release/sampan
readonly kCheckpoint=models/tatoeba-en-zh
readonly kPackage=build/demo/tatoeba-en-zh
readonly kSentences=examples/sentences.en

TIMEFORMAT=%R

if [[ ! -f $kPackage/sampan.json || $kProgram -nt $kPackage/sampan.json ]]; then
  mkdir -p "$(dirname "$kPackage")"
  { time "$kProgram" export "$kCheckpoint" --output "$kPackage" --force >&2; } 2>build/demo/export.log || {
    cat build/demo/export.log >&2
    exit 1
  }
  echo "Exported $kCheckpoint to $kPackage in $(tail -n1 build/demo/export.log) s."
fi

{ time "$kProgram" translate "$kPackage" "$kSentences" --output build/demo/sentences.zh --quiet; } \
  2>build/demo/translate.log || {
  cat build/demo/translate.log >&2
  exit 1
}
paste -d '\n' "$kSentences" build/demo/sentences.zh
echo "Translated $(wc -l <"$kSentences") sentences in $(tail -n1 build/demo/translate.log) s," \
  "the start of the program and loading the model included."

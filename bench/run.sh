#!/usr/bin/env bash
# Measures sampan alone, on the bundled checkpoint and on one of opus-mt-en-zh's dimensions with random
# weights. bench/peers/README.md compares it with others.
#
#   make bench        (THREADS=1 by default)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kThreads=${THREADS:-1}
readonly kSampan=build/release/sampan
readonly kTools=build/release/bench
readonly kWork=build/bench
readonly kSentences=tests/data/corpus/tatoeba-test.en

# show WHAT COMMAND...: one line of the table.
show() {
  local what=$1 figure
  shift
  figure=$("$kTools/sampan_measure" "$@" 2>"$kWork/log") || { cat "$kWork/log" >&2; exit 1; }
  printf '%-64s %s\n' "$what" "$figure"
}

measure_checkpoint() {
  local name=$1 checkpoint=$2 lines=$3 package=$kWork/package-$1
  echo "$name: $(du -m --apparent-size -L "$checkpoint"/{model.safetensors,pytorch_model.bin} 2>/dev/null | cut -f1) MB of weights"
  show "  export" "$kSampan" export "$checkpoint" --output "$package" --force
  echo "How are you?" >"$kWork/one.en"
  show "  start to first translation" "$kSampan" translate "$package" "$kWork/one.en" \
    --threads "$kThreads" --output "$kWork/one.out"
  head -n "$lines" "$kSentences" >"$kWork/some.en"
  show "  $lines sentences one by one" "$kSampan" translate "$package" "$kWork/some.en" \
    --threads "$kThreads" --batch-size 1 --output "$kWork/some.out"
  show "  $lines sentences, 32 in a batch" "$kSampan" translate "$package" "$kWork/some.en" \
    --threads "$kThreads" --batch-size 32 --output "$kWork/some.out"
  printf '  tokens a second (sampan_translate_worker, 60 tokens a sentence): batch 1 %s, batch 32 %s\n' \
    "$(tokens_per_second "$package" 1)" "$(tokens_per_second "$package" 32)"
}

# The best of three runs over 32 sentences, each of 60 tokens.
tokens_per_second() {
  head -n 32 "$kSentences" >"$kWork/tokens.en"
  printf 'run\nrun\nrun\n' | "$kTools/sampan_translate_worker" "$1" "$kWork/tokens.en" "$kThreads" 1 "$2" 60 |
    sed -nE 's/.*"seconds": *([0-9.]+).*/\1/p' |
    awk 'NR == 1 || $1 < least { least = $1 } END { printf "%.0f", 32 * 60 / least }'
}

mkdir -p "$kWork"
echo "sampan, $kThreads thread(s), on: $(sed -nE 's/^model name\s*: //p' /proc/cpuinfo | head -n1)"
measure_checkpoint tatoeba-en-zh models/tatoeba-en-zh 1000
[[ -f $kWork/opus/pytorch_model.bin ]] || "$kTools/sampan_make_opus_checkpoint" models/tatoeba-en-zh "$kWork/opus"
measure_checkpoint opus-dimensions "$kWork/opus" 20

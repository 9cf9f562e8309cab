#!/usr/bin/env bash
# Throughput and memory on a long file of real sentences, against one line at a time. Greedy search
# on the bundled checkpoint. Needs `make bench`'s programs.
#
#   bench/many_lines.sh            (LINES=100000 WORKERS=2 by default; each worker has one thread)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kLines=${LINES:-100000}
readonly kWorkers=${WORKERS:-2}
readonly kSampan=build/release/sampan
readonly kMeasure=build/release/bench/sampan_measure
readonly kWork=build/bench
readonly kPackage=$kWork/package-tatoeba-en-zh

# translate WHAT FILE OPTIONS...: one line of the table.
translate() {
  local what=$1 file=$2 figure
  shift 2
  figure=$("$kMeasure" "$kSampan" translate "$kPackage" "$file" --greedy --quiet --threads 1 \
    --output "$kWork/lines.out" "$@")
  awk -v what="$what" -v lines="$(wc -l <"$file")" \
    '{ printf "%-48s %8.0f lines/s  %s\n", what, lines / $1, $0 }' <<<"$figure"
}

# repeated LINES: so many lines of the test sentences, over and over, as a file's name.
repeated() {
  local file=$kWork/lines-$1.en
  awk -v most="$1" '{ line[NR] = $0 }
    END { for (i = 0; i < most; ++i) print line[i % NR + 1] }' \
    tests/data/corpus/tatoeba-{test,dev}.en >"$file"
  echo "$file"
}

mkdir -p "$kWork"
"$kSampan" export models/tatoeba-en-zh --output "$kPackage" --force
translate "2000 lines, one at a time" "$(repeated 2000)" --batch-size 1
translate "2000 lines, batches of 32" "$(repeated 2000)"
translate "$((kLines / 10)) lines, $kWorkers workers" "$(repeated $((kLines / 10)))" --workers "$kWorkers"
translate "$kLines lines, $kWorkers workers" "$(repeated "$kLines")" --workers "$kWorkers"

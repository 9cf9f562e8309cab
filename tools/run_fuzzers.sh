#!/usr/bin/env bash
# Runs every fuzz target of build/fuzz, first over its seeds and then for its share of the time:
#
#   tools/run_fuzzers.sh [SECONDS FOR ALL TOGETHER]
#
# Seeds are in fuzz/corpus/NAME/ and in the files and folders that fuzz/corpus/NAME.seeds lists, one
# path from the project's folder a line. What made a target fail stays in build/fuzz/failures/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}

targets=()
for source in fuzz/*_fuzz.cc; do
  [[ -f $source ]] && targets+=("$(basename "$source" .cc)")
done
((${#targets[@]} > 0)) || { echo "fuzz: there is no fuzz target" >&2; exit 1; }

share=$((seconds / ${#targets[@]}))
((share >= 1)) || share=1
export UBSAN_OPTIONS=print_stacktrace=1
mkdir -p build/fuzz/failures

for target in "${targets[@]}"; do
  # New inputs that the fuzzer finds go to the first folder.
  folders=("build/fuzz/found/$target")
  rm -rf "${folders[0]}"
  mkdir -p "${folders[0]}" "build/fuzz/seeds/$target"
  [[ -d fuzz/corpus/$target ]] && folders+=("fuzz/corpus/$target")
  if [[ -f fuzz/corpus/$target.seeds ]]; then
    rm -rf "build/fuzz/seeds/$target"
    mkdir -p "build/fuzz/seeds/$target"
    while IFS= read -r path; do
      [[ -z $path || $path == '#'* ]] && continue
      [[ -e $path ]] || { echo "fuzz: $target.seeds names $path, which does not exist" >&2; exit 1; }
      find "$path" -type f -size -256k -printf '%p\0' |
        while IFS= read -r -d '' file; do cp "$file" "build/fuzz/seeds/$target/${file//\//_}"; done
    done <"fuzz/corpus/$target.seeds"
    folders+=("build/fuzz/seeds/$target")
  fi
  log=build/fuzz/$target.log
  if ! "build/fuzz/$target" -max_total_time="$share" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -artifact_prefix="build/fuzz/failures/$target-" "${folders[@]}" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    echo "fuzz: $target failed; its whole output is in $log, its input in build/fuzz/failures/" >&2
    exit 1
  fi
  echo "fuzz: $target: $(sed -nE 's/^Done ([0-9]+) runs in ([0-9]+) second.*/\1 runs in \2 s/p' "$log")"
done

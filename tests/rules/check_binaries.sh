#!/usr/bin/env bash
# Checks that no program or library of ours holds libsentencepiece together with a shared libprotobuf or
# libonnx: libsentencepiece exports another version of protobuf, and such a process dies at start.
#
#   tests/rules/check_binaries.sh FOLDER [LDD]
set -euo pipefail

ldd=${2:-ldd}
failed=0
checked=0
while IFS= read -r file; do
  loaded=$(LC_ALL=C "$ldd" "$file" 2>&1) || continue  # a script, or an object without libraries
  checked=$((checked + 1))
  [[ $loaded =~ libsentencepiece ]] || continue
  if [[ $loaded =~ (libprotobuf[^[:space:]]*|libonnx\.so[^[:space:]]*) ]]; then
    echo "$(basename "$file"): holds libsentencepiece together with ${BASH_REMATCH[1]}"
    failed=1
  fi
done < <(find "$1" -maxdepth 1 -type f -perm -u+x)
((checked > 0)) || { echo "$1: has no program or library to check"; exit 1; }
exit "$failed"

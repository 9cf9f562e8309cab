#!/usr/bin/env bash
# Shows that the rules' checks find what they are for: each is run on violations made for it, and must
# report exactly those.
#
#   tests/rules/check_rules_test.sh PRINTING_ARCHIVE WORK_FOLDER
set -euo pipefail

rules=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
archive=$1
work=$2
failed=0

# expect NAME EXPECTED COMMAND...: the command fails and prints just the expected lines.
expect() {
  local name=$1 expected=$2 actual
  shift 2
  if actual=$("$@"); then
    echo "$name: the check passed, and should have failed"
    failed=1
  fi
  diff <(echo "$expected") <(echo "$actual") || { echo "$name: other lines than expected"; failed=1; }
}

rm -rf "$work"
mkdir -p "$work"

# What may not stand in the repository even as an example is made here.
cp -r "$rules/violations" "$work/tree"
mkdir "$work/tree/docs" "$work/tree/tools"
printf 'Fetched from https://registry.%s.%s/package\n' npmjs org >"$work/tree/docs/hosts.md"
printf 'Good.\n%s%s: write this page.\n' TO DO >"$work/tree/docs/unfinished.md"
seq -f '# line %g' 801 >"$work/tree/tools/long.sh"
expect tree "$(cat "$rules/violations.txt")" "$rules/check_tree.sh" "$work/tree"

expect archives "$(printf '%s: printing.cc.o calls %s: a library never prints or ends the process\n' \
  "$(basename "$archive")" _ZSt4cout "$(basename "$archive")" exit "$(basename "$archive")" puts)" \
  "$rules/check_archives.sh" "$archive"

cat >"$work/fake_ldd" <<'FAKE'
#!/bin/sh
echo "libsentencepiece.so.0 => /usr/lib/libsentencepiece.so.0 (0x1)"
case $1 in *mixed) echo "libprotobuf.so.32 => /usr/lib/libprotobuf.so.32 (0x2)" ;; esac
FAKE
mkdir "$work/binaries"
touch "$work/binaries/clean" "$work/binaries/mixed"
chmod +x "$work/fake_ldd" "$work/binaries"/*
expect binaries "mixed: holds libsentencepiece together with libprotobuf.so.32" \
  "$rules/check_binaries.sh" "$work/binaries" "$work/fake_ldd"

exit "$failed"

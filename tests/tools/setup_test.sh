#!/usr/bin/env bash
# The set-up on machines that lack something, played with stand-ins for the system's commands.
#
#   tests/tools/setup_test.sh PROJECT WORK_FOLDER
set -euo pipefail

project=$1
work=$2
failed=0

# expect NAME PATTERN ACTUAL
expect() {
  [[ $3 == $2 ]] && return
  echo "$1: expected $2, got: $3"
  failed=1
}

stand_in() {
  printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# Every command is written down in $work/calls.
stand_in_all() {
  rm -rf "$work"
  mkdir -p "$work/bin" "$work/project/tools"
  cp "$project"/tools/{setup.sh,check_onnxruntime.sh,apt-packages.txt} "$work/project/tools/"
  stand_in sudo 'exec "$@"'
  stand_in apt-get "echo \"apt-get \$*\" >>$work/calls"
  stand_in apt-cache 'echo "  Candidate: 1:14.0-1"'
  stand_in dpkg-query 'printf "%s installed\n" "${@:4}"'
  stand_in npm "echo \"npm \$*\" >>$work/calls; exit 1"
  touch "$work/calls"
}

# Output of the set-up, its exit code last.
setup() {
  local code=0
  env -u ONNXRUNTIME_ROOT "${@}" PATH="$work/bin:$PATH" "$work/project/tools/setup.sh" 2>&1 || code=$?
  echo "exit $code"
}

stand_in_all
expect "with everything there" "*taken from /somewhere*exit 0" "$(setup ONNXRUNTIME_ROOT=/somewhere)"
expect "with everything there, calls" "" "$(cat "$work/calls")"

stand_in dpkg-query 'printf "%s installed\n" "${@:4}" | grep -v libprotozero-dev'
expect "with a package missing" "*installing libprotozero-dev*exit 0" "$(setup ONNXRUNTIME_ROOT=/somewhere)"
expect "with a package missing, calls" "*update*install -y --no-install-recommends libprotozero-dev" \
  "$(cat "$work/calls")"

stand_in apt-cache '[[ ${!#} == libprotozero-dev ]] && echo "  Candidate: (none)" || echo "  Candidate: 1"'
expect "with a package that cannot be had" \
  "*Debian package libprotozero-dev cannot be had*needed for: ONNX files*exit 1" \
  "$(setup ONNXRUNTIME_ROOT=/somewhere)"

stand_in_all
stand_in cmake 'echo "cmake version 3.18.4"'
expect "with an old cmake" "*cmake is version 3.18.4, and 3.25 or later is needed*exit 1" \
  "$(setup ONNXRUNTIME_ROOT=/somewhere)"

# A download that fails, or brings something else, leaves nothing.
stand_in_all
expect "without a network" "*onnxruntime-node@* cannot be had*ONNXRUNTIME_ROOT*exit 1" "$(setup A=)"
stand_in npm 'echo "not the package" >"onnxruntime-node-${!###*@}.tgz"'
expect "with another package than the pinned one" "*has SHA-256*is expected*not the pinned one*exit 1" "$(setup A=)"
expect "after failed downloads" "lock" "$(ls "$work/project/.deps")"

exit "$failed"

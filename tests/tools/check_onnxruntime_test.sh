#!/usr/bin/env bash
# Copies of ONNX Runtime that fit are taken, and others are refused with the reason.
#
#   tests/tools/check_onnxruntime_test.sh PROJECT WORK_FOLDER C++_COMPILER
set -euo pipefail

project=$1
work=$2
compiler=$3
failed=0

# expect NAME PATTERN ACTUAL
expect() {
  [[ $3 == $2 ]] && return
  echo "$1: expected $2, got: $3"
  failed=1
}

# make_copy NAME VERSION [LINKER OPTIONS]: a library that answers with a version, and a header beside it.
make_copy() {
  local folder=$work/$1 version=$2
  shift 2
  mkdir -p "$folder/lib" "$folder/include"
  touch "$folder/include/onnxruntime_cxx_api.h"
  "$compiler" -shared -fPIC -x c++ - -x none -o "$folder/lib/libonnxruntime.so" "$@" <<PROGRAM
namespace {
struct Base { const void* (*api)(unsigned); const char* (*version)(); };
const char* version() { return "$version"; }
const Base base{nullptr, version};
}
extern "C" const void* OrtGetApiBase() { return &base; }
PROGRAM
}

check() { "$project/tools/check_onnxruntime.sh" "$work/$1/lib/libonnxruntime.so" "$compiler" 2>&1 || echo "refused"; }

configure() {
  rm -rf "$work/configured"
  ONNXRUNTIME_ROOT=$1 cmake -S "$project/tests/tools/find_onnxruntime" -B "$work/configured" \
    -DSAMPAN_SOURCE_DIR="$project" -DCMAKE_CXX_COMPILER="$compiler" 2>&1 | tr -s ' \n' ' '
}

rm -rf "$work"
mkdir -p "$work/other"
make_copy fitting 1.23.0
make_copy old 1.22.1
make_copy newer 2.0.0
"$compiler" -shared -fPIC -x c++ - -o "$work/other/libprotobuf.so.32" -Wl,-soname,libprotobuf.so.32 <<<'int protobuf;'
make_copy mixed 1.30.0 -Wl,--no-as-needed "$work/other/libprotobuf.so.32" -Wl,-rpath,"$work/other"
make_copy lacking 1.30.0 -Wl,--no-as-needed "$work/other/libprotobuf.so.32"
mkdir -p "$work/text/lib" "$work/text/include"
touch "$work/text/include/onnxruntime_cxx_api.h"
echo "version https://git-lfs" >"$work/text/lib/libonnxruntime.so"

expect fitting "1.23.0" "$(check fitting)"
expect old "*/old/*: is version 1.22.1, and 1.23 or later*needed*refused" "$(check old)"
expect newer "*is version 2.0.0*refused" "$(check newer)"
expect mixed "*loads libprotobuf.so.32, which cannot live in one process with libsentencepiece*refused" "$(check mixed)"
expect lacking "*loads libprotobuf.so.32*refused" "$(check lacking)"
expect text "*not a shared library*refused" "$(check text)"
expect absent "*no such file*refused" "$(check absent)"

expect "configuring with a fitting copy" "*ONNX Runtime 1.23.0: $work/fitting/*" "$(configure "$work/fitting" || true)"
expect "configuring with an old copy" \
  "*No copy of ONNX Runtime can be used*is version 1.22.1*Set ONNXRUNTIME_ROOT to another copy*" \
  "$(configure "$work/old" || true)"
expect "configuring with no copy" "*has no lib/libonnxruntime.so*Set ONNXRUNTIME_ROOT to another copy*" \
  "$(configure "$work/other" || true)"

exit "$failed"

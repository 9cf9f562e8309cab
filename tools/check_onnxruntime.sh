#!/usr/bin/env bash
# Tells whether a copy of ONNX Runtime can be used:
#
#   tools/check_onnxruntime.sh LIBRARY [C++ COMPILER]
#
# Prints its version and exits with 0, or prints the reason against it in one line and exits with 1.
set -euo pipefail

readonly kLeastMinor=23

library=$1
compiler=${2:-c++}

refuse() {
  echo "$library: $1"
  exit 1
}

[[ -f $library ]] || refuse "no such file"

# libsentencepiece exports a protobuf of its own: a second one in the process ends it at start.
loaded=$(LC_ALL=C ldd "$library" 2>&1) ||
  refuse "not a shared library that this machine can load"
if [[ $loaded =~ (libprotobuf[^ ]*|libonnx\.so[^ ]*) ]]; then
  refuse "loads ${BASH_REMATCH[1]}, which cannot live in one process with libsentencepiece"
fi
if [[ $loaded =~ ([^[:space:]]+)\ =\>\ not\ found ]]; then
  refuse "needs ${BASH_REMATCH[1]}, which is not installed"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$compiler" -x c++ - -o "$folder/version" -ldl <<'PROGRAM'
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

// The first two members of OrtApiBase have been the same in every version.
struct ApiBase {
  const void* (*get_api)(std::uint32_t);
  const char* (*get_version_string)();
};

int main(int, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  void* symbol = library ? dlsym(library, "OrtGetApiBase") : nullptr;
  if (!symbol) return 1;
  std::puts(reinterpret_cast<const ApiBase* (*)()>(symbol)()->get_version_string());
}
PROGRAM
version=$("$folder/version" "$library" 2>/dev/null) || refuse "not ONNX Runtime (no OrtGetApiBase)"

IFS=. read -r major minor _ <<<"$version"
if ((major != 1 || minor < kLeastMinor)); then
  refuse "is version $version, and 1.$kLeastMinor or later (below 2) is needed"
fi
echo "$version"

#!/usr/bin/env bash
# Installs a build, moves what was installed, and uses it as a stranger would: another CMake project,
# pkg-config's file, and the program.
#
#   tests/install/install_test.sh PROJECT BUILD C++_COMPILER C++_FLAGS
set -euo pipefail

project=$1
build=$2
compiler=$3
flags=$4
work=$build/install_test
unset LD_LIBRARY_PATH

fail() {
  echo "install: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" >"$work/install.log" ||
  { cat "$work/install.log"; fail "cmake --install failed"; }
# Whatever is installed must not depend on where it was installed, or on the build.
mv "$work/first" "$work/prefix"

for file in "$work"/prefix/lib/libsampan.so "$work"/prefix/bin/sampan; do
  [[ -f $file ]] || fail "${file#"$work/"} is missing"
  loaded=$(ldd "$file")
  [[ $loaded == *"libonnxruntime.so.1 => $work/prefix/"* ]] ||
    fail "${file#"$work/"} does not load the ONNX Runtime that was installed beside it: $loaded"
done
for header in "$project"/include/sampan/*.h; do
  cmp -s "$header" "$work/prefix/include/sampan/$(basename "$header")" || fail "$header is not installed"
done

# Only sampan's own names, and those that the compiler shares between libraries, are visible.
strangers=$(nm -DC --defined-only "$work/prefix/lib/libsampan.so" |
  awk '$2 ~ /^[TDBR]$/ && $0 !~ / (sampan::|(typeinfo|vtable|typeinfo name) for sampan::|__odr_asan|__lsan_|_init|_fini)/')
[[ -z $strangers ]] || fail "libsampan.so shows what is not its own: $strangers"

"$project/tests/install/extract_example.sh" "$project/README.md" >"$work/readme_example.cc"
{
  cmake -S "$project/tests/install/consumer" -B "$work/consumer" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_PREFIX_PATH="$work/prefix" -DREADME_EXAMPLE="$work/readme_example.cc" &&
    cmake --build "$work/consumer"
} >"$work/consumer.log" 2>&1 || { cat "$work/consumer.log"; fail "the consumer project does not build"; }

mkdir "$work/run"
cd "$work/run"
"$work/consumer/translate_sentence" "$project/models/tatoeba-en-zh" "$work/run/tatoeba-en-zh" \
  "How are you?" >translation.txt || fail "the consumer project's program failed ($?)"
mapfile -t lines <translation.txt
[[ ${#lines[@]} == 2 && ${lines[1]} == *[![:ascii:]]* ]] ||
  fail "the consumer project translated to: ${lines[*]}"
"$work/consumer/readme_example" >example.txt || fail "the README's example failed ($?)"
[[ -s example.txt ]] || fail "the README's example printed nothing"

shown=$("$work/prefix/bin/sampan" --version)
[[ $shown == *"${lines[0]}"* ]] || fail "the library is version ${lines[0]}, and the program says: $shown"
echo "installed and used: ${lines[*]}"

#!/usr/bin/env bash
# Checks the project's rules that can be seen in its text:
#
#   tests/rules/check_tree.sh FOLDER
#
# Prints each violation as `file:line: what is wrong` and exits with 1 if there is any.
set -euo pipefail

rules=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$1"
export LC_ALL=C

readonly kMostLines=800
violations=$(mktemp)
trap 'rm -f "$violations"' EXIT

# Every file that people write, without the rules' own examples of violations and the tests' data.
files() {
  find . -maxdepth 1 -type f -not -name LICENSE
  local folder
  for folder in src include tests fuzz bench tools cmake docs examples .ci; do
    [[ -d $folder ]] || continue
    find "./$folder" \( -path ./tests/data -o -path ./tests/rules/violations -o -name node_modules \
      -o -path ./fuzz/corpus \) -prune -o -type f -print
  done
}

text_files() { files | grep -vE '\.(spm|onnx|bin|safetensors|png)$' || true; }
cpp_files() { files | grep -E '^\./(src|include|tests|fuzz|bench|examples)/.*\.(h|cc)$' || true; }
library_files() { cpp_files | grep -E '^\./(src|include)/' || true; }

on_each() { tr '\n' '\0' | xargs -0 -r "$@"; }

# Include lines: a room includes only what the table opens to it, another project's header only in
# its home, and the public headers only C++'s own.
library_files | on_each awk -v rooms="$rules/rooms.txt" -v headers="$rules/headers.txt" '
  function complain(text) { printf "%s:%d: %s\n", substr(FILENAME, 3), FNR, text }
  function read_table(name, table,    line, key) {
    while ((getline line < name) > 0) {
      if (line ~ /^#/ || line !~ /:/) continue
      key = line; sub(/:.*/, "", key)
      sub(/^[^:]*:/, "", line)
      table[key] = line " "
    }
  }
  function lists(words, word) { return index(" " words " ", " " word " ") > 0 }
  function check_room(header,    target) {
    target = header; sub(/\/.*/, "", target)
    if (header ~ /^sampan\// || target == room) return
    if (room == "") complain("a public header includes \"" header "\", which is not installed")
    else if (header !~ /\//) complain("\"" header "\" does not begin with its room")
    else if (!lists(may[room], target) && !lists(may[room], header))
      complain("src/" room " may not include src/" header)
  }
  function check_header(header,    prefix, homes, found) {
    if (header !~ /[.\/]/) return
    if (room == "") { complain("a public header includes <" header ">, which is not C++'"'"'s own"); return }
    for (prefix in home) if (index(header, prefix) == 1) { found = 1; homes = home[prefix] }
    if (!found) complain("<" header "> has no home: give it one in tests/rules/headers.txt")
    else if (lists(homes, "any")) return
    else if (lists(homes, "sources")) {
      if (FILENAME ~ /\.h$/) complain("<" header "> may be included in .cc files alone")
    } else if (!lists(homes, room)) complain("<" header "> may be included in" homes "alone")
  }
  BEGIN { read_table(rooms, may); read_table(headers, home) }
  FNR == 1 {
    split(FILENAME, part, "/")
    room = part[2] == "src" ? part[3] : ""
    if (room != "" && !(room in may)) complain("room " room " is not in tests/rules/rooms.txt")
  }
  /^[ \t]*#[ \t]*include[ \t]*"/ { split($0, quoted, "\""); check_room(quoted[2]) }
  /^[ \t]*#[ \t]*include[ \t]*</ { name = $0; sub(/^[^<]*</, "", name); sub(/>.*/, "", name); check_header(name) }
' >>"$violations"

# Libraries report by exceptions: they never print and never end the process.
{ library_files | grep -v '^\./src/cli/' || true; } | on_each awk '
  function strip(line) {
    gsub(/\\"/, "", line); gsub(/"[^"]*"/, "\"\"", line)
    while (in_comment || line ~ /\/\*/) {
      if (in_comment) {
        if (line !~ /\*\//) return ""
        sub(/^([^*]|\*[^\/])*\*\//, "", line); in_comment = 0
      } else if (line ~ /\/\*.*\*\//) sub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
      else { sub(/\/\*.*/, "", line); in_comment = 1; return line }
    }
    sub(/\/\/.*/, "", line)
    return line
  }
  FNR == 1 { in_comment = 0 }
  {
    code = " " strip($0)
    if (match(code, /[^A-Za-z0-9_](exit|_exit|_Exit|quick_exit|abort|terminate)[ \t]*\(/))
      printf "%s:%d: a library never ends the process\n", substr(FILENAME, 3), FNR
    if (match(code, /[^A-Za-z0-9_](cout|cerr|clog|stdout|stderr|STDOUT_FILENO|STDERR_FILENO)[^A-Za-z0-9_]/) ||
        match(code, /[^A-Za-z0-9_](printf|vprintf|puts|putchar|perror|print|println)[ \t]*\(/))
      printf "%s:%d: a library never prints\n", substr(FILENAME, 3), FNR
  }
' >>"$violations"

# Sizes and names.
text_files | grep -vE '/(package-lock\.json|vocab\.json)$' | on_each awk -v most="$kMostLines" '
  FNR == most + 1 { printf "%s:%d: more than %d lines: split it\n", substr(FILENAME, 3), FNR, most }
' >>"$violations"
{ cpp_files; files | grep -E '\.(sh|py|awk)$' || true; } | sort -u |
  { grep -vE '^(\./[a-z.][a-z0-9_./-]*/)[a-z][a-z0-9_]*\.[a-z]+$' || true; } |
  sed -E 's|^\./(.*)|\1:1: the file name is not snake_case|' >>"$violations"
{ cpp_files | grep -E '^\./tests/.*\.cc$' || true; } | on_each grep -lE '^(TEST|TEST_F|TEST_P)\(' |
  { grep -v '_test\.cc$' || true; } |
  sed -E 's|^\./(.*)|\1:1: tests are in a file that is not named _test.cc|' >>"$violations"

# Words that have no place here: unfinished work, and the hosts of package registries, which are a
# matter of each machine's own configuration.
text_files | on_each grep -nHE '\b(TO[D]O|FIX[M]E|X[X]X)\b' |
  sed -E 's|^\./([^:]*:[0-9]+):.*|\1: unfinished work is not committed|' >>"$violations" || true
text_files | on_each grep -nHiE '\b(debian|npm[a-z]*|pypi|pythonhosted)[.](org|com|net)\b' |
  sed -E 's|^\./([^:]*:[0-9]+):.*|\1: names the host of a package registry|' >>"$violations" || true

sort -t: -k1,1 -k2,2n -k3 "$violations"
[[ ! -s $violations ]]

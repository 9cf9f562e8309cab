#!/usr/bin/env bash
# Prints the first C++ example of a Markdown page; fails if there is none.
set -euo pipefail
awk '
  /^```/ { if (inside) exit; inside = /^```cpp$/; next }
  inside { print; found = 1 }
  END { exit !found }
' "$1" || { echo "$1 has no example that begins with \`\`\`cpp" >&2; exit 1; }

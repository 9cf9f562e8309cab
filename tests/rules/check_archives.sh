#!/usr/bin/env bash
# Checks that libraries neither print nor end the process, by what they call:
#
#   tests/rules/check_archives.sh ARCHIVE...
#
# std::terminate is left out: the compiler itself calls it, from destructors of std::thread and others.
set -euo pipefail

forbidden='exit|_exit|_Exit|quick_exit|abort|printf|vprintf|puts|putchar|perror|stdout|stderr'
forbidden+='|_ZSt4cout|_ZSt4cerr|_ZSt4clog|_ZN3fmt.*[0-9]v?print(ln)?E.*'
failed=0
for archive in "$@"; do
  found=$(nm -A -u "$archive" 2>/dev/null | grep -E " U ($forbidden)(@.*)?$" || true)
  [[ -z $found ]] && continue
  sed -E 's|^.*/([^/]*\.a):([^:]*):.* U (.*)|\1: \2 calls \3: a library never prints or ends the process|' <<<"$found"
  failed=1
done
exit "$failed"

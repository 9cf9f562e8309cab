#!/usr/bin/env bash
# Installs what sampan is built with on Debian 12 or 13: the packages of tools/apt-packages.txt, and
# ONNX Runtime in .deps/onnxruntime. With --tests also transformers.js, which the tests open packages
# with, in .deps/transformers_js. Does nothing, and needs no network, where all of it is there.
#
# ONNXRUNTIME_ROOT=FOLDER names another copy of ONNX Runtime (FOLDER/include, FOLDER/lib).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The runtime library is taken from an npm package, and its headers from a Debian 13 package, which
# is only unpacked. An archive with another hash is never used.
readonly kRuntimeVersion=1.30.0
readonly kRuntimeSha256=6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75
readonly kHeadersVersion=1.21.0+dfsg-1
readonly kHeadersSha256Amd64=14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08
readonly kHeadersSha256Arm64=d4b1967893865756c0fa8536be165259a8eb0e9068e60d322ba707ef4527e44e

readonly kPackageList=tools/apt-packages.txt

say() { echo "setup: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "needs root to run '$*': run it as root, or install sudo"
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" >&2
}

update_package_lists() {
  [[ -n ${lists_are_fresh:-} ]] && return
  apt_get update || say "apt-get update failed; going on with the package lists of last time"
  lists_are_fresh=yes
}

has_candidate() {
  [[ $(LC_ALL=C apt-cache policy "$1") =~ Candidate:\ [^\(] ]]
}

# Major version of the clang that is on PATH, or else of the one that Debian would install.
clang_major() {
  if command -v clang++ >/dev/null; then
    clang++ -dumpversion | cut -d. -f1
  else
    LC_ALL=C apt-cache policy clang | sed -nE 's/^  Candidate: ([0-9]+:)?([0-9]+)\..*/\2/p'
  fi
}

# Prints "package purpose" for each line of the list that is not satisfied on this machine.
missing_packages() {
  local line package purpose program installed clang wanted=()
  clang=$(clang_major)
  while IFS= read -r line; do
    read -r package program _ <<<"${line%%#*}"
    [[ -n $package ]] || continue
    if [[ ${program:-} == command=* ]] && command -v "${program#command=}" >/dev/null; then continue; fi
    wanted+=("${package//@clang@/$clang} ${line#*# }")
  done <"$kPackageList"
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]%% *}" 2>/dev/null) || true
  for line in "${wanted[@]}"; do
    [[ $'\n'$installed$'\n' == *$'\n'"${line%% *} installed"$'\n'* ]] || echo "$line"
  done
}

install_packages() {
  local package purpose missing unavailable=0 packages=()
  missing=$(missing_packages)
  [[ -n $missing ]] || return 0
  update_package_lists
  missing=$(missing_packages)  # Debian's clang may have become known
  while read -r package purpose; do
    if has_candidate "$package"; then
      packages+=("$package")
    else
      say "Debian package $package cannot be had from apt's sources; it is needed for: $purpose"
      unavailable=1
    fi
  done <<<"$missing"
  ((unavailable == 0)) ||
    fail "add a source that has the packages above (Debian 12 or 13, main) to apt, then repeat"
  say "installing ${packages[*]}"
  apt_get install -y --no-install-recommends "${packages[@]}" ||
    fail "apt-get could not install the packages above; see its messages"
}

check_cmake() {
  local version
  version=$(cmake --version | sed -nE '1s/[^0-9]*([0-9.]+).*/\1/p')
  dpkg --compare-versions "$version" ge 3.25 ||
    fail "$(command -v cmake) is version $version, and 3.25 or later is needed: remove it to get Debian's"
}

# Path of a copy that is installed on the system with its headers, whether or not it fits.
system_runtime() {
  local folder header
  for folder in /usr/local /usr; do
    for header in "$folder"/include/{,onnxruntime/}onnxruntime_cxx_api.h; do
      [[ -f $header ]] || continue
      compgen -G "$folder/lib/libonnxruntime.so" || compgen -G "$folder/lib/*-linux-gnu/libonnxruntime.so" ||
        continue
      return 0
    done
  done
  return 1
}

check_sha256() {
  local file=$1 expected=$2 actual
  actual=$(sha256sum "$file" | cut -d' ' -f1)
  [[ $actual == "$expected" ]] || {
    say "$(basename "$file") has SHA-256 $actual, and $expected is expected"
    return 1
  }
}

# Unpacks the runtime's library to FOLDER/lib.
fetch_runtime() {
  local folder=$1 cpu=$2 archive=onnxruntime-node-$kRuntimeVersion.tgz
  say "fetching ONNX Runtime $kRuntimeVersion (npm package onnxruntime-node, 114 MB)"
  (cd "$folder" && npm pack --ignore-scripts --silent "onnxruntime-node@$kRuntimeVersion" >/dev/null) ||
    fail "npm package onnxruntime-node@$kRuntimeVersion cannot be had; it is needed to run ONNX graphs." \
      "Repeat with a network, or set ONNXRUNTIME_ROOT to a copy of ONNX Runtime 1.23 or later"
  check_sha256 "$folder/$archive" "$kRuntimeSha256" || fail "the npm package is not the pinned one"
  mkdir "$folder/lib"
  tar -xzf "$folder/$archive" -C "$folder/lib" --strip-components=5 \
    "package/bin/napi-v6/linux/$cpu/libonnxruntime.so.1"
  ln -s libonnxruntime.so.1 "$folder/lib/libonnxruntime.so"
  rm "$folder/$archive"
}

debian_sites() {
  apt-get indextargets --format '$(ORIGIN) $(LABEL) $(SITE)' 'Created-By: Packages' |
    awk '$1 == "Debian" { print ($2 == "Debian" ? 0 : 1), $NF }' | sort -u | cut -d' ' -f2
}

# Unpacks the runtime's headers to FOLDER/include.
fetch_headers() {
  local folder=$1 architecture=$2 sha256=$3 site
  local archive=libonnxruntime-dev_${kHeadersVersion}_$architecture.deb
  [[ -n $(debian_sites) ]] || update_package_lists
  for site in $(debian_sites); do
    /usr/lib/apt/apt-helper -q -o APT::Sandbox::User=root download-file \
      "$site/pool/main/o/onnxruntime/$archive" "$folder/$archive" >/dev/null 2>&1 || continue
    check_sha256 "$folder/$archive" "$sha256" || continue
    dpkg-deb -x "$folder/$archive" "$folder/headers"
    mv "$folder/headers/usr/include/onnxruntime" "$folder/include"
    rm -r "$folder/headers" "$folder/$archive"
    return
  done
  fail "Debian package $archive cannot be had from apt's Debian sites; it has the headers of ONNX" \
    "Runtime. Repeat with a network, or set ONNXRUNTIME_ROOT to a copy with headers"
}

install_runtime() {
  local architecture cpu sha256 found reason stamp
  if [[ -n ${ONNXRUNTIME_ROOT:-} ]]; then
    say "ONNX Runtime is taken from $ONNXRUNTIME_ROOT (ONNXRUNTIME_ROOT)"
    return
  fi
  architecture=$(dpkg --print-architecture)
  case $architecture in
    amd64) cpu=x64 sha256=$kHeadersSha256Amd64 ;;
    arm64) cpu=arm64 sha256=$kHeadersSha256Arm64 ;;
    *) fail "no ONNX Runtime is known for $architecture (amd64 and arm64 are): set ONNXRUNTIME_ROOT to a copy" ;;
  esac
  stamp="$kRuntimeVersion $kRuntimeSha256 $kHeadersVersion $sha256"
  [[ $(cat .deps/onnxruntime/stamp 2>/dev/null) == "$stamp" ]] && return
  if found=$(system_runtime); then
    if reason=$(tools/check_onnxruntime.sh "$found" 2>&1); then
      say "ONNX Runtime $reason is taken from the system ($found)"
      rm -rf .deps/onnxruntime
      return
    fi
    say "the system's ONNX Runtime is not used: $reason"
  fi

  mkdir -p .deps
  exec 9>.deps/lock
  flock 9
  [[ $(cat .deps/onnxruntime/stamp 2>/dev/null) == "$stamp" ]] && return
  rm -rf .deps/partial.*  # left by a killed run: the lock is ours
  work=$(mktemp -d .deps/partial.XXXXXX)
  trap 'rm -rf "$work"' EXIT
  fetch_runtime "$work" "$cpu"
  fetch_headers "$work" "$architecture" "$sha256"
  echo "$stamp" >"$work/stamp"
  chmod 755 "$work"
  sync "$work/lib/libonnxruntime.so.1"
  rm -rf .deps/onnxruntime
  mv -T "$work" .deps/onnxruntime
  say "ONNX Runtime $kRuntimeVersion is in .deps/onnxruntime"
}

# The modules that tests/transformers_js opens packages with. No script of theirs is run.
install_transformers_js() {
  local from=tests/transformers_js to=.deps/transformers_js stamp work
  stamp=$(cat "$from/package.json" "$from/package-lock.json" | sha256sum | cut -d' ' -f1)
  [[ $(cat "$to/stamp" 2>/dev/null) == "$stamp" ]] && return
  say "fetching transformers.js for the tests (npm, 450 MB unpacked)"
  mkdir -p .deps
  work=$(mktemp -d .deps/partial-js.XXXXXX)
  cp "$from/package.json" "$from/package-lock.json" "$from/.npmrc" "$work/"
  (cd "$work" && npm ci --ignore-scripts --silent >/dev/null) || {
    rm -rf "$work"
    fail "the npm packages that $from/package-lock.json pins cannot be had; they are needed by the tests." \
      "Repeat with a network"
  }
  echo "$stamp" >"$work/stamp"
  rm -rf "$to"
  mv -T "$work" "$to"
}

command -v apt-get >/dev/null ||
  fail "this machine has no apt-get: install what $kPackageList lists by hand (Debian 12 and 13 are supported)"
install_packages
check_cmake
install_runtime
if [[ ${1:-} == --tests ]]; then install_transformers_js; fi

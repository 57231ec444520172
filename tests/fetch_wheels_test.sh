#!/usr/bin/env bash
# Tests tools/fetch_wheels.sh without a network: a lock file of two small wheels, one of which may be missing or changed.
# Exit code 77: this machine has no pip.
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/.." && pwd)
python3 -m pip --version > /dev/null 2>&1 || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tools" "$folder/index"
cp "$source_folder/tools/fetch_wheels.sh" "$folder/tools"
cd "$folder"
export PIP_NO_INDEX=1 PIP_FIND_LINKS="$folder/index" PIP_CONFIG_FILE=/dev/null

fail() { echo "FAILED: $*" >&2; exit 1; }

make_wheel() {  # make_wheel NAME PLATFORM
  python3 - "$@" << 'END'
import sys, zipfile
name, platform = sys.argv[1:]
with zipfile.ZipFile(f"index/{name}-1.0-py3-none-{platform}.whl", "w") as wheel:
    wheel.writestr(f"{name}/plugin.so", name)
    wheel.writestr(f"{name}/left_out.txt", name)
    info = f"{name}-1.0.dist-info"
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-{platform}\n")
    wheel.writestr(f"{info}/RECORD", "")
END
}
hash_of() { sha256sum index/"$1"-1.0-*.whl | cut -d' ' -f1; }

make_wheel fast any
make_wheel slow manylinux_2_28_x86_64
cat > wheels.lock << END
# instead: slow
fast==1.0 --hash=sha256:$(hash_of fast)

# keep: slow/plugin.so slow-1.0.dist-info/*
slow==1.0 --hash=sha256:$(hash_of slow)
END
fetch() { tools/fetch_wheels.sh third_party > log 2>&1; }

fetch || fail "both are there"
[ "$(cat third_party/fast/fast/plugin.so)" = fast ] || fail "fast is not unpacked"
[ ! -e third_party/slow/slow/left_out.txt ] || fail "more is unpacked than is kept"
echo "fast==1.0 --hash=sha256:$(hash_of fast)" > other.lock
tools/fetch_wheels.sh other other.lock > log 2>&1 || fail "another lock file"
[ -e other/fast ] && [ ! -e other/slow ] || fail "took other wheels than those of the other lock file"
touch third_party/fast/fast/mark
fetch && [ -e third_party/fast/fast/mark ] || fail "fetched again what is there"

mv index/fast-1.0-py3-none-any.whl away
rm -r third_party/slow
sed -i 's/^fast==1.0/fast==1.1/' wheels.lock
fetch || fail "the stand-in does not do"
grep -q 'warning: fast cannot be fetched; slow is used in its place' log || fail "no warning"
[ -e third_party/slow/slow/plugin.so ] || fail "the stand-in is not unpacked"
[ ! -e third_party/fast ] || fail "another version of fast is left"

sed -i 's/^fast==1.1/fast==1.0/' wheels.lock
mv away index/fast-1.0-py3-none-any.whl
fetch && [ -e third_party/fast ] || fail "the next run does not fetch it"

rm -r third_party/fast
(cd index && python3 -m zipfile -c changed.zip slow-1.0-*.whl && mv changed.zip fast-1.0-py3-none-any.whl)
if fetch; then fail "took a wheel of another content"; fi
grep -q 'DO NOT MATCH THE HASHES' log || fail "does not say what is wrong"
[ ! -e third_party/fast ] || fail "unpacked a wheel of another content"

make_wheel fast any
rm -r third_party/slow index/slow-1.0-*.whl
if fetch; then fail "a wheel without stand-in is missing"; fi
[ -z "$(ls -d third_party/.part-* 2> /dev/null)" ] || fail "left a part behind"

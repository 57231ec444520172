#!/bin/sh
# Puts what the tests of the API need into build/api, unless it is already there: promtool, from the Debian package
# prometheus (unpacked, because installing it would start a server), and the Python packages of requirements.txt.
set -eu
cd "$(dirname "$0")/../.."
wanted=tests/api/requirements.txt
if cmp -s "$wanted" build/api/installed.txt; then exit 0; fi
echo "installing promtool and schemathesis into build/api" >&2
rm -rf build/api
mkdir -p build/api/bin
(
  cd build/api
  apt-get download -qq prometheus || {
    echo "prometheus cannot be downloaded: run 'apt-get update' as root, then 'make api' again" >&2
    exit 1
  }
  dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x --strip-components=3 -C bin ./usr/bin/promtool
  rm prometheus_*.deb
)
python3 -m pip install --quiet --root-user-action ignore --disable-pip-version-check --no-deps \
  --only-binary :all: --target build/api/packages -r "$wanted"
cp "$wanted" build/api/installed.txt

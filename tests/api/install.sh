#!/bin/sh
# Installs what the tests of the API need, unless it is already there: promtool (Debian package prometheus), and the
# Python packages of requirements.txt, into build/api.
set -eu
cd "$(dirname "$0")/../.."
tools/setup.sh api >&2
wanted=tests/api/requirements.txt
if cmp -s "$wanted" build/api/installed.txt; then exit 0; fi
echo "installing schemathesis into build/api" >&2
rm -rf build/api
python3 -m pip install --quiet --root-user-action ignore --disable-pip-version-check --no-deps \
  --only-binary :all: --target build/api/packages -r "$wanted"
cp "$wanted" build/api/installed.txt

#!/bin/sh
# Installs what the tests of the page need, unless it is already there: Chromium and its driver (Debian packages), and the
# Python packages of requirements.txt, into build/page.
set -eu
cd "$(dirname "$0")/../.."
tools/setup.sh page >&2
wanted=tests/page/requirements.txt
if cmp -s "$wanted" build/page/installed.txt; then exit 0; fi
echo "installing selenium and axe into build/page" >&2
rm -rf build/page
python3 -m pip install --quiet --root-user-action ignore --disable-pip-version-check --no-deps --ignore-requires-python \
  --only-binary :all: --target build/page/packages -r "$wanted"
cp "$wanted" build/page/installed.txt

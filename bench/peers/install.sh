#!/bin/sh
# Installs the peers of the speed bars, pinned, into build/peers; does nothing when they are there.
set -eu
cd "$(dirname "$0")/../.."
wanted=bench/peers/requirements.txt
if cmp -s "$wanted" build/peers/installed.txt; then exit 0; fi
echo "installing PyTorch, JAX and other peers into build/peers (6 GB, some minutes)" >&2
rm -rf build/peers
python3 -m venv build/peers
build/peers/bin/pip install --quiet --disable-pip-version-check -r "$wanted"
cp "$wanted" build/peers/installed.txt

#!/bin/sh
# Installs the peers of the speed bars, pinned, into build/peers; does nothing when they are there.
# `install.sh notes`: basic-pitch, which wants other versions, into build/peers-notes.
set -eu
cd "$(dirname "$0")/../.."
if [ "${1:-}" = notes ]; then
  wanted=bench/peers/requirements-notes.txt folder=build/peers-notes options=--no-deps what="basic-pitch (1 GB"
else
  wanted=bench/peers/requirements.txt folder=build/peers options= what="PyTorch, JAX and other peers (6 GB"
fi
if cmp -s "$wanted" "$folder/installed.txt"; then exit 0; fi
echo "installing $what, some minutes) into $folder" >&2
tools/setup.sh bench >&2
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check $options -r "$wanted"
cp "$wanted" "$folder/installed.txt"

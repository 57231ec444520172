#!/bin/sh
# Installs the peers of the speed bars, pinned, into build/peers; does nothing when they are there.
# `install.sh peers-notes`: basic-pitch, which wants other versions, into build/peers-notes.
set -eu
cd "$(dirname "$0")/../.."
case "${1:-peers}" in
  peers) wanted=bench/peers/requirements.txt options= what="PyTorch, JAX and other peers (6 GB" ;;
  peers-notes) wanted=bench/peers/requirements-notes.txt options=--no-deps what="basic-pitch (1 GB" ;;
  *) echo "usage: install.sh [peers|peers-notes]" >&2; exit 2 ;;
esac
folder=build/${1:-peers}
if cmp -s "$wanted" "$folder/installed.txt"; then exit 0; fi
echo "installing $what, some minutes) into $folder" >&2
tools/setup.sh bench >&2
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check $options -r "$wanted"
cp "$wanted" "$folder/installed.txt"

#!/bin/sh
# Installs the pinned peers of the speed bars into build/peers, unless they are already there. Compiles llama.cpp for
# this processor.
# `install.sh peers-notes` installs basic-pitch, which needs other versions, and swift-f0 into build/peers-notes.
# `install.sh peers-pitch` installs three pitch trackers into build/peers-pitch, `install.sh peers-judges` two judges of
# timbre into build/peers-judges. Both use the PyTorch of build/peers or, if that is not installed, of build/peers-torch.
# `install.sh songs` fetches real songs whose stems are known into build/third_party.
# `install.sh hum-COMMIT` builds hum at an earlier commit.
set -eu
cd "$(dirname "$0")/../.."
case "${1:-peers}" in
  peers) wanted=bench/peers/requirements.txt options= what="PyTorch, JAX, llama.cpp and other peers (6 GB; compiling takes half an hour on two cores)" ;;
  peers-notes) wanted=bench/peers/requirements-notes.txt options=--no-deps what="basic-pitch and swift-f0 (1 GB, some minutes)" ;;
  peers-pitch) wanted=bench/peers/requirements-pitch.txt options=--no-deps what="swift-f0, PESTO and torchcrepe (1 GB, some minutes)" ;;
  peers-judges) wanted=bench/peers/requirements-judges.txt options=--no-deps what="aisfx, musicnn and TensorFlow (2 GB, some minutes)" ;;
  peers-torch)
    wanted=build/peers-torch.txt options= what="PyTorch (5 GB, some minutes)"
    mkdir -p build
    grep '^torch==' bench/peers/requirements.txt > "$wanted" ;;
  songs)
    tools/fetch_stems.sh --bench
    exec tools/fetch_wheels.sh build/third_party tools/stempeg.lock ;;
  hum-*) exec bench/peers/old_hum.sh "${1#hum-}" ;;
  *) echo "usage: install.sh [peers|peers-notes|peers-pitch|peers-judges|peers-torch|songs|hum-COMMIT]" >&2; exit 2 ;;
esac
folder=build/${1:-peers}
if cmp -s "$wanted" "$folder/installed.txt"; then exit 0; fi
echo "installing $what into $folder" >&2
tools/setup.sh bench >&2
rm -rf "$folder"
python3 -m venv "$folder"
CMAKE_ARGS="-DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DGGML_OPENMP=ON -DLLAVA_BUILD=OFF" \
  "$folder/bin/pip" install --quiet --disable-pip-version-check $options -r "$wanted"
if [ "$folder" = build/peers ]; then
  gcc -shared -fPIC -O2 -o "$folder/lib/libmkl_as_on_intel.so" bench/peers/mkl_as_on_intel.c
fi
packages_of() { "$PWD/build/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
case "$folder" in
  build/peers-pitch | build/peers-judges)
    torch=peers
    if ! [ -e build/peers/installed.txt ]; then
      torch=peers-torch
      bench/peers/install.sh "$torch"
    fi
    packages_of "$torch" > "$(packages_of "${folder#build/}")/peers.pth" ;;
esac
cp "$wanted" "$folder/installed.txt"

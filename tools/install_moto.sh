#!/bin/sh
# Installs moto's server, pinned, into build/moto: another S3 that the slow test S3Slow.MotoAgrees speaks with.
set -eu
cd "$(dirname "$0")/.."
[ -x build/moto/bin/moto_server ] && exit 0
tools/setup.sh bench
python3 -m venv build/moto
build/moto/bin/pip install --quiet --disable-pip-version-check 'moto[server]==5.2.1'

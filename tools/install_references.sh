#!/bin/sh
# Installs a pinned reference implementation into build/<name>, unless it is already there.
# Usage: tools/install_references.sh moto          an S3 server, for the slow test S3Slow.MotoAgrees
#        tools/install_references.sh webdataset    a reader of shards, for the test Data.IsReadByTheWebDatasetPackage
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
  moto) requirement='moto[server]==5.2.1' ;;
  webdataset) requirement='webdataset==1.0.2' ;;
  *) echo 'usage: tools/install_references.sh moto|webdataset' >&2; exit 2 ;;
esac
[ "$(cat "build/$1/.installed" 2> /dev/null)" = "$requirement" ] && exit 0
tools/setup.sh bench
python3 -m venv "build/$1"
"build/$1/bin/pip" install --quiet --disable-pip-version-check "$requirement"
echo "$requirement" > "build/$1/.installed"

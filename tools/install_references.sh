#!/bin/sh
# Installs another implementation that tests compare with, pinned, into build/<name>; does nothing when it is there.
# Usage: tools/install_references.sh moto          another S3: the slow test S3Slow.MotoAgrees speaks with it
#        tools/install_references.sh webdataset    the package that reads shards: Data.IsReadByTheWebDatasetPackage
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

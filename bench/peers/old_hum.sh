#!/bin/sh
# Builds hum at an earlier commit in build/hum-COMMIT, unless it is already there. That folder is a clone with its own
# weights and configurations, and has the wheels of this clone. The program is build/hum-COMMIT/build/bin/hum.
# Usage: old_hum.sh COMMIT
set -eu
cd "$(dirname "$0")/../.."
if [ $# -ne 1 ]; then echo "usage: old_hum.sh COMMIT" >&2; exit 2; fi
commit=$(git rev-parse --verify "$1^{commit}")
folder=build/hum-$1
if [ "$(cat "$folder/installed.txt" 2> /dev/null)" = "$commit" ]; then exit 0; fi
echo "building hum at commit $1 in $folder (ten minutes on two cores)" >&2
if [ "$(git -C "$folder" rev-parse HEAD 2> /dev/null)" != "$commit" ]; then  # else an interrupted build resumes
  rm -rf "$folder"
  git clone --quiet --no-checkout . "$folder"
  mkdir "$folder/build"
  cp -al build/third_party "$folder/build/"
  git -C "$folder" checkout --quiet "$commit"
fi
(cd "$folder" && cmake --preset release && cmake --build build --target hum) >&2
echo "$commit" > "$folder/installed.txt"

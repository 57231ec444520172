#!/usr/bin/env bash
# Tests tools/fetch_stems.sh without a network: a lock file of four small packages in a local archive, of which one has
# another version and one another content. Exit code 77: this machine has no apt-get.
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/.." && pwd)
command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/{tools,archive,apt/state/lists/partial,apt/cache/archives/partial}
cp "$source_folder/tools/fetch_stems.sh" "$folder/tools"
cd "$folder"

# apt-get knows nothing but our archive.
touch apt/status
echo "deb [trusted=yes] file:$folder/archive ./" > apt/sources.list
cat > apt/apt.conf << END
Dir::Etc::sourcelist "$folder/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State "$folder/apt/state";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
APT::Sandbox::User "root";
APT::Architecture "amd64";
END
export APT_CONFIG=$folder/apt/apt.conf

fail() { echo "FAILED: $*" >&2; cat log >&2; exit 1; }

make_package() {  # make_package NAME VERSION
  mkdir -p "build/$1/DEBIAN" "build/$1/usr/share/$1"
  echo "$1 $2" > "build/$1/usr/share/$1/song.mid"
  printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: hum <hum@example.org>\nDescription: songs\n' "$1" "$2" \
    > "build/$1/DEBIAN/control"
  dpkg-deb --root-owner-group --build "build/$1" "archive/$1.deb" > /dev/null
}
hash_of() { sha256sum "archive/$1.deb" | cut -d' ' -f1; }
list_packages() {
  for deb in archive/*.deb; do
    dpkg-deb --field "$deb"
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$(basename "$deb")" "$(stat -c %s "$deb")" \
      "$(sha256sum "$deb" | cut -d' ' -f1)"
  done > archive/Packages
  apt-get update -qq > log 2>&1 || fail "apt-get cannot read the archive"
}

make_package blupi 1.0-1
make_package doom 1:2.0-1
make_package kits 3.0-1
make_package judges 4.0-1
list_packages
cat > debs.lock << END
# songs
blupi 1.0-1 $(hash_of blupi) test
doom 1:2.0-1 $(hash_of doom)
kits 3.0-1 $(hash_of kits)
judges 4.0-1 $(hash_of judges) bench
END
fetch() { tools/fetch_stems.sh "$@" debian > log 2>&1; }

fetch --tests || fail "the package of the tests"
[ "$(cat debian/blupi/usr/share/blupi/song.mid)" = "blupi 1.0-1" ] || fail "blupi is not unpacked"
[ ! -e debian/doom ] || fail "--tests fetches more than the tests read"
touch debian/blupi/mark
fetch || fail "all packages"
[ -e debian/blupi/mark ] || fail "fetched again what is there"
[ "$(cat debian/doom/usr/share/doom/song.mid)" = "doom 1:2.0-1" ] || fail "doom is not unpacked"
[ ! -e debian/judges ] || fail "fetches what only judges"
fetch && [ ! -s log ] || fail "prints something though nothing is missing"

rm -r debian/doom
fetch --bench || fail "the package of the bars"
[ -e debian/judges/usr ] && [ ! -e debian/doom ] || fail "--bench fetches something else"
fetch || fail "all packages again"

make_package doom 1:2.1-1
list_packages
rm -r debian/doom debian/kits
fetch || fail "a package that is no longer in the archive is an error"
grep -q 'warning: doom 1:2.0-1 cannot be fetched; what needs it is skipped' log || fail "no warning"
[ ! -e debian/doom ] && [ -e debian/kits/usr ] || fail "one missing package stops the others"

sed -i "s/^doom .*/doom 1:2.1-1 $(hash_of kits)/" debs.lock
if fetch; then fail "took a package of another content"; fi
grep -q 'doom 1:2.1-1 differs from debs.lock' log || fail "does not say what is wrong"
[ ! -e debian/doom ] || fail "unpacked a package of another content"
sed -i "s/^doom .*/doom 1:2.1-1 $(hash_of doom)/" debs.lock
fetch && grep -q 'doom 1:2.1-1' debian/doom/usr/share/doom/song.mid || fail "the new version"
[ -z "$(ls -d debian/.part-* 2> /dev/null)" ] || fail "left a part behind"

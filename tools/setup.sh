#!/usr/bin/env bash
# Installs the missing Debian packages of packages.txt. Prints nothing if none is missing.
# Usage: tools/setup.sh [JOB]     JOB (lint, tidy, bench, page) adds the packages that only this job needs
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v dpkg-query > /dev/null; then
  echo "setup: there is no dpkg on this machine: install the packages in packages.txt by hand (docs/dependencies.md explains them)" >&2
  exit 0
fi

mapfile -t wanted < <(awk -v job="${1:-}" '/^[a-z]/ && (NF == 1 || $2 == job) { print $1 }' packages.txt)
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2> /dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "$package installed" <<< "$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  printf 'setup: packages are missing: %s. Only root can install them. Run:\n  sudo %s\n' \
    "${missing[*]}" "$PWD/tools/setup.sh${1:+ $1}" >&2
  exit 1
fi
install="apt-get install --yes --no-install-recommends -qq -o Dpkg::Use-Pty=0"
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq < /dev/null
if [[ " ${missing[*]} " == *" postgresql-15 "* ]] && [ ! -e /etc/postgresql-common ]; then
  # Tests start their own servers; without this the package would create and start one.
  mkdir -p /etc/postgresql-common/createcluster.d
  echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.d/hum.conf
fi
$install "${missing[@]}" < /dev/null

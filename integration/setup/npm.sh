#!/bin/sh
# npm.sh DIR: installs the lock file of DIR unless just that is installed.
set -eu

cd "$1"
stamp=node_modules/.installed-lock.json
cmp -s package-lock.json "$stamp" && exit 0

if ! command -v npm >/dev/null; then
	echo 'setup: npm is missing, so the published servers, clients and the conformance suite are too' >&2
	exit 1
fi
# The engine warnings are about the Node that runs npm; the parts run on the
# Node 22 that the lock file brings.
npm ci --no-progress --loglevel=error
cp package-lock.json "$stamp"

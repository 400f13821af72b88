#!/bin/sh
# Sets up the real parts that the tests run against, and does nothing where they
# stand already: redis-server, nginx, haproxy, chromium, promtool and systemd-analyze from the distribution, the npm parts and their
# Node 22 from the lock file, and the Go programs of ../godriver.
#
# What may not be installed here is named, with the command for it; the tests
# that need it are then skipped (with CI=true nothing is skipped, so the set-up
# fails).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
integration=$(dirname -- "$here")

"$here/packages.sh" || incomplete=yes
"$here/npm.sh" "$integration/parts" & # waits for the net, while what follows computes
npm=$!
"$here/go.sh" "$integration/godriver" "$integration/.build" || incomplete=yes
wait "$npm" || incomplete=yes

if [ "${incomplete:-}" = yes ] && [ "${CI:-}" = true ]; then
	exit 1
fi

#!/bin/sh
# Installs redis-server, and npm where there is none, with apt-get if this
# account may; otherwise says what to install.
set -eu

wanted=''
command -v redis-server >/dev/null || wanted="$wanted redis-server"
command -v npm >/dev/null || wanted="$wanted nodejs npm"
[ -n "$wanted" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "setup: please install$wanted with this system's package manager" >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	as_root=''
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	as_root='sudo -n'
else
	echo "setup: please run as root: apt-get install -y$wanted" >&2
	exit 1
fi

# The words of $as_root and $wanted are meant to be split.
apt() {
	# shellcheck disable=SC2086
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@"
}
apt update -qq
# shellcheck disable=SC2086
apt install -y -qq --no-install-recommends $wanted >/dev/null

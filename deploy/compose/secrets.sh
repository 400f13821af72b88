#!/bin/sh
# Makes the secrets of compose.yaml, once: what is there stays. Containers read them as users of their own, so the files may be
# read by all who may enter the directory, which is you alone.
set -eu
cd "$(dirname -- "$0")"
umask 077
mkdir -p secrets
cd secrets

# make NAME: writes what it reads to NAME, unless that is there.
make() {
	[ -e "$1" ] && return
	cat >"$1.new"
	chmod 0444 "$1.new"
	mv "$1.new" "$1"
}

random() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

printf '%s\n' "requirepass $(random)" 'appendonly yes' 'appendfsync everysec' 'maxmemory-policy noeviction' 'dir /data' | make redis.conf
printf 'redis://:%s@redis:6379/0\n' "$(sed -n 's/^requirepass //p' redis.conf)" | make store-url
random | make admin-token
head -c 32 /dev/urandom | base64 | make seal-key

# Sourced by the scripts that install packages: provide notes in $incomplete what it could not.

# Debian keeps nginx and HAProxy where only root looks.
PATH=$PATH:/usr/sbin

# apt runs apt-get with the rights that it needs, if they can be had.
apt() {
	if [ "$(id -u)" = 0 ]; then
		env DEBIAN_FRONTEND=noninteractive apt-get "$@" >/dev/null
	else
		sudo -n env DEBIAN_FRONTEND=noninteractive apt-get "$@" >/dev/null
	fi
}

may_install() {
	command -v apt-get >/dev/null || return 1
	[ "$(id -u)" = 0 ] && return 0
	command -v sudo >/dev/null && sudo -n true 2>/dev/null
}

# provide PROGRAM PACKAGE...: the packages that bring a program, unless it is there.
provide() {
	program=$1
	shift
	command -v "$program" >/dev/null && return 0
	if may_install && apt update -qq && apt install -y -qq --no-install-recommends "$@"; then
		return 0
	fi
	echo "setup: $program is missing; please install it (Debian, as root: apt-get install $*)" >&2
	incomplete=yes
}

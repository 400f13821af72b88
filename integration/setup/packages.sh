#!/bin/sh
# Installs redis-server, nginx, haproxy, chromium, promtool, systemd-analyze and npm where there is none, with apt-get if this
# account may; otherwise says what to install.
set -eu
. "$(dirname -- "$0")/provide.sh"

provide redis-server redis-server
provide nginx nginx-light
provide haproxy haproxy
provide chromium chromium
provide promtool prometheus
provide systemd-analyze systemd
provide npm nodejs npm
[ "${incomplete:-}" != yes ]

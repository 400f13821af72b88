#!/bin/sh
# Installs what the benchmark compares berth with, nginx and HAProxy, and the Redis that it stores in. What may not be
# installed here is named, and left out of the comparison.
set -eu
. "$(dirname -- "$0")/provide.sh"

provide nginx nginx-light
provide haproxy haproxy
provide redis-server redis-server

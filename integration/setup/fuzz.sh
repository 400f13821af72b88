#!/usr/bin/env bash
# fuzz.sh TIME: runs each fuzz target of the module for TIME, one after another, and stops at the first that fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
time=$1
tags=e2e,soak # what is behind them is found, too

# go test -list names the targets of a package before the package.
listed=$(go test -tags="$tags" -list='^Fuzz' ./...)
targets=$(awk '/^Fuzz/ { names[++n] = $1; next } { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }' <<<"$listed")
while read -r package target; do
	echo "== $package $target"
	# An input that is new is made smaller first: of one of some kilobytes that takes minutes, if nothing bounds it.
	go test -tags="$tags" -run='^$' -fuzz="^$target\$" -fuzztime="$time" -fuzzminimizetime=100x "$package" || {
		echo "fuzz: $target in $package failed" >&2
		exit 1
	}
done <<<"$targets"

#!/usr/bin/env bash
# e2e.sh FLAG...: go test FLAG... of the tests that the tag e2e adds, in all packages that have such: `make test` runs the
# others. A name that is both in files with the tag and in files without it is run.
set -euo pipefail
cd "$(dirname "$0")/../.."

names() { sed -nE 's/^func ((Test|Fuzz|Example)[[:alnum:]_]*)\(.*/\1/p' "$@" | sort -u; }

tagged=$(grep -lr --include='*_test.go' --exclude-dir=node_modules '^//go:build.*\<e2e\>' . | sort)
packages=$(dirname $tagged | sort -u)
others=$(comm -13 <(echo "$tagged") <(find $packages -maxdepth 1 -name '*_test.go' | sort))
skipped=$(comm -13 <(names $tagged) <(names $others) | paste -sd'|' -)
exec go test -tags=e2e -skip="^($skipped)\$" "$@" $packages

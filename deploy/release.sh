#!/bin/sh
# release.sh [DIRECTORY [OS/ARCH…]]: makes what a release consists of, in dist/ for four platforms unless it is said otherwise:
# static programs, the bill of materials of each, and SHA256SUMS of all. The same commit and the same Go make the same bytes,
# wherever and whenever that is.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
to=${1:-$root/dist}
[ $# -eq 0 ] || shift
[ $# -ne 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

mkdir -p "$to"
to=$(CDPATH='' cd -- "$to" && pwd)
cd "$root"
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' internal/build/build.go)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain 2>/dev/null)" ] || {
	echo "release: the tree has changes that are in no commit: this is no release" >&2
	revision=$revision-changed
}
export CGO_ENABLED=0 GOFLAGS=-mod=readonly LC_ALL=C
unset GOAMD64 GOARM64 GOEXPERIMENT

for platform; do
	name=berth-$version-${platform%/*}-${platform#*/}
	GOOS=${platform%/*} GOARCH=${platform#*/} go build -trimpath -buildvcs=false -ldflags="-s -X berth/internal/build.Revision=$revision" -o "$to/$name" .
	go run ./deploy/sbom "$version" "$to/$name" >"$to/$name.cdx.json"
	echo "$to/$name"
done

cd "$to"
# shellcheck disable=SC2035 # the names begin with berth-
sha256sum berth-"$version"-* >SHA256SUMS

#!/bin/sh
# go.sh MODULE BIN: builds the Go drivers and the taskless server of MODULE, and
# go-sdk's fixture for the conformance suite that MODULE pins, into BIN. The
# build cache makes a repeated run cheap.
set -eu

cd "$1"
mkdir -p "$2"
go build -o "$2/godriver" .
go build -o "$2/broken" ./broken
go build -o "$2/coretasks" ./coretasks
go build -o "$2/taskless" ./taskless
go build -o "$2/everything-server" github.com/modelcontextprotocol/go-sdk/conformance/everything-server

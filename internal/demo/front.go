package demo

import (
	"fmt"
	"net/http"
)

// A Front makes the handler under trial, berth, over upstreams given by name and URL,
// and a function that releases what it holds. tables are of berth's configuration file:
// [[upgrade]], and [[pools]] where no upstreams are given; empty: none. The handler serves
// /mcp. A Front may be used concurrently.
type Front func(upstreams map[string]string, tables string) (http.Handler, func(), error)

// start serves a handler of f on a port of its own; end stops and releases it.
func (f Front) start(upstreams map[string]string, tables string) (served *host, end func(), err error) {
	handler, release, err := f(upstreams, tables)
	if err != nil {
		return nil, nil, fmt.Errorf("demo: front: %w", err)
	}
	served, err = startHost(handler)
	if err != nil {
		release()
		return nil, nil, err
	}
	return served, func() {
		served.Close()
		release()
	}, nil
}

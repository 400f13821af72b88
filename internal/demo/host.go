package demo

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const endpointPath = "/mcp"

// A host serves one handler on a free loopback port.
type host struct {
	URL    *url.URL // of the MCP endpoint
	server *http.Server
	done   chan struct{} // closed when Serve has returned
}

func startHost(h http.Handler) (*host, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo: listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle(endpointPath, h)
	started := &host{
		URL:    &url.URL{Scheme: "http", Host: l.Addr().String(), Path: endpointPath},
		server: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second},
		done:   make(chan struct{}),
	}
	go func() {
		defer close(started.done)
		// Serve ends when Close ends it; there is nothing else to learn.
		_ = started.server.Serve(l)
	}()
	return started, nil
}

// Close cuts every connection and waits for the listener to end.
func (h *host) Close() {
	_ = h.server.Close()
	<-h.done
}

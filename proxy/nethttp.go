package proxy

import (
	"net/http"
	"time"

	"berth/internal/wire"
)

// ServeHTTP serves one request that net/http carries.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := wire.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, Header: wire.Header(r.Header),
		Body: r.Body, ContentLength: r.ContentLength, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		RemoteAddr: r.RemoteAddr, TLS: r.TLS,
	}
	c := &httpClient{w, *http.NewResponseController(w), *request.WithContext(r.Context())}
	if !p.Serve(c, &c.request) {
		panic(http.ErrAbortHandler)
	}
}

// httpClient is a client that net/http answers, and what it asks.
type httpClient struct {
	w       http.ResponseWriter
	control http.ResponseController
	request wire.Request
}

func (c *httpClient) Header() wire.Header               { return wire.Header(c.w.Header()) }
func (c *httpClient) WriteHeader(status int)            { c.w.WriteHeader(status) }
func (c *httpClient) Write(b []byte) (int, error)       { return c.w.Write(b) }
func (c *httpClient) Flush() error                      { return c.control.Flush() }
func (c *httpClient) SetReadDeadline(t time.Time) error { return c.control.SetReadDeadline(t) }
func (c *httpClient) SetWriteDeadline(t time.Time) error {
	return c.control.SetWriteDeadline(t)
}

package proxy

import (
	"maps"
	"net/http"
	"time"

	"berth/internal/wire"
)

// ServeHTTP serves one request that net/http carries.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := wire.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, Header: wire.FromLists(r.Header),
		Body: r.Body, ContentLength: r.ContentLength, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		RemoteAddr: r.RemoteAddr, TLS: r.TLS,
	}
	c := &httpClient{w: w, control: *http.NewResponseController(w), request: *request.WithContext(r.Context()), header: wire.FromLists(w.Header())}
	if !p.Serve(c, &c.request) {
		panic(http.ErrAbortHandler)
	}
	c.begin(http.StatusOK)
}

// httpClient is a client that net/http answers, and what it asks.
type httpClient struct {
	w       http.ResponseWriter
	control http.ResponseController
	request wire.Request
	header  *wire.Header
	begun   bool // the final status was given
}

// begin sends the header with a status, unless it was sent.
func (c *httpClient) begin(status int) {
	if c.begun {
		return
	}
	clear(c.w.Header())
	maps.Copy(c.w.Header(), c.header.Lists())
	c.begun = status >= http.StatusOK || status == http.StatusSwitchingProtocols
	c.w.WriteHeader(status)
}

func (c *httpClient) Header() *wire.Header   { return c.header }
func (c *httpClient) WriteHeader(status int) { c.begin(status) }

func (c *httpClient) Write(b []byte) (int, error) {
	c.begin(http.StatusOK)
	return c.w.Write(b)
}

func (c *httpClient) Flush() error {
	c.begin(http.StatusOK)
	return c.control.Flush()
}

func (c *httpClient) SetReadDeadline(t time.Time) error { return c.control.SetReadDeadline(t) }
func (c *httpClient) SetWriteDeadline(t time.Time) error {
	return c.control.SetWriteDeadline(t)
}

package h1test

import (
	"maps"
	"net/http"
	"time"

	"berth/internal/h1/server"
	"berth/internal/wire"
)

// Carry is h as net/http's server has it.
func Carry(h server.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := (&wire.Request{
			Method: r.Method, URL: r.URL, Host: r.Host, Header: wire.FromLists(r.Header),
			Body: r.Body, ContentLength: r.ContentLength, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
			RemoteAddr: r.RemoteAddr, TLS: r.TLS,
		}).WithContext(r.Context())
		c := &carried{w: w, control: http.NewResponseController(w), header: wire.FromLists(w.Header())}
		if !h.Serve(c, request) {
			panic(http.ErrAbortHandler)
		}
		c.begin(http.StatusOK)
	})
}

// carried is a client that net/http answers.
type carried struct {
	w       http.ResponseWriter
	control *http.ResponseController
	header  *wire.Header
	begun   bool // the final status was given
}

// begin sends the header with a status, unless it was sent.
func (c *carried) begin(status int) {
	if c.begun {
		return
	}
	clear(c.w.Header())
	maps.Copy(c.w.Header(), c.header.Lists())
	c.begun = status >= http.StatusOK || status == http.StatusSwitchingProtocols
	c.w.WriteHeader(status)
}

func (c *carried) Header() *wire.Header   { return c.header }
func (c *carried) WriteHeader(status int) { c.begin(status) }

func (c *carried) Write(b []byte) (int, error) {
	c.begin(http.StatusOK)
	return c.w.Write(b)
}

func (c *carried) Flush() error {
	c.begin(http.StatusOK)
	return c.control.Flush()
}

func (c *carried) SetReadDeadline(t time.Time) error  { return c.control.SetReadDeadline(t) }
func (c *carried) SetWriteDeadline(t time.Time) error { return c.control.SetWriteDeadline(t) }

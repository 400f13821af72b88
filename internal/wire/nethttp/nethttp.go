// Package nethttp has net/http's server carry what handlers of [wire] answer: HTTP/2, and HTTP/1.1 where an operator wants that, or
// tests hold both servers to the same answers.
//
// Cost: headers are copied into net/http's maps and back.
package nethttp

import (
	"maps"
	"net/http"
	"time"

	"berth/internal/wire"
)

// Handler answers requests. It reports whether the answer is whole.
type Handler interface {
	Serve(w wire.Client, r *wire.Request) (whole bool)
}

// Carry is h for net/http's server.
func Carry(h Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { Serve(h, w, r) })
}

// Serve has h answer a request of net/http's. An answer that is not whole is cut off, as [http.ErrAbortHandler] does.
func Serve(h Handler, w http.ResponseWriter, r *http.Request) {
	request := wire.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, Header: wire.FromLists(r.Header),
		Body: r.Body, ContentLength: r.ContentLength, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		RemoteAddr: r.RemoteAddr, TLS: r.TLS,
	}
	c := &client{w: w, control: *http.NewResponseController(w), request: *request.WithContext(r.Context()), header: wire.FromLists(w.Header())}
	c.stall.end = func() { _ = c.control.SetWriteDeadline(time.Now()) }
	whole := h.Serve(c, &c.request)
	if r.Context().Err() != nil {
		_ = c.control.SetWriteDeadline(time.Time{}) // net/http stops no timer that was begun behind a stream's end
	}
	if !whole {
		panic(http.ErrAbortHandler)
	}
	c.begin(http.StatusOK)
	if span := c.stall.span; span > 0 {
		_ = c.deadline(time.Now().Add(span), c.control.SetWriteDeadline) // for what net/http still has to write
	}
}

// client is a client that net/http answers, and what it asks.
type client struct {
	w       http.ResponseWriter
	control http.ResponseController
	request wire.Request
	header  *wire.Header
	begun   bool  // the final status was given
	stall   stall // of HTTP/2
}

// begin sends the header with a status, unless it was sent.
func (c *client) begin(status int) {
	if c.begun {
		return
	}
	clear(c.w.Header())
	maps.Copy(c.w.Header(), c.header.Lists())
	c.begun = status >= http.StatusOK || status == http.StatusSwitchingProtocols
	c.w.WriteHeader(status)
}

func (c *client) Header() *wire.Header   { return c.header }
func (c *client) WriteHeader(status int) { c.begin(status) }

func (c *client) Write(b []byte) (int, error) {
	c.begin(http.StatusOK)
	c.stall.begin()
	defer c.stall.over()
	return c.w.Write(b)
}

func (c *client) Flush() error {
	c.begin(http.StatusOK)
	c.stall.begin()
	defer c.stall.over()
	return c.control.Flush()
}

func (c *client) SetReadDeadline(t time.Time) error { return c.deadline(t, c.control.SetReadDeadline) }

// SetWriteDeadline implements wire.Client. By HTTP/1.1 a deadline holds for nobody who does not write.
func (c *client) SetWriteDeadline(t time.Time) error {
	if c.request.ProtoMajor < 2 {
		return c.deadline(t, c.control.SetWriteDeadline)
	}
	c.stall.until, c.stall.span = t, time.Until(t)
	return nil
}

// deadline sets none behind a stream's end: where its connection ends as well nothing would stop the timer.
func (c *client) deadline(t time.Time, set func(time.Time) error) error {
	if err := c.request.Context().Err(); err != nil {
		return err
	}
	return set(t)
}

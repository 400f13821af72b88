package h1test

import (
	"net/http"
	"time"

	"berth/internal/h1/server"
	"berth/internal/wire"
)

// Carry is h as net/http's server has it.
func Carry(h server.Handler) http.Handler {
	if own, ok := h.(http.Handler); ok {
		return own
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := (&wire.Request{
			Method: r.Method, URL: r.URL, Host: r.Host, Header: wire.Header(r.Header),
			Body: r.Body, ContentLength: r.ContentLength, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
			RemoteAddr: r.RemoteAddr, TLS: r.TLS,
		}).WithContext(r.Context())
		if !h.Serve(carried{w, http.NewResponseController(w)}, request) {
			panic(http.ErrAbortHandler)
		}
	})
}

// carried is a client that net/http answers.
type carried struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (c carried) Header() wire.Header                { return wire.Header(c.w.Header()) }
func (c carried) WriteHeader(status int)             { c.w.WriteHeader(status) }
func (c carried) Write(b []byte) (int, error)        { return c.w.Write(b) }
func (c carried) Flush() error                       { return c.control.Flush() }
func (c carried) SetReadDeadline(t time.Time) error  { return c.control.SetReadDeadline(t) }
func (c carried) SetWriteDeadline(t time.Time) error { return c.control.SetWriteDeadline(t) }

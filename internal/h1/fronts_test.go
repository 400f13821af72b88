package h1_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"berth/internal/framing"
	"berth/internal/h1/server"
	"berth/internal/wire"
)

// handler is what a server of either kind serves.
type handler interface {
	Serve(w wire.Client, r *wire.Request) (whole bool)
}

// front is a server of HTTP/1.1.
type front struct {
	name  string
	serve func(l net.Listener, h handler) (stop func())
}

// Bounds that servers are given here.
const (
	headerRead = time.Minute
	idle       = 3 * time.Minute
	maxHead    = 32 << 10
)

// netHTTP is net/http's server behind package framing; bare is the same without.
var (
	netHTTP = front{"net/http", func(l net.Listener, h handler) func() {
		return serveNetHTTP(framing.NewListener(l, maxHead), h)
	}}
	bare = front{"net/http, bare", serveNetHTTP}
)

func serveNetHTTP(l net.Listener, h handler) (stop func()) {
	s := &http.Server{
		Handler: carried{h}, ErrorLog: log.New(io.Discard, "", 0), DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout: headerRead, IdleTimeout: idle, MaxHeaderBytes: maxHead,
	}
	done := make(chan struct{})
	go func() { s.Serve(l); close(done) }()
	return func() {
		s.Close()
		<-done
	}
}

// carried is a handler that net/http carries requests to, as it does to the proxy.
type carried struct{ h handler }

func (c carried) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := (&wire.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, Header: wire.Header(r.Header),
		Body: r.Body, ContentLength: r.ContentLength, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		RemoteAddr: r.RemoteAddr, TLS: r.TLS,
	}).WithContext(r.Context())
	if !c.h.Serve(carriedClient{w, http.NewResponseController(w)}, request) {
		panic(http.ErrAbortHandler)
	}
}

type carriedClient struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (c carriedClient) Header() wire.Header                { return wire.Header(c.w.Header()) }
func (c carriedClient) WriteHeader(status int)             { c.w.WriteHeader(status) }
func (c carriedClient) Write(b []byte) (int, error)        { return c.w.Write(b) }
func (c carriedClient) Flush() error                       { return c.control.Flush() }
func (c carriedClient) SetReadDeadline(t time.Time) error  { return c.control.SetReadDeadline(t) }
func (c carriedClient) SetWriteDeadline(t time.Time) error { return c.control.SetWriteDeadline(t) }

// ours is the server of this package.
var ours = front{"h1", func(l net.Listener, h handler) func() {
	s := server.New(server.Options{Handler: h, HeaderRead: headerRead, Idle: idle, MaxHead: maxHead})
	done := make(chan struct{})
	go func() { s.Serve(l); close(done) }()
	return func() {
		s.Close()
		<-done
	}
}}

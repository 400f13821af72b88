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
	"berth/internal/wire/nethttp"
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
		Handler: nethttp.Carry(h), ErrorLog: log.New(io.Discard, "", 0), DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout: headerRead, IdleTimeout: idle, MaxHeaderBytes: maxHead,
	}
	done := make(chan struct{})
	go func() { s.Serve(l); close(done) }()
	return func() {
		s.Close()
		<-done
	}
}

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

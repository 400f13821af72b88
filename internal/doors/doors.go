package doors

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"berth/internal/certs"
	"berth/internal/h1/server"
)

// Door serves the clients that come in at one entrance.
type Door interface {
	Serve(entrance net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// Handler answers what comes in, by berth's own server and by net/http's.
type Handler interface {
	server.Handler
	http.Handler
}

// Options are what entrances and doors are made by.
type Options struct {
	Handler Handler
	NetHTTP bool         // HTTP/1.1 is net/http's
	Certs   *certs.Certs // nil: clients are spoken to without TLS
	HTTP2   bool         // is offered over TLS

	HeaderRead time.Duration // that a request's head may take; 0: any
	Idle       time.Duration // that a connection may be without a request; 0: any
	MaxHead    int           // bytes of a head; 0: 1 MiB
	Streams    int           // of one connection of HTTP/2, at a time
	WriteStall time.Duration // that such a connection may take nothing of what is written

	Refused func(peer string, status int, why error) // hears of requests that berth's own server refuses by itself
	Logger  *slog.Logger
}

// HTTP1 returns what serves HTTP/1.1.
func HTTP1(o Options) Door {
	if o.NetHTTP {
		return newServer(o, o.Handler)
	}
	own := server.Options{
		Handler: o.Handler, HeaderRead: o.HeaderRead, Idle: o.Idle, MaxHead: o.MaxHead,
		Refused: o.Refused, Logger: o.Logger,
	}
	if o.Certs != nil && !o.HTTP2 { // else hands were shaken before
		own.HandshakeEnded = o.Certs.HandshakeEnded
	}
	return server.New(own)
}

func newServer(o Options, handler http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: o.HeaderRead,
		IdleTimeout:       o.Idle,
		MaxHeaderBytes:    o.MaxHead,
		Protocols:         protocols,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
}

// HTTP2 returns what serves HTTP/2. net/http answers a header that is too large with 431, and takes no
// more streams of a connection than it was told.
func HTTP2(o Options) Door {
	server := newServer(o, unambiguous(o.Handler))
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: o.Streams,
		WriteByteTimeout:     o.WriteStall,
	}
	return server
}

package h1test

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"berth/internal/framing"
	"berth/internal/h1/server"
	"berth/internal/wire/nethttp"
)

// ByNetHTTP reports whether net/http is to carry HTTP/1.1.
func ByNetHTTP() bool { return os.Getenv("BERTH_TEST_HTTP1") == "net/http" }

// Options are those of a server. The zero value has the bounds of berth's configuration.
type Options struct {
	HeaderRead time.Duration // 0: 5 s
	Idle       time.Duration // 0: 3 min
	MaxHead    int           // bytes; 0: 32 KiB
	Log        slog.Handler  // nil: discarded
}

// Serve serves h on l, which it takes over, until stop is called or the test ends. Requests are spoilt when they were
// answered, benchmarks aside.
func Serve(tb testing.TB, l net.Listener, h server.Handler, o Options) (stop func()) {
	if o.HeaderRead == 0 {
		o.HeaderRead = 5 * time.Second
	}
	if o.Idle == 0 {
		o.Idle = 3 * time.Minute
	}
	if o.MaxHead == 0 {
		o.MaxHead = 32 << 10
	}
	if o.Log == nil {
		o.Log = slog.DiscardHandler
	}
	if _, counts := tb.(*testing.B); !counts {
		h = lending{h}
	}
	serve, end := byH1(h, o)
	if ByNetHTTP() {
		serve, end = byNetHTTP(h, o)
		l = framing.NewListener(l, o.MaxHead)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = serve(l) // ends with end
	}()
	stop = func() {
		_ = l.Close() // a server that has not come to serve yet does not know of it
		_ = end()
		<-done
	}
	tb.Cleanup(stop)
	return stop
}

func byH1(h server.Handler, o Options) (serve func(net.Listener) error, end func() error) {
	s := server.New(server.Options{Handler: h, HeaderRead: o.HeaderRead, Idle: o.Idle, MaxHead: o.MaxHead, Logger: slog.New(o.Log)})
	return s.Serve, s.Close
}

func byNetHTTP(h server.Handler, o Options) (serve func(net.Listener) error, end func() error) {
	s := &http.Server{
		Handler: nethttp.Carry(h), ReadHeaderTimeout: o.HeaderRead, IdleTimeout: o.Idle, MaxHeaderBytes: o.MaxHead,
		ErrorLog: slog.NewLogLogger(o.Log, slog.LevelInfo),
	}
	return s.Serve, s.Close
}

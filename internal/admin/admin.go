// Package admin is berth's own face, for health checks, scrapers and operators: a
// listener apart from the one that clients reach.
//
// It promises that liveness says nothing but that the process serves, that
// readiness turns at once when berth drains, and that nothing but liveness is
// told without the token where one is set: the page's files may be had, they tell nothing. Off loopback there is no listener
// without a token. On loopback, where a web page could reach it by rebinding its
// own name to 127.0.0.1, it answers to loopback names only.
//
// It encrypts where Options.TLS does. A listener of [NewProbes] tells anybody whether berth is ready, and
// nothing else.
package admin

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/connlimit"
	"berth/internal/sockets"
)

// Limits of the listener, whose clients are few and known.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10    // bytes
	lastWords     = time.Second // how long a probe or scrape under way may go on at the end
)

// ErrTokenRequired says that other machines can reach a listener that has no token.
var ErrTokenRequired = errors.New("admin: listening off loopback needs a token")

// errNoFile says that a socket has a name and no file, whose mode would say who may open it.
var errNoFile = errors.New("admin: the name of a socket must not begin with @, without a file it is open to everybody")

// Options says what [New] makes.
type Options struct {
	// Listen is a host:port or unix:PATH. A socket has mode 0600, and replaces one that nobody
	// listens on.
	Listen string
	// Inherited is listened on in place of Listen, if it is not nil; the rules are the same.
	Inherited *sockets.Listener
	// ReusePort has another process listen at the same host:port, if that says so too.
	ReusePort bool
	// Token is asked for by everything but /livez and Page. Empty is allowed only on loopback and on a Unix
	// socket.
	Token string
	// TLS speaks TLS on what the listener accepts; nil: nobody does.
	TLS     func(net.Listener) net.Listener
	Pprof   bool           // serves profiles under /debug/pprof/
	Metrics http.Handler   // serves /metrics. Nil: 404.
	Checks  func() []Check // decide about readiness, in this order; asked for each time. Nil: none do.
	Routes  []Route        // what operators ask for, and order
	// Page are files by their exact paths, which anybody may GET without the token: none holds a secret.
	Page map[string]http.Handler
	// Ordered is told of each order, also of one that was turned away. Nil: nobody is.
	Ordered func(Order)
	Log     *slog.Logger // hears of the listener and of its errors. Required.

	probes bool // serves /livez and /readyz alone, to everybody
}

// Server is the admin listener. Make it with [New], then call [Server.Run].
type Server struct {
	listener net.Listener
	name     string        // in logs
	shared   bool          // another process may listen at the same address
	left     chan struct{} // closed when the address is left to that
	leave    sync.Once
	http     *http.Server
	checks   func() []Check
	draining atomic.Bool
	log      *slog.Logger
}

// New listens, but does not serve before [Server.Run]. Where [ErrTokenRequired] is the error no
// port was opened.
func New(ctx context.Context, o Options) (*Server, error) {
	listener, loopbackOnly, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	return newServer(o, listener, loopbackOnly), nil
}

// NewProbes is New for a listener, on loopback or off it, that answers /livez and /readyz alone, and anybody
// that asks: whether berth is ready, and not why. Of the options it heeds Listen, a host:port, ReusePort,
// Checks and Log.
func NewProbes(ctx context.Context, o Options) (*Server, error) {
	listener, err := sockets.Listen(ctx, o.Listen, o.ReusePort)
	if err != nil {
		return nil, fmt.Errorf("admin: listening for probes: %w", err)
	}
	return newServer(Options{ReusePort: o.ReusePort, Checks: o.Checks, Log: o.Log, probes: true}, listener, false), nil
}

func newServer(o Options, listener net.Listener, loopbackOnly bool) *Server {
	s := &Server{name: "admin", left: make(chan struct{}), checks: o.Checks, log: o.Log}
	if o.probes {
		s.name = "probes"
	}
	if s.checks == nil {
		s.checks = func() []Check { return nil }
	}
	if socket, ok := listener.(*sockets.Listener); ok {
		s.shared = socket.Shared()
	}
	s.listener = connlimit.NewListener(listener, connlimit.Options{Logger: o.Log.With("listener", s.name)}) // tells when nothing can be accepted
	if o.TLS != nil {
		s.listener = o.TLS(s.listener)
	}
	s.http = &http.Server{
		Handler:           s.handler(o, listener, loopbackOnly),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         new(crowd).state,
		ErrorLog:          log.New(complaints{o.Log}, "", 0),
	}
	return s
}

// Addr is where the server listens, also where Options.Listen named port 0.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// SetDraining makes /readyz say 503. /livez stays: a process that drains must not be killed for it.
// Where another process may listen at the same address, it is left to that one: asked in turns, the
// two would say now this, now that.
func (s *Server) SetDraining() {
	if !s.shared {
		s.draining.Store(true)
		return
	}
	s.leave.Do(func() {
		close(s.left)
		s.http.SetKeepAlivesEnabled(false)
		_ = s.listener.Close() // Serve fails with it
	})
}

// Run serves until ctx is done and returns once the listener is closed. Call it once.
func (s *Server) Run(ctx context.Context) error {
	s.log.Info(s.name+" listening", "address", s.Addr().String())
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(s.listener) }()
	select {
	case err := <-failed:
		if !s.hasLeft() {
			return fmt.Errorf("admin: serving: %w", err)
		}
		failed <- nil
		<-ctx.Done()
	case <-ctx.Done():
	}
	// ctx is done already, so the last answers get a deadline of their own.
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if s.http.Shutdown(stopping) != nil {
		s.http.Close()
	}
	<-failed
	return nil
}

func (s *Server) hasLeft() bool {
	select {
	case <-s.left:
		return true
	default:
		return false
	}
}

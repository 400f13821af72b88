package connlimit

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Options are what a Listener is made of.
type Options struct {
	PerAddress int                  // connections that one address may hold; 0: any number
	Exempt     []netip.Prefix       // peers that may hold any number
	Logger     *slog.Logger         // nil: discarded
	Meter      metric.MeterProvider // nil: nothing is measured
}

// Listener accepts connections within the bounds. Make it with NewListener.
type Listener struct {
	net.Listener

	exempt    atomic.Pointer[[]netip.Prefix]
	log       *slog.Logger
	metrics   metrics
	addresses *addresses
	starved   atomic.Bool // accepting failed, and has not worked for a while since
	began     time.Time
	failed    atomic.Int64 // when it failed last, in nanoseconds since began
}

// NewListener returns a listener that takes over inner.
func NewListener(inner net.Listener, o Options) *Listener {
	l := &Listener{Listener: inner, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), began: time.Now(), addresses: newAddresses()}
	l.SetBounds(o.PerAddress, o.Exempt)
	l.metrics = newMetrics(o.Meter, l.addresses.open)
	return l
}

// SetBounds changes the bounds of connections that are accepted from now on.
func (l *Listener) SetBounds(perAddress int, exempt []netip.Prefix) {
	l.exempt.Store(&exempt)
	l.addresses.setEach(perAddress)
}

// Open is how many of the connections that were accepted are not closed.
func (l *Listener) Open() int64 { return l.addresses.open() }

// Refused is how many connections were closed because their address held too many.
func (l *Listener) Refused() int64 { return l.metrics.count.Load() }

// Accept waits for the next connection that may stand. Its errors are inner's.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		l.note(err)
		if err != nil {
			return nil, err
		}
		address := l.addressOf(inner)
		if l.enter(address) {
			return &conn{Conn: inner, leave: func() { l.leave(address) }}, nil
		}
		_ = inner.Close() // nothing was sent on it
	}
}

// calm is how long accepting must have worked to be told as well again: at the brink
// each connection that ends lets another in, and the next one fails.
const calm = 5 * time.Second

// note tells when accepting begins to fail, and when it works again. That the
// listener was closed is no failure.
func (l *Listener) note(err error) {
	switch {
	case errors.Is(err, net.ErrClosed):
	case err != nil:
		l.failed.Store(int64(time.Since(l.began)))
		if l.starved.CompareAndSwap(false, true) {
			l.log.Warn("connections cannot be accepted; it is tried again", "error", err)
		}
	case time.Since(l.began)-time.Duration(l.failed.Load()) > calm && l.starved.CompareAndSwap(true, false):
		l.log.Info("connections are accepted again")
	}
}

// addressOf returns whose connection it is, "" for a peer that is exempt.
func (l *Listener) addressOf(c net.Conn) string {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return ""
	}
	addr := peer.Addr().Unmap().WithZone("")
	if slices.ContainsFunc(*l.exempt.Load(), func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return ""
	}
	return Address(addr)
}

func (l *Listener) enter(address string) bool {
	ok, first, most := l.addresses.enter(address)
	if !ok {
		l.metrics.refused()
	}
	if first {
		l.log.Warn("an address holds as many connections as it may, more are refused", "address", address, "limit", most)
	}
	return ok
}

func (l *Listener) leave(address string) {
	if refused := l.addresses.leave(address); refused > 0 {
		l.log.Info("an address holds few connections again", "address", address, "refused", refused)
	}
}

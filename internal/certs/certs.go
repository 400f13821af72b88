// Package certs is TLS: towards clients ([Certs]) the certificate that berth shows them,
// and the authorities that it lets vouch for them; towards servers ([Trust]) the
// authorities that berth believes, and the certificate that it shows.
//
// Certificate, key and authorities are taken over together when their files change;
// what cannot be used is not taken over (package reload). A handshake uses what was in
// use when it began, and a connection keeps what it shook hands with: a certificate
// that is renewed disturbs nobody. Where clients show certificates there are no session
// tickets: one would let a client in again whose authority was taken away since.
//
// HTTP/1.1 is all that is offered (ALPN), unless [Options.HTTP2] says otherwise. Nothing asks whether a client's certificate
// was revoked: give out short-lived ones.
package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/reload"
	"berth/internal/series"

	"go.opentelemetry.io/otel/metric"
)

// Options say what [Open] reads.
type Options struct {
	Table string // of the configuration, as errors and logs name it. Empty: tls.
	// Cert and Key are the PEM files of the certificate, with its chain, and of its key. Required.
	Cert, Key string
	// ClientCA is the PEM file of the authorities of client certificates. Empty: clients are asked
	// for none.
	ClientCA   string
	Optional   bool                 // lets clients in that show no certificate. One that is shown must be good.
	HTTP2      bool                 // offers HTTP/2 as well
	MinVersion uint16               // the lowest version spoken, such as tls.VersionTLS13. 0: TLS 1.2.
	Logger     *slog.Logger         // hears of changes and, at debug, of failed handshakes. Nil: nobody does.
	Meter      metric.MeterProvider // measures handshakes, reloads and the certificate's expiry. Nil: nobody does.
}

// Certs are the certificates in use. Make them with [Open].
type Certs struct {
	now        atomic.Pointer[source]
	changed    chan struct{} // holds one: now has changed
	log        *slog.Logger
	meter      metric.MeterProvider
	handshakes series.Outcomes
}

// Open reads the files. Its errors name the key and the file at fault.
func Open(o Options) (*Certs, error) {
	c := &Certs{changed: make(chan struct{}, 1), log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), meter: o.Meter}
	use, err := c.Read(o)
	if err != nil {
		return nil, err
	}
	use()
	meter := series.Meter(o.Meter, "berth/certs")
	c.handshakes = series.NewOutcomes(meter, "berth.tls.handshakes", "TLS handshakes with clients.")
	series.Gauge(meter, "berth.tls.certificate.expiry", "When the certificate shown to clients expires, Unix time.", "s",
		func() int64 { return c.Expiry().Unix() })
	return c, nil
}

// Read reads the files that o names, and changes nothing before use is called: from then on handshakes
// go by them, and Run looks at them. Logger and Meter of o do not count. Errors are those of Open.
func (c *Certs) Read(o Options) (use func(), err error) {
	o.Table = cmp.Or(o.Table, "tls")
	files := []reload.File{{Key: o.Table + ".cert", Path: o.Cert}, {Key: o.Table + ".key", Path: o.Key}}
	if o.ClientCA != "" {
		files = append(files, reload.File{Key: o.Table + ".client_ca", Path: o.ClientCA})
	}
	s := &source{options: o}
	if c.now.Load() != nil {
		s.before = c.current()
	}
	if s.current, err = reload.Open(reload.Options{What: o.Table, Files: files, Logger: c.log, Meter: c.meter}, s.parse); err != nil {
		return nil, err
	}
	return func() {
		c.now.Store(s)
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}, nil
}

func (c *Certs) current() *snapshot { return c.now.Load().current.Get() }

// Run takes over changed files until ctx ends. It returns nil.
func (c *Certs) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		looking, stop := context.WithCancel(ctx)
		var looks sync.WaitGroup
		looks.Go(func() { _ = c.now.Load().current.Run(looking) })
		select {
		case <-ctx.Done():
		case <-c.changed:
		}
		stop()
		looks.Wait()
	}
	return nil
}

// Fault says what is wrong: with the files as they are, with the certificate in use, or with all
// authorities; "" if nothing is.
func (c *Certs) Fault() string {
	if since, err := c.now.Load().current.Fault(); err != nil {
		return fmt.Sprintf("files changed at %s and cannot be used: %v", since.UTC().Format("15:04:05Z"), err)
	}
	if expiry := c.Expiry(); time.Now().After(expiry) {
		return "the certificate expired at " + expiry.UTC().Format(time.RFC3339)
	}
	if begin := c.current().begin; time.Now().Before(begin) {
		return "the certificate is not valid before " + begin.UTC().Format(time.RFC3339)
	}
	if last := c.current().authorities; !last.IsZero() && time.Now().After(last) {
		return "the last of the authorities in " + c.now.Load().options.Table + ".client_ca expired at " + last.UTC().Format(time.RFC3339)
	}
	return ""
}

// Expiry is when the certificate in use expires.
func (c *Certs) Expiry() time.Time { return c.current().expiry }

// serverConfig: each handshake gets the snapshot of its time.
func (c *Certs) serverConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, // each snapshot says the same or more
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.current().config, nil
		},
	}
}

type listener struct {
	net.Listener

	certs *Certs
}

// Listener returns a listener that speaks TLS on what inner accepts. Whoever reads first shakes
// hands, and tells HandshakeEnded (package framing).
func (c *Certs) Listener(inner net.Listener) net.Listener {
	return &listener{Listener: tls.NewListener(inner, c.serverConfig()), certs: c}
}

// HandshakeEnded hears how the handshake with a peer ended.
func (l *listener) HandshakeEnded(peer net.Addr, err error) { l.certs.HandshakeEnded(peer, err) }

// HandshakeEnded hears how the handshake with a peer ended, from whoever shook hands.
func (c *Certs) HandshakeEnded(peer net.Addr, err error) {
	c.handshakes.Count(err)
	if err != nil {
		c.log.Debug("TLS handshake failed", "peer", peer.String(), "error", err)
	}
}

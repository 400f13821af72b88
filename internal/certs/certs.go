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
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"time"

	"berth/internal/greet"
	"berth/internal/reload"
	"berth/internal/series"

	"go.opentelemetry.io/otel/metric"
)

// Options say what [Open] reads.
type Options struct {
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
	options    Options
	current    *reload.Value[*snapshot]
	log        *slog.Logger
	handshakes series.Outcomes
}

type snapshot struct {
	config *tls.Config
	begin  time.Time // of the validity of the certificate that berth shows
	expiry time.Time // of the same

	authorities time.Time // when the last of those that vouch for clients expires; zero: there are none
}

// Open reads the files. Its errors name the key and the file at fault.
func Open(o Options) (*Certs, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	files := []reload.File{{Key: "tls.cert", Path: o.Cert}, {Key: "tls.key", Path: o.Key}}
	if o.ClientCA != "" {
		files = append(files, reload.File{Key: "tls.client_ca", Path: o.ClientCA})
	}
	c := &Certs{options: o, log: o.Logger}
	current, err := reload.Open(reload.Options{What: "tls", Files: files, Logger: o.Logger, Meter: o.Meter}, c.parse)
	if err != nil {
		return nil, err
	}
	c.current = current
	meter := series.Meter(o.Meter, "berth/certs")
	c.handshakes = series.NewOutcomes(meter, "berth.tls.handshakes", "TLS handshakes with clients, by outcome.")
	series.Gauge(meter, "berth.tls.certificate.expiry", "When the certificate that clients are shown expires, in seconds since 1970.", "s",
		func() int64 { return c.Expiry().Unix() })
	return c, nil
}

// Run takes over changed files until ctx ends. It returns nil.
func (c *Certs) Run(ctx context.Context) error { return c.current.Run(ctx) }

// Fault says what is wrong: with the files as they are, with the certificate in use, or with all
// authorities; "" if nothing is.
func (c *Certs) Fault() string {
	if since, err := c.current.Fault(); err != nil {
		return fmt.Sprintf("files changed at %s and cannot be used: %v", since.UTC().Format("15:04:05Z"), err)
	}
	if expiry := c.Expiry(); time.Now().After(expiry) {
		return "the certificate expired at " + expiry.UTC().Format(time.RFC3339)
	}
	if begin := c.current.Get().begin; time.Now().Before(begin) {
		return "the certificate is not valid before " + begin.UTC().Format(time.RFC3339)
	}
	if last := c.current.Get().authorities; !last.IsZero() && time.Now().After(last) {
		return "the last of the authorities in tls.client_ca expired at " + last.UTC().Format(time.RFC3339)
	}
	return ""
}

// Expiry is when the certificate in use expires.
func (c *Certs) Expiry() time.Time { return c.current.Get().expiry }

func (c *Certs) parse(contents [][]byte) (*snapshot, error) {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, err
	}
	s := &snapshot{begin: pair.Leaf.NotBefore, expiry: pair.Leaf.NotAfter, config: &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   max(c.options.MinVersion, tls.VersionTLS12),
		NextProtos:   []string{"http/1.1"},
	}}
	if c.options.HTTP2 {
		s.config.NextProtos = []string{greet.HTTP2, "http/1.1"}
	}
	if len(contents) == 3 {
		if err := c.askClients(s.config, contents[2]); err != nil {
			return nil, err
		}
		s.authorities = lastExpiry(contents[2])
	}
	return s, nil
}

func (c *Certs) askClients(config *tls.Config, authorities []byte) error {
	pool, err := parseAuthorities(authorities)
	if err != nil {
		return fmt.Errorf("tls.client_ca: %w", err)
	}
	config.ClientCAs = pool
	config.ClientAuth = tls.RequireAndVerifyClientCert
	if c.options.Optional {
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	config.SessionTicketsDisabled = true
	return nil
}

// serverConfig: each handshake gets the snapshot of its time.
func (c *Certs) serverConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, // each snapshot says the same or more
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.current.Get().config, nil
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

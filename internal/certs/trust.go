package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/reload"

	"go.opentelemetry.io/otel/metric"
)

// TrustOptions say what [OpenTrust] reads. The zero value trusts as the system does, and shows nothing.
type TrustOptions struct {
	Table string // names the configuration's table; errors name keys in it: "tls" makes "tls.ca"
	What  string // names it in logs and metrics: "upstream_tls"

	CA        string // PEM file of the authorities that a server's certificate must lead to. Empty: the system's.
	Cert, Key string // PEM files of the certificate that is shown to servers, and of its key. Empty: none.

	ServerName string               // that a server's certificate must bear, and that it is asked for (SNI). Empty: its host.
	MinVersion uint16               // the lowest version spoken. 0: TLS 1.2.
	Logger     *slog.Logger         // hears of changes. Nil: nobody does.
	Meter      metric.MeterProvider // counts reloads. Nil: nobody does.
}

// Trust is TLS towards servers: whom berth trusts, and what it shows them. Make it with [OpenTrust].
type Trust struct {
	options TrustOptions
	current *reload.Value[*tls.Config]
}

// OpenTrust reads the files. Its errors name the key and the file at fault.
func OpenTrust(o TrustOptions) (*Trust, error) {
	var files []reload.File
	for _, f := range []reload.File{{Key: "ca", Path: o.CA}, {Key: "cert", Path: o.Cert}, {Key: "key", Path: o.Key}} {
		if f.Path != "" {
			files = append(files, reload.File{Key: o.Table + "." + f.Key, Path: f.Path})
		}
	}
	t := &Trust{options: o}
	current, err := reload.Open(reload.Options{What: o.What, Files: files, Logger: o.Logger, Meter: o.Meter}, t.parse)
	t.current = current
	return t, err
}

func (t *Trust) parse(contents [][]byte) (*tls.Config, error) {
	config := &tls.Config{
		ServerName: t.options.ServerName,
		MinVersion: max(t.options.MinVersion, tls.VersionTLS12),
	}
	if t.options.CA != "" {
		pool, err := parseAuthorities(contents[0])
		if err != nil {
			return nil, fmt.Errorf("%s.ca: %w", t.options.Table, err)
		}
		config.RootCAs, contents = pool, contents[1:]
	}
	if t.options.Cert != "" {
		pair, err := readPair(contents[0], contents[1])
		if err != nil {
			return nil, fmt.Errorf("%s.cert: %w", t.options.Table, err)
		}
		if t.current != nil { // it has one in use
			if err := refuseExpired(t.options.Table, pair.Leaf.NotAfter, t.leaf().NotAfter); err != nil {
				return nil, err
			}
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Config is what a handshake with host that begins now uses, and is its caller's.
func (t *Trust) Config(host string) *tls.Config {
	config := t.current.Get().Clone()
	if config.ServerName == "" {
		config.ServerName = host
	}
	return config
}

// Run takes over changed files until ctx ends. It returns nil.
func (t *Trust) Run(ctx context.Context) error { return t.current.Run(ctx) }

// Fault says what is wrong with the files as they are, or with the certificate in use; "" if
// nothing is.
func (t *Trust) Fault() string {
	if since, err := t.current.Fault(); err != nil {
		return fmt.Sprintf("files changed at %s and cannot be used: %v", since.UTC().Format("15:04:05Z"), err)
	}
	leaf := t.leaf()
	switch now := time.Now(); {
	case leaf == nil:
		return ""
	case now.After(leaf.NotAfter):
		return fmt.Sprintf("the certificate in %s.cert expired at %s", t.options.Table, leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Sprintf("the certificate in %s.cert is not valid before %s", t.options.Table, leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return ""
}

// Overdue says that the certificate that servers are shown expires soon, for one of its lifetime.
func (t *Trust) Overdue() string {
	if leaf := t.leaf(); leaf != nil {
		return overdue(leaf.NotBefore, leaf.NotAfter)
	}
	return ""
}

// leaf is the certificate that servers are shown; nil: none.
func (t *Trust) leaf() *x509.Certificate {
	if shown := t.current.Get().Certificates; len(shown) > 0 {
		return shown[0].Leaf
	}
	return nil
}

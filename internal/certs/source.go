package certs

import (
	"crypto/tls"
	"fmt"
	"time"

	"berth/internal/preamble"
	"berth/internal/reload"
)

// source is where certificates are read, and what was read there.
type source struct {
	options Options
	before  *snapshot                // what was in use when they were first read; nil: nothing
	current *reload.Value[*snapshot] // nil: they are being read for the first time
}

// inUse is what would make way for what is read; nil: nothing.
func (s *source) inUse() *snapshot {
	if s.current == nil {
		return s.before
	}
	return s.current.Get()
}

type snapshot struct {
	config *tls.Config
	begin  time.Time // of the validity of the certificate that berth shows
	expiry time.Time // of the same

	authorities time.Time // when the last of those that vouch for clients expires; zero: there are none
}

func (s *source) parse(contents [][]byte) (*snapshot, error) {
	pair, err := readPair(contents[0], contents[1])
	if err != nil {
		return nil, err
	}
	read := &snapshot{begin: pair.Leaf.NotBefore, expiry: pair.Leaf.NotAfter, config: &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   max(s.options.MinVersion, tls.VersionTLS12),
		NextProtos:   []string{"http/1.1"},
	}}
	if s.options.HTTP2 {
		read.config.NextProtos = []string{preamble.HTTP2, "http/1.1"}
	}
	if len(contents) == 3 {
		if err := s.askClients(read.config, contents[2]); err != nil {
			return nil, err
		}
		read.authorities = lastExpiry(contents[2])
	}
	if inUse := s.inUse(); inUse != nil {
		if err := refuseExpired(s.options.Table, read.expiry, inUse.expiry); err != nil {
			return nil, err
		}
	}
	return read, nil
}

func (s *source) askClients(config *tls.Config, authorities []byte) error {
	pool, err := parseAuthorities(authorities)
	if err != nil {
		return fmt.Errorf("%s.client_ca: %w", s.options.Table, err)
	}
	config.ClientCAs = pool
	config.ClientAuth = tls.RequireAndVerifyClientCert
	if s.options.Optional {
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	config.SessionTicketsDisabled = true
	return nil
}

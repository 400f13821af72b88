package command

import (
	"net"
	"net/netip"
	"time"

	"berth/internal/config"
	"berth/internal/connlimit"
	"berth/internal/doors"
)

// doorOptions are how clients are let in who are served here.
func (s *site) doorOptions(cfg config.Config) doors.Options {
	return doors.Options{
		Handler: s, NetHTTP: cfg.HTTP1 == config.HTTP1NetHTTP, Certs: s.certs, HTTP2: cfg.TLS.HTTP2,
		HeaderRead: time.Duration(cfg.Limits.HeaderRead), Idle: time.Duration(cfg.Limits.Idle), MaxHead: int(cfg.Limits.Headers),
		Streams: cfg.Limits.StreamsPerConnection, WriteStall: time.Duration(cfg.Limits.WriteStall),
		Refused: s.badHeads.Refused, Logger: s.log,
	}
}

// entrances opens listener to clients, within the bounds of an address.
func (s *site) entrances(listener net.Listener, cfg config.Config) doors.Entrances {
	if cfg.ProxyProtocol {
		listener = doors.PassedOn(listener, s.trusted, s.log, s.meter)
	}
	s.connections = connlimit.NewListener(listener, connlimit.Options{
		PerAddress: cfg.Limits.ConnectionsPerAddress, Exempt: trustedProxies(cfg), Logger: s.log, Meter: s.meter,
	})
	return doors.Open(s.connections, s.doorOptions(cfg))
}

// trusted are the peers that are believed now.
func (s *site) trusted() []netip.Prefix { return trustedProxies(s.now.Load().cfg) }

package site

import (
	"net"
	"net/netip"
	"time"

	"berth/internal/config"
	"berth/internal/connlimit"
	"berth/internal/doors"
)

// DoorOptions are how clients are let in who are served here.
func (s *Site) DoorOptions(cfg config.Config) doors.Options {
	return doors.Options{
		Handler: s, NetHTTP: cfg.HTTP1 == config.HTTP1NetHTTP, Certs: s.certs, HTTP2: cfg.TLS.HTTP2,
		HeaderRead: time.Duration(cfg.Limits.HeaderRead), Idle: time.Duration(cfg.Limits.Idle), MaxHead: int(cfg.Limits.Headers),
		Streams: cfg.Limits.StreamsPerConnection, WriteStall: time.Duration(cfg.Limits.WriteStall),
		Refused: s.badHeads.Refused, Logger: s.Log,
	}
}

// Entrances opens listener to clients, within the bounds of an address.
func (s *Site) Entrances(listener net.Listener, cfg config.Config) doors.Entrances {
	if cfg.ProxyProtocol {
		trusted := func() []netip.Prefix { return trustedProxies(s.now.Load().cfg) }
		listener = doors.PassedOn(listener, trusted, s.Log, s.Meter)
	}
	s.connections = connlimit.NewListener(listener, connlimit.Options{
		PerAddress: cfg.Limits.ConnectionsPerAddress, Exempt: trustedProxies(cfg), Logger: s.Log, Meter: s.Meter,
	})
	return doors.Open(s.connections, s.DoorOptions(cfg))
}

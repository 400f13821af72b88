package command

import (
	"net"
	"net/netip"

	"berth/internal/config"
	"berth/internal/framing"
	"berth/internal/greet"
	"berth/internal/series"
)

// entrances are where clients come in: by HTTP/1.1, and by HTTP/2, whose frames leave no doubt where a
// request ends.
type entrances struct {
	one    net.Listener
	second net.Listener // nil: HTTP/2 is not spoken
}

// entrancesOf speaks TLS on listener, if that is configured.
func (s *site) entrancesOf(listener net.Listener, cfg config.Config) entrances {
	if s.certs == nil {
		return entrances{one: judged(listener, cfg)}
	}
	secure := s.certs.Listener(listener)
	if !cfg.TLS.HTTP2 {
		return entrances{one: judged(secure, cfg)}
	}
	second, others := greet.SplitHTTP2(secure, s.certs.HandshakeEnded)
	return entrances{one: judged(others, cfg), second: second}
}

// judged lets nothing through to net/http that is framed in doubt. Berth's own server takes none of that.
func judged(listener net.Listener, cfg config.Config) net.Listener {
	if cfg.HTTP1 != config.HTTP1NetHTTP {
		return listener
	}
	return framing.NewListener(listener, int(cfg.Limits.Headers))
}

// passedOn reads, where the configuration says so, whose connections trusted peers pass on. Limits of
// an address come after it: they are the client's.
func (s *site) passedOn(listener net.Listener, cfg config.Config) net.Listener {
	if !cfg.ProxyProtocol {
		return listener
	}
	headers := series.NewOutcomes(series.Meter(s.meter, "berth/gate"), "berth.proxy.headers", "Headers of the PROXY protocol read.")
	return greet.ReadProxy(listener, greet.ProxyOptions{Trusted: s.trusted, Ended: func(peer net.Addr, err error) {
		headers.Count(err)
		if err != nil {
			s.log.Debug("a trusted peer's connection does not begin with a header of the PROXY protocol", "peer", peer.String(), "error", err)
		}
	}})
}

// trusted are the peers that are believed now.
func (s *site) trusted() []netip.Prefix { return trustedProxies(s.now.Load().cfg) }

package doors

import (
	"log/slog"
	"net"
	"net/netip"

	"berth/internal/framing"
	"berth/internal/h1/pace"
	"berth/internal/preamble"
	"berth/internal/series"

	"go.opentelemetry.io/otel/metric"
)

// Entrances are where clients come in: by HTTP/1.1, and by HTTP/2, whose frames leave no doubt where a
// request ends.
type Entrances struct {
	HTTP1 net.Listener
	HTTP2 net.Listener // nil: HTTP/2 is not spoken
}

// Open speaks TLS on listener, if there are certificates.
func Open(listener net.Listener, o Options) Entrances {
	if o.Certs == nil {
		return Entrances{HTTP1: judged(listener, o)}
	}
	secure := o.Certs.Listener(pace.Listener(listener))
	if !o.HTTP2 {
		return Entrances{HTTP1: judged(secure, o)}
	}
	http2, others := preamble.SplitHTTP2(secure, o.Certs.HandshakeEnded)
	return Entrances{HTTP1: judged(others, o), HTTP2: http2}
}

// judged lets nothing through to net/http that is framed in doubt. Berth's own server takes none of that.
func judged(listener net.Listener, o Options) net.Listener {
	if !o.NetHTTP {
		return listener
	}
	return framing.NewListener(listener, o.MaxHead)
}

// PassedOn reads whose connections those are that peers pass on whom trusted names then. Limits of
// an address come after it: they are the client's.
func PassedOn(listener net.Listener, trusted func() []netip.Prefix, log *slog.Logger, meters metric.MeterProvider) net.Listener {
	headers := series.NewOutcomes(series.Meter(meters, "berth/gate"), "berth.proxy.headers", "Headers of the PROXY protocol read.")
	return preamble.ReadProxy(listener, preamble.ProxyOptions{Trusted: trusted, Ended: func(peer net.Addr, err error) {
		headers.Count(err)
		if err != nil {
			log.Debug("a trusted peer's connection does not begin with a header of the PROXY protocol", "peer", peer.String(), "error", err)
		}
	}})
}

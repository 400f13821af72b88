package command

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"berth/internal/config"
	"berth/internal/framing"
	"berth/internal/greet"
	"berth/internal/series"
)

// entrances are where clients come in: HTTP/1.1, whose framing is judged before net/http sees it, and
// HTTP/2, whose frames leave nothing in doubt.
type entrances struct {
	one    net.Listener
	second net.Listener // nil: HTTP/2 is not spoken
}

// entrancesOf speaks TLS on listener, if that is configured, and lets nothing through that is framed in doubt.
func (s *site) entrancesOf(listener net.Listener, cfg config.Config) entrances {
	headers := int(cfg.Limits.Headers)
	if s.certs == nil {
		return entrances{one: framing.NewListener(listener, headers)}
	}
	secure := s.certs.Listener(listener)
	if !cfg.TLS.HTTP2 {
		return entrances{one: framing.NewListener(secure, headers)}
	}
	second, others := greet.SplitHTTP2(secure, s.certs.HandshakeEnded)
	return entrances{one: framing.NewListener(others, headers), second: second}
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

// newSecondServer serves HTTP/2. net/http answers a header that is too large with 431, and takes no
// more streams of a connection than it was told.
func newSecondServer(cfg config.Config, handler http.Handler, log *slog.Logger) *http.Server {
	server := newServer(cfg, oneAuthority(handler), log)
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: cfg.Limits.StreamsPerConnection,
		WriteByteTimeout:     time.Duration(cfg.Limits.WriteStall),
	}
	return server
}

// oneAuthority refuses requests that name one in :authority and another one in Host (RFC 9113,
// 8.3.1): who is asked must not depend on who reads it.
func oneAuthority(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, host := range r.Header.Values("Host") {
			if !strings.EqualFold(host, r.Host) {
				http.Error(w, "Host and :authority differ", http.StatusBadRequest)
				return
			}
		}
		r.Header.Del("Host")
		next.ServeHTTP(w, r)
	})
}

package command

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"berth/internal/config"
	"berth/internal/h1/head"
	"berth/internal/h1/server"
)

// door serves the clients that come in at one entrance.
type door interface {
	Serve(entrance net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// newFirstServer serves HTTP/1.1, as the configuration says.
func (s *site) newFirstServer(cfg config.Config) door {
	if cfg.HTTP1 == config.HTTP1NetHTTP {
		return newServer(cfg, s, s.log)
	}
	o := ownOptions(cfg, s, s.log)
	o.Refused = s.badHeads.refused
	if s.certs != nil && !cfg.TLS.HTTP2 { // else hands were shaken before
		o.HandshakeEnded = s.certs.HandshakeEnded
	}
	return server.New(o)
}

func ownOptions(cfg config.Config, handler server.Handler, log *slog.Logger) server.Options {
	return server.Options{
		Handler:    handler,
		HeaderRead: time.Duration(cfg.Limits.HeaderRead),
		Idle:       time.Duration(cfg.Limits.Idle),
		MaxHead:    int(cfg.Limits.Headers),
		Logger:     log,
	}
}

func newServer(cfg config.Config, handler http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: time.Duration(cfg.Limits.HeaderRead),
		IdleTimeout:       time.Duration(cfg.Limits.Idle),
		MaxHeaderBytes:    int(cfg.Limits.Headers),
		Protocols:         protocols,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// newSecondServer serves HTTP/2. net/http answers a header that is too large with 431, and takes no
// more streams of a connection than it was told.
func newSecondServer(cfg config.Config, handler http.Handler, log *slog.Logger) *http.Server {
	server := newServer(cfg, unambiguous(handler), log)
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: cfg.Limits.StreamsPerConnection,
		WriteByteTimeout:     time.Duration(cfg.Limits.WriteStall),
	}
	return server
}

// unambiguous refuses what HTTP/2 can say and HTTP/1.1, in which it goes upstream, cannot: a target with blanks, a fragment or what is no
// ASCII, and what frames a body in a name with underscores. It refuses requests that name one authority in :authority and another one in Host
// (RFC 9113, 8.3.1) as well: what is asked of whom must not depend on who reads it.
func unambiguous(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := ambiguity(r); why != "" {
			http.Error(w, why, http.StatusBadRequest)
			return
		}
		r.Header.Del("Host")
		next.ServeHTTP(w, r)
	})
}

func ambiguity(r *http.Request) string {
	for _, host := range r.Header.Values("Host") {
		if !strings.EqualFold(host, r.Host) {
			return "Host and :authority differ"
		}
	}
	if !head.IsHost(r.Host) {
		return ":authority is no host"
	}
	if r.RequestURI != "" && !head.IsTarget(r.RequestURI) {
		return ":path is no target of a request"
	}
	for name := range r.Header {
		if head.IsFramingAlias(name) {
			return "framing field spelt with an underscore"
		}
	}
	return ""
}

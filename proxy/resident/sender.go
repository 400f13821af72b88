package resident

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/relay"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

// Schemes of upstreams' URLs.
const (
	SchemeStdio = "stdio" // its path names the upstream
	SchemeSSE   = "sse+http"
	SchemeSSES  = "sse+https"
)

// Is reports whether sessions of the upstream with this URL live in one process.
func Is(u *url.URL) bool {
	return u.Scheme == SchemeStdio || u.Scheme == SchemeSSE || u.Scheme == SchemeSSES
}

// Prefix begins the names of the sessions of one berth.
func Prefix(berth string) string { return berth + mark }

// mark ends the name of the berth in that of a session.
const mark = "~"

// Sender sends to a pool's upstreams, resident or not.
type Sender struct {
	HTTP  exchange.Sender            // to upstreams that speak Streamable HTTP
	SSE   exchange.Sender            // to those of HTTP with SSE; nil: there are none
	Stdio map[string]exchange.Sender // to those that berth runs, by the path of their URLs

	Pool    string
	Counted []string       // headers that are credentials beside those whose names say so, as inbound.CountedHeaders has them
	Mailbox *relay.Mailbox // reaches the other berths
}

// Send implements exchange.Sender.
func (s *Sender) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if !Is(request.URL) {
		return s.HTTP.Send(ctx, request, wait)
	}
	berth, _, named := strings.Cut(request.Header.Get(mcp.HeaderSession), mark)
	if named && berth != s.Mailbox.Name() {
		return s.pass(ctx, berth, request, wait)
	}
	own := *request
	own.Caller = s.callerOf(request)
	to := s.SSE
	if request.URL.Scheme == SchemeStdio {
		to = s.Stdio[request.URL.Path]
	}
	switch {
	case to != nil:
		return to.Send(ctx, &own, wait)
	case named: // a berth whose configuration has the server still may pass on what is about it
		return unknownSession(), nil
	}
	return nil, &exchange.SendError{Err: errNoServer}
}

// unknownSession is the answer where a session has gone with its berth, or with its server there. It says nothing of the upstream.
func unknownSession() *wire.Response { return exchange.TurnedAway(mcp.ErrUnknownSession, nil) }

// Retires reports whether what is new is to begin in another session of an upstream's than this one: of those that berth runs, where the
// session's process does not answer, has lived long enough, or is run by options of before.
func (s *Sender) Retires(upstream *url.URL, session string) bool {
	if upstream.Scheme != SchemeStdio {
		return false
	}
	server, ok := s.Stdio[upstream.Path].(interface{ Retires(session string) bool })
	return ok && server.Retires(session)
}

var errNoServer = errors.New("resident: no such server")

// pass has another berth send the request. One that is gone has taken its sessions along.
func (s *Sender) pass(ctx context.Context, berth string, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	response, err := s.Mailbox.Pass(ctx, berth, Addressed(request, s.Pool), wait)
	if errors.Is(err, relay.ErrGone) {
		return unknownSession(), nil
	}
	return response, err
}

// Close implements exchange.Sender.
func (s *Sender) Close() {
	s.HTTP.Close()
	if s.SSE != nil {
		s.SSE.Close()
	}
	for _, to := range s.Stdio {
		to.Close()
	}
}

// callerOf names whose request it is: its principal, or its credentials, those that it bears no more among them. Without a principal
// whoever has the name of a session is in it, as credentials may be renewed in mid-session: then it is "".
func (s *Sender) callerOf(request *exchange.Request) string {
	parts := []string{request.Caller}
	if request.Caller == "" {
		if request.Header.Has(mcp.HeaderSession) {
			return ""
		}
		h := request.Header
		if request.Unsent.Authorization {
			h = h.Clone()
			h.Del("Authorization")
		}
		parts = append(parts, inbound.DigestOfCredentials(h, request.URL.RawQuery, s.Counted), request.Unsent.Digest)
	}
	sum := sha256.Sum256([]byte(inbound.Joined(parts...)))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

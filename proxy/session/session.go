package session

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

// Session is open at an upstream.
type Session struct {
	Upstream *routing.Upstream
	ID       string // what the upstream calls it; "": the upstream keeps none
	Version  string // that was negotiated, never ""
	Result   []byte // of initialize: what the server is, and can do

	by Opener
}

// Standing is a session that was opened at u before.
func (o Opener) Standing(u *routing.Upstream, id, version string) *Session {
	return &Session{Upstream: u, ID: id, Version: version, by: o}
}

// Refusal is an answer that opens no session.
type Refusal struct {
	Status int          // of HTTP
	Header *wire.Header // of the answer
	Code   int          // of JSON-RPC; 0: none
	Object []byte       // the JSON-RPC error, raw; nil: none

	Unasked bool // as of a wire.Response
}

// Error says for logs what was answered.
func (r *Refusal) Error() string { return fmt.Sprintf("HTTP %d, code %d", r.Status, r.Code) }

// OfCredentials words a refusal of the caller's credentials; nil is none.
func (r *Refusal) OfCredentials() *mcp.Error {
	return outbound.CredentialsRefused(&wire.Response{Status: r.Status, Header: r.Header})
}

// say sends a message, which has a step's time, and reads the answer, which must be neither an
// HTTP nor a JSON-RPC error. The first answer hands out the session.
func (s *Session) say(ctx context.Context, message []byte) (mcp.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, step(s.by.Endpoint))
	defer cancel()
	response, err := s.send(ctx, wire.MethodPost, message, step(s.by.Endpoint))
	if err != nil {
		return mcp.Answer{}, err
	}
	defer response.Body.Close()
	if s.Version == "" && outbound.RefusesEra(mcp.EraLegacy, mcp.MethodInitialize, []byte(outbound.OwnID), response) {
		return mcp.Answer{}, &exchange.SendError{Err: outbound.ErrEra} // as good as not sent
	}
	if s.Version == "" && response.Status/100 == 2 && !s.by.IsOdd(response.Header) {
		s.ID = response.Header.Get(mcp.HeaderSession)
	}
	amid := *s // as it is by now
	a, err := outbound.OwnAnswerAmid(response, mcp.ID(message), s.by.Crossed(s.Upstream), func(request *mcp.Answer) { go amid.reply(ctx, request.Method, bytes.Clone(request.ID)) })
	if err == nil && (response.Status/100 != 2 || a.IsError) {
		err = &Refusal{Status: response.Status, Header: response.Header.Clone(), Code: a.ErrorCode, Object: bytes.Clone(a.Error), Unasked: response.Unasked}
	}
	return a, err
}

// errNobodyAsked refuses what a server asks while its session is opened.
var errNobodyAsked = &mcp.Error{Code: mcp.CodeInternal, Message: "nobody can be asked before the session is open"}

// reply answers what the upstream asks before it answers itself (2025-11-25, lifecycle, "Initialization": it may send pings).
func (s *Session) reply(ctx context.Context, method string, id []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	message := mcp.ErrorResponse(id, errNobodyAsked.Object())
	if method == mcp.MethodPing {
		message = mcp.Response(id, []byte("{}"))
	}
	response, err := s.send(ctx, wire.MethodPost, message, endTime)
	if err != nil {
		s.by.Log.Debug("an upstream that opens a session could not be answered", "upstream", s.Upstream.Name, "error", err)
		return
	}
	_ = response.Body.Close()
}

// send sends a request in the session and the version that it is in: in none of either before
// they are agreed on.
func (s *Session) send(ctx context.Context, method string, body []byte, wait time.Duration) (*wire.Response, error) {
	out := s.by.Post(s.Upstream, body)
	out.Method = method
	if body == nil {
		out.Header.Del("Content-Type")
	}
	for name, value := range map[string]string{mcp.HeaderSession: s.ID, mcp.HeaderVersion: s.Version} {
		out.Header.Del(name)
		if value != "" {
			out.Header.Set(name, value)
		}
	}
	return outbound.To(s.by.Endpoint).Send(ctx, s.Upstream, out, outbound.Terms{Wait: wait})
}

// endTime bounds the end of a session.
const endTime = 2 * time.Second

// End tells the upstream that nobody needs the session any more. Nothing depends on it, and
// it outlives ctx.
func (s *Session) End(ctx context.Context) {
	if s.ID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	response, err := s.send(ctx, wire.MethodDelete, nil, endTime)
	if err != nil {
		s.by.Log.Debug("a session that is not needed could not be ended", "upstream", s.Upstream.Name, "error", err)
		return
	}
	_ = response.Body.Close()
}

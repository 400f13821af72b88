package legacy

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/proxy/session"
)

// Session is one at an upstream. It does not change.
type Session struct {
	At      *Upstream
	ID      string // what the upstream calls it; "": the upstream keeps none
	Version string
	Result  []byte            // of initialize; nil: another berth has opened it
	Opened  *exchange.Request // in whose name it is
}

// Request is a request in a session, in the name of who sends out. The caller is whoever opened it:
// a client may declare something else in a later round.
func (s *Session) Request(out *exchange.Request, method string, body []byte) *exchange.Request {
	in := OwnPost(out, body)
	in.Method, in.Caller = method, s.Opened.Caller
	if body == nil {
		in.Header.Del("Content-Type")
	}
	if method == wire.MethodGet {
		in.Header.Set("Accept", "text/event-stream")
	}
	in.Header.Set(mcp.HeaderVersion, s.Version)
	if s.ID != "" {
		in.Header.Set(mcp.HeaderSession, s.ID)
	}
	return in
}

// Send sends a request in a session; wait is as in outbound.Terms. What comes of it feeds the upstream's health.
func (s *Session) Send(ctx context.Context, out *exchange.Request, method string, body []byte, wait time.Duration) (*wire.Response, error) {
	return s.do(ctx, s.Request(out, method, body), outbound.Terms{Wait: wait, Watched: wait == 0})
}

func (s *Session) do(ctx context.Context, in *exchange.Request, terms outbound.Terms) (*wire.Response, error) {
	return outbound.To(s.At.Endpoint()).Send(ctx, s.At.Upstream, in, terms)
}

// Stream asks for a stream of events: of the session's own, or if last names an event of another one, for what
// came after it there.
func (s *Session) Stream(ctx context.Context, out *exchange.Request, last string) (*wire.Response, error) {
	in := s.Request(out, wire.MethodGet, nil)
	if last != "" {
		in.Header.Set(mcp.HeaderLastEvent, last)
	}
	return s.do(ctx, in, outbound.Terms{Watched: true})
}

// ErrStands says that somebody else reads a stream.
var ErrStands = errors.New("bridge: the stream is being read")

// Begun is how an answer begins.
type Begun struct {
	*wire.Response
	Err error
}

// Start posts a body, and returns how its answer will begin.
func (s *Session) Start(ctx context.Context, out *exchange.Request, body []byte) <-chan Begun {
	heads := make(chan Begun, 1)
	go func() {
		response, err := s.Send(ctx, out, wire.MethodPost, body, 0)
		heads <- Begun{response, err}
	}()
	return heads
}

// tellTime bounds what telling an upstream something may take.
const tellTime = 5 * time.Second

// Tell posts a notification or a response in a session. Its time is short. It fails with a
// *session.Refusal if the upstream does not take it.
func (s *Session) Tell(ctx context.Context, out *exchange.Request, body []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	response, err := s.Send(ctx, out, wire.MethodPost, body, tellTime)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.Status/100 != 2 {
		return &session.Refusal{Status: response.Status, Header: response.Header.Clone()}
	}
	return nil
}

// IsDenied reports whether the upstream knows the session no more: it is asked, in the name of who sends out. A server may mean
// something else by 404 or 400, and have done its work.
func (s *Session) IsDenied(ctx context.Context, out *exchange.Request) bool {
	return s.ID != "" && s.IsRefused(ctx, out)
}

// IsRefused reports whether the upstream takes nothing in the session, a ping neither: where it kept none, it may demand one by now.
func (s *Session) IsRefused(ctx context.Context, out *exchange.Request) bool {
	err := s.Tell(ctx, out, outbound.OwnPing())
	answer, ok := errors.AsType[*session.Refusal](err)
	return ok && outbound.DeniesSession(answer.Status)
}

// endTime bounds the end of a session.
const endTime = 2 * time.Second

// End tells the upstream that nobody needs the session any more, in the name of who sends out. Nothing depends on it.
func (s *Session) End(ctx context.Context, out *exchange.Request) {
	if s.ID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	response, err := s.Send(ctx, out, wire.MethodDelete, nil, endTime)
	if err != nil {
		s.At.Log.Debug("a bridged session could not be ended", "upstream", s.At.Name, "error", err)
		return
	}
	response.Body.Close()
}

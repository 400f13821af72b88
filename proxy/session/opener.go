package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
)

// ErrRefused says that an upstream did not open a session.
var ErrRefused = errors.New("session: the upstream refuses to open the session")

// Opener opens sessions in the name of a caller.
type Opener struct {
	Endpoint *inbound.Endpoint
	Log      *slog.Logger

	// Post makes a POST of berth's own to u in the caller's name, which names no session.
	Post func(u *routing.Upstream, body []byte) *exchange.Request
	// IsOdd reports whether an answer names a session by what no client could send back.
	IsOdd func(h *wire.Header) bool
	// Crossed is what counts a response that u has given to another request.
	Crossed func(u *routing.Upstream) func()
}

// For returns what opens sessions in the name of whoever makes a call.
func For(w outbound.Way) Opener {
	return Opener{Endpoint: w.Endpoint, Log: w.Log, Post: w.Post, IsOdd: w.HasOddSession, Crossed: w.Crossed}
}

// Opening is what an upstream is told.
type Opening struct {
	Initialize []byte               // the request, whatever its id
	Accept     func(*Session) error // judges what was negotiated, before more is sent
	Announced  bool                 // the caller sends notifications/initialized itself
	Then       [][]byte             // requests that follow, in order, whatever their ids
}

// Limit bounds Open.
func Limit(ep *inbound.Endpoint) time.Duration { return 2 * step(ep) }

// step bounds one message of an opening.
func step(ep *inbound.Endpoint) time.Duration { return cmp.Or(ep.Timeouts.Control, 30*time.Second) }

// initialized ends a handshake (2025-11-25, lifecycle, "Initialization").
const initialized = `{"jsonrpc":"2.0","method":"` + mcp.MethodInitialized + `"}`

// Open opens a session at u. The error is what Accept says, an *exchange.SendError if
// Initialize got no answer, or ErrRefused. Another upstream may be asked for what was not sent.
// ErrRefused wraps the *Refusal or the *exchange.SendError, which is Sent, that it is because of.
func (o Opener) Open(ctx context.Context, u *routing.Upstream, as Opening) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, Limit(o.Endpoint))
	defer cancel()
	s := &Session{Upstream: u, by: o}
	err := s.initialize(ctx, as.Initialize)
	if err == nil {
		err = as.Accept(s)
	}
	if err == nil {
		err = s.sayRest(ctx, as)
	}
	if err != nil {
		s.End(ctx)
		return nil, err
	}
	return s, nil
}

func (s *Session) initialize(ctx context.Context, request []byte) error {
	a, err := s.say(ctx, mcp.WithID(request, []byte(outbound.OwnID)))
	if _, unsent := errors.AsType[*exchange.SendError](err); unsent {
		return err
	}
	if err != nil {
		return refused(err)
	}
	if a.Version == "" || mcp.IsModern(a.Version) { // what follows would be of the other era
		return ErrRefused
	}
	s.Version, s.Result = a.Version, bytes.Clone(a.Result)
	return nil
}

// sayRest says what follows initialize. Whatever fails then, no other upstream is asked.
func (s *Session) sayRest(ctx context.Context, as Opening) error {
	var rest [][]byte
	if !as.Announced {
		rest = append(rest, []byte(initialized))
	}
	for _, request := range as.Then {
		rest = append(rest, mcp.WithID(request, outbound.NewID()))
	}
	for _, message := range rest {
		if _, err := s.say(ctx, message); err != nil {
			return refused(err)
		}
	}
	return nil
}

// refused is ErrRefused because of err. Of a session that has begun something was sent, be it not
// the message that failed.
func refused(err error) error {
	if answer, ok := errors.AsType[*Refusal](err); ok {
		return fmt.Errorf("%w: %w", ErrRefused, answer)
	}
	if failed, ok := errors.AsType[*exchange.SendError](err); ok {
		begun := *failed
		begun.Sent = true
		return fmt.Errorf("%w: %w", ErrRefused, &begun)
	}
	return fmt.Errorf("%w: %v", ErrRefused, err)
}

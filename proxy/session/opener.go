package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
)

// ErrRefused says that an upstream did not open a session.
var ErrRefused = errors.New("session: the upstream refuses to open the session")

// Opener opens sessions in the name of a caller.
type Opener struct{ outbound.Way }

// Opening is what an upstream is told.
type Opening struct {
	Initialize []byte               // the message, whatever its id
	Accept     func(*Session) error // judges what was negotiated, before more is sent
	Announced  bool                 // the caller sends notifications/initialized itself
	Then       [][]byte             // messages that follow, in order
}

// Limit bounds Open.
func Limit(ep *inbound.Endpoint) time.Duration { return 2 * step(ep) }

// step bounds one message of an opening.
func step(ep *inbound.Endpoint) time.Duration { return cmp.Or(ep.Timeouts.Control, 30*time.Second) }

// initialized ends a handshake (2025-11-25, lifecycle, "Initialization").
const initialized = `{"jsonrpc":"2.0","method":"` + mcp.MethodInitialized + `"}`

// Open opens a session at u. The error is what Accept says, or an *exchange.SendError of the
// first message: if that was not sent, another upstream may be asked. Any other is ErrRefused,
// or what is wrong with an answer.
func (o Opener) Open(ctx context.Context, u *routing.Upstream, as Opening) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, Limit(o.Endpoint))
	defer cancel()
	s := &Session{Upstream: u, way: o.Way}
	if err := s.begin(ctx, as); err != nil {
		s.End(ctx)
		return nil, err
	}
	return s, nil
}

// begin says all that opens the session.
func (s *Session) begin(ctx context.Context, as Opening) error {
	if err := s.initialize(ctx, as.Initialize); err != nil {
		return err
	}
	if err := as.Accept(s); err != nil {
		return err
	}
	if !as.Announced {
		if err := s.say(ctx, []byte(initialized)); err != nil {
			return err
		}
	}
	for _, message := range as.Then {
		if err := s.say(ctx, message); err != nil {
			return err
		}
	}
	return nil
}

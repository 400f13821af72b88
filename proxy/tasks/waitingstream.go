package tasks

import (
	"context"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// waitingStream is an event stream of which the client gets what comes while it waits.
type waitingStream struct {
	*outbound.HeldAnswer
	a   *waiting
	ctx context.Context // of the exchange: its reader's life
	u   *routing.Upstream
	id  []byte // of the request
}

// keep keeps what a stream answered with for as long as the client may be given that: who waits for the stream gives its
// header back.
func (a *waiting) keep(response *wire.Response) {
	a.response.Store(response.Kept())
	select {
	case <-a.left:
		a.response.Store(nil)
	default:
	}
}

// Next implements upgrade.Exchange.
func (s *waitingStream) Next() (upgrade.Message, error) {
	e, err := s.Event()
	if err != nil {
		return upgrade.Message{}, err
	}
	// The event's bytes are the reader's; the client has them before the next is read.
	o := offer{u: s.u, response: s.a.response.Load(), event: &e, id: s.id, withheld: s.isWithheld(e.Data), refuses: refusesOnStream(e.Data, s.id)}
	if s.a.offer(s.ctx, o) {
		return upgrade.Message{}, o.givenError()
	}
	return outbound.MessageOf(e), nil
}

// isWithheld reports whether a message is none for the client: a response to another
// request, a task that nobody asked for, or what may be either.
func (s *waitingStream) isWithheld(message []byte) bool {
	if message == nil {
		return false
	}
	a, err := mcp.PeekAnswer(message, false)
	return err != nil || a.CreatesTask() || a.Method == "" && !a.Answers(s.id)
}

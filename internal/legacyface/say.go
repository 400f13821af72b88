package legacyface

import (
	"context"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// tell passes on a message that has no answer.
func (s *session) tell(ctx context.Context, request *exchange.Request, message []byte, wait time.Duration) (*wire.Response, error) {
	answer, err := s.conn.Say(ctx, request, message, wait)
	if answer == nil && err == nil {
		answer = wire.Whole(wire.StatusAccepted, nil)
	}
	return answer, err
}

// settle passes on the answer to a question. What is not asked, or not any more, is dropped, as
// the SDKs do.
func (s *session) settle(ctx context.Context, request *exchange.Request, m *mcp.Call, wait time.Duration) (*wire.Response, error) {
	key := mcp.IDKey(m.ID)
	s.mu.Lock()
	_, asked := s.questions[key]
	s.mu.Unlock()
	if !asked {
		return wire.Whole(wire.StatusAccepted, nil), nil
	}
	answer, err := s.tell(ctx, request, request.Body, wait)
	if err == nil && answer.Status == wire.StatusAccepted {
		s.mu.Lock()
		delete(s.questions, key)
		s.mu.Unlock()
	}
	return answer, err
}

// errCancelled ends a call that its client has cancelled: servers may say nothing more of it.
var errCancelled = &mcp.Error{Status: wire.StatusOK, Code: mcp.CodeInternal, Message: "the request was cancelled"}

// cancel passes on that a call is not wanted any more, and ends it. What is not under way is
// dropped.
func (s *session) cancel(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	c := s.called(mcp.CancelledID(request.Body))
	if c == nil {
		return wire.Whole(wire.StatusAccepted, nil), nil
	}
	c.awaitTaken(ctx)
	answer, err := s.tell(ctx, request, mcp.WithCancelledID(request.Body, []byte(c.key)), wait)
	if err == nil && answer.Status == wire.StatusAccepted {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls[c.key] == c {
			s.finish(c, errCancelled.Body(c.id), errCancelled)
		}
	}
	return answer, err
}

// takenTime bounds how long a cancellation waits for its call.
const takenTime = time.Second

// awaitTaken waits until the connection has taken the call: a cancellation that overtakes it cancels nothing.
func (c *call) awaitTaken(ctx context.Context) {
	timer := time.NewTimer(takenTime)
	defer timer.Stop()
	select {
	case <-c.taken:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (c *call) isTaken() bool {
	select {
	case <-c.taken:
		return true
	default:
		return false
	}
}

// called returns the call begun last of those with this raw id of the client's.
func (s *session) called(id []byte) *call {
	key := mcp.IDKey(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last(func(c *call) bool { return mcp.IDKey(c.id) == key })
}

// last returns the call begun last of those that are meant, nil for none. The caller holds mu.
func (s *session) last(meant func(*call) bool) (last *call) {
	for _, c := range s.calls {
		if meant(c) && (last == nil || c.order > last.order) {
			last = c
		}
	}
	return last
}

// reply says a message of the face's own, for which nobody waits. The caller holds mu.
func (s *session) reply(message []byte) {
	conn := s.conn
	if conn == nil {
		return // what a server asks before its session is open
	}
	go func() {
		if answer, err := conn.Say(context.Background(), nil, message, openTime); err == nil && answer != nil {
			answer.Body.Close()
		}
	}()
}

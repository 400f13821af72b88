package mcptest

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// onFeed reports whether a request is answered on a stream that outlives its connection.
func (s *Server) onFeed(r *http.Request, sess session, c call) bool {
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return false
	}
	return s.Resumable && sess.talk != nil || s.isErrand(c)
}

func (s *Server) isErrand(c call) bool {
	return s.Errands && c.Method == "tools/call" && c.Params.Name == errandName
}

// runOnFeed answers a request on a stream of its own. The call goes on when its client
// has gone, in a goroutine that Close waits for.
func (s *Server) runOnFeed(w http.ResponseWriter, r *http.Request, sess session, c call) {
	t, f := sess.talk, &feed{retry: s.Retry}
	if t == nil {
		t = newTalk()
	}
	if s.Resumable && sess.talk != nil {
		f.name = newID()
		if sess.version == latestLegacy {
			f.prime()
		}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	done := t.begin(c.ID, f, cancel)
	f.attach()
	s.run(func() {
		defer done()
		result, fail := s.feedCall(ctx, t, f, sess, c)
		if errors.Is(context.Cause(ctx), errCancelled) {
			// No response (2025-11-25 cancellation, "Behavior Requirements"). The SDK
			// leaves the stream open; so does this.
			s.countCancelled()
			return
		}
		f.say(answer(c.ID, result, fail))
		f.end()
	})
	f.serve(w, r, 0, s.closed())
}

// run runs a call beside its request. Of a server that is closed the call ends at once.
func (s *Server) run(call func()) {
	s.closeMu.Lock()
	defer s.closeMu.Unlock()
	select {
	case <-s.closed():
		call()
	default:
		s.running.Go(call)
	}
}

func (s *Server) feedCall(ctx context.Context, t *talk, f *feed, sess session, c call) (any, *failure) {
	if s.isErrand(c) {
		return interactive{s}.errand(ctx, t, f, c)
	}
	return s.legacyCall(ctx, sess.id, c)
}

// resume goes on with the stream of an event that the client names (2025-11-25
// transports, "Resumability and Redelivery"). The answers are those of the TypeScript
// SDK: 400 for an event that is not known, 409 while the old connection stands.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, sess session, eventID string) {
	f, n, ok := sess.talk.find(eventID)
	switch {
	case !ok:
		refuse(w, nil, *badRequest("invalid event ID"))
	case !f.attach():
		refuse(w, nil, refusal{http.StatusConflict, failure{Code: codeBadRequest, Message: "Conflict: Stream already has an active connection"}})
	default:
		s.countResumed()
		f.serve(w, r, n, s.closed())
	}
}

// CutStreams breaks the connections of all such streams in sessions, and returns how many
// there were. What runs goes on.
func (s *Server) CutStreams() (n int) {
	for _, t := range s.sessions.talks() {
		n += t.leave(cut)
	}
	return n
}

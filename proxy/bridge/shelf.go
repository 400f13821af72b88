package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/legacy"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/resident"
	"berth/proxy/session"
)

// shelf holds the sessions that one key names, at one upstream. stock.mu guards its fields.
type shelf struct {
	of    *stock
	key   string
	whose string  // the caller; "": everybody's
	loans []*loan // the one used last is the last

	opening bool          // a session that any number of calls may share
	changed chan struct{} // holds one: a session was opened, or given back
}

// shelfOf returns the shelf of a key. The caller holds k.mu.
func (k *stock) shelfOf(key, whose string) *shelf {
	s := k.shelves[key]
	if s == nil {
		s = &shelf{of: k, key: key, whose: whose, changed: make(chan struct{}, 1)}
		k.shelves[key] = s
	}
	return s
}

// openSession opens a session in the name of who makes the call.
func (c *call) openSession(ctx context.Context, s *shelf, place int) (*loan, error) {
	as := c.placed(place)
	l := &loan{
		Session: legacy.Session{At: c.f.u, Opened: legacy.OwnPost(as, nil)}, f: c.f, shelf: s, declares: c.client.Declares(), place: place, level: -1,
		subscribing: make(chan struct{}, 1), subscribed: map[string]int{},
	}
	ctx, cancel := context.WithTimeout(ctx, session.Limit(c.f.b.options().Endpoint))
	defer cancel()
	_, err := c.f.u.Opener(as).Open(ctx, c.f.u.Upstream, session.Opening{
		Initialize: mcp.InitializeFor([]byte(outbound.OwnID), legacy.Version, c.client.AsksClient(), c.client.Info),
		Accept: func(opened *session.Session) error {
			l.ID, l.Version, l.Result = opened.ID, opened.Version, opened.Result
			if c.client.Asked() {
				l.listenEarly(ctx, c.out) // some ask as soon as they may
			}
			return nil
		},
	})
	if err != nil {
		l.stopListening()
		return nil, c.f.notOpened(err)
	}
	c.f.noteTasks(l.Result)
	return l, nil
}

// notOpened is what a call fails with whose session was not opened: nothing of it was sent.
func (f *face) notOpened(err error) error {
	if errors.Is(err, outbound.ErrEra) {
		f.u.NoteLegacy(false)
		return err
	}
	if failed, ok := errors.AsType[*exchange.SendError](err); ok {
		return &exchange.SendError{Err: failed.Err, Refused: failed.Refused, TimedOut: failed.TimedOut, Starved: failed.Starved}
	}
	answer, ok := errors.AsType[*session.Refusal](err)
	if !ok {
		return err
	}
	worded := &mcp.Error{Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Message: "the server opened no session", Reason: mcp.ReasonBadUpstream, Outcome: mcp.NotExecuted}
	switch {
	case resident.Is(f.u.URL) && answer.Object != nil: // berth's own words, with the end of what a process said
		worded = asWorded(answer)
	case wire.RefusesCredentials(answer.Status):
		worded = fault.Refused(answer.Status, "the server does not take these credentials")
		worded.Challenge = answer.Header.Get("Www-Authenticate")
	case answer.Status == wire.StatusTooManyRequests, answer.Status == wire.StatusServiceUnavailable:
		worded = busy(answer, "the server opens no session now")
	}
	return worded
}

// settle forgets a shelf that holds nothing. The caller holds stock.mu.
func (s *shelf) settle() {
	if len(s.loans) == 0 {
		delete(s.of.shelves, s.key)
	}
}

// takeIdle takes the sessions off their shelves that nobody uses and nobody has used since.
func (f *face) takeIdle(since time.Time) (idle []*loan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.shelves {
		for _, l := range slices.Clone(s.loans) {
			if l.users == 0 && l.idle.Before(since) && !l.hasTasks() {
				l.remove()
				idle = append(idle, l)
			}
		}
	}
	return idle
}

// isEmpty reports whether nothing is open at the upstream, nor waits for its client.
func (f *face) isEmpty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open == 0 && len(f.listeners) == 0 && f.holds.size() == 0
}

// endAll ends sessions, some at a time.
func endAll(ctx context.Context, loans []*loan) {
	var running sync.WaitGroup
	places := make(chan struct{}, 16)
	for _, l := range loans {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			l.End(ctx)
		})
	}
	running.Wait()
}

// asWorded is the error that an answer bears.
func asWorded(answer *session.Refusal) *mcp.Error {
	var object struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(answer.Object, &object) // it was read as JSON
	e := &mcp.Error{Status: answer.Status, Code: object.Code, Message: object.Message}
	if object.Data != nil {
		e.Data = object.Data
	}
	e.RetryAfter = retryAfter(answer.Header)
	return e
}

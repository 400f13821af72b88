package bridge

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/session"
)

// shelf holds the sessions that one key names, at one upstream. face.mu guards its fields.
type shelf struct {
	f         *face
	key       string
	loans     []*loan // the one used last is the last
	listeners map[*listener]bool
}

// loan is a bridged session: lent to one call that may be asked something, or to any number of
// others.
type loan struct {
	f       *face
	shelf   *shelf // nil: it stands on none, as one that was opened by another berth
	id      string // what the upstream calls it; "": the upstream keeps none
	version string
	result  []byte            // of initialize
	opened  *exchange.Request // in whose name it is

	level int // the log level that was set, as mcp.Severity counts; -1: none. Of who uses it alone, or setting

	setting sync.Mutex // held while the level is set

	// face.mu guards these.
	users int
	alone bool
	idle  time.Time // since when nobody uses it
	gone  bool      // it is on no shelf any more

	adopted bool  // another berth has opened it, for a call that goes on here
	ear     *ear  // who reads its GET stream; nil: nobody
	deaf    bool  // it has none
	asker   *flow // of the call that was begun last, and may be asked; nil: there is none

	subscribed map[string]int // how many listen for a resource

	listed bool                 // its tools were learned
	tasks  map[string]time.Time // that were made in it and have not ended, and until when they live
}

// lend returns a session for a call, alone where that may be asked something.
func (c *call) lend(ctx context.Context, alone bool) (*loan, error) {
	f, key := c.f, c.key()
	f.mu.Lock()
	s := f.shelfOf(key)
	if l := s.fit(alone); l != nil && f.b.o.Isolation != PerCall {
		l.users++
		l.alone = alone
		f.mu.Unlock()
		return l, nil
	}
	if f.open >= f.b.o.Sessions {
		f.mu.Unlock()
		return nil, errTooManySessions
	}
	f.open++
	f.mu.Unlock()
	l, err := c.openSession(ctx, s)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.open--
		return nil, err
	}
	l.users, l.alone = 1, alone
	s.loans = append(s.loans, l)
	if len(s.listeners) > 0 {
		go l.listen(context.WithoutCancel(ctx), c.out, "")
	}
	return l, nil
}

// shelfOf returns the shelf of a key. The caller holds f.mu.
func (f *face) shelfOf(key string) *shelf {
	s := f.shelves[key]
	if s == nil {
		s = &shelf{f: f, key: key, listeners: map[*listener]bool{}}
		f.shelves[key] = s
	}
	return s
}

// fit returns the session that was used last of those that may be lent; nil if there is none.
func (s *shelf) fit(alone bool) *loan {
	for _, l := range slices.Backward(s.loans) {
		if l.users == 0 || !alone && !l.alone {
			return l
		}
	}
	return nil
}

// openSession opens a session in the name of who makes the call.
func (c *call) openSession(ctx context.Context, s *shelf) (*loan, error) {
	opened, err := c.f.opener(c.out).Open(ctx, c.f.u, session.Opening{
		Initialize: mcp.InitializeFor([]byte(outbound.OwnID), legacyVersion, c.client.AsksClient(), c.client.Info),
		Accept:     func(*session.Session) error { return nil },
	})
	if err != nil {
		return nil, c.f.notOpened(err)
	}
	c.f.noteTasks(opened.Result)
	return &loan{f: c.f, shelf: s, id: opened.ID, version: opened.Version, result: opened.Result, opened: ownPost(c.out, nil), level: -1}, nil
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
	case wire.RefusesCredentials(answer.Status):
		worded = fault.Refused(answer.Status, "the server does not take these credentials")
		worded.Challenge = answer.Header.Get("Www-Authenticate")
	case answer.Status == wire.StatusTooManyRequests, answer.Status == wire.StatusServiceUnavailable:
		worded = fault.Unavailable(mcp.ReasonOverloaded, "the server opens no session now")
		worded.Status = answer.Status
	}
	return worded
}

// giveBack ends a use of the session, which the upstream may have lost.
func (l *loan) giveBack(lost bool) {
	f := l.f
	f.mu.Lock()
	l.users--
	if l.users == 0 {
		l.alone, l.idle = false, time.Now()
	}
	end := !l.gone && (lost || l.users == 0 && f.b.o.Isolation == PerCall && !l.hasTasks())
	if end {
		l.remove()
	}
	f.mu.Unlock()
	switch {
	case end:
		go l.end(context.Background())
	case l.adopted:
		// Whoever answers the same round once more may still read there.
		time.AfterFunc(replay, func() { l.end(context.Background()) })
	}
}

// leaveToOthers forgets a session that another berth goes on with.
func (l *loan) leaveToOthers() {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.remove()
	l.adopted = false
}

// remove takes the session off its shelf. The caller holds f.mu.
func (l *loan) remove() {
	if l.gone {
		return
	}
	l.gone = true
	l.f.open--
	l.cover()
	if s := l.shelf; s != nil {
		s.loans = slices.DeleteFunc(s.loans, func(other *loan) bool { return other == l })
		s.settle()
	}
}

// settle forgets a shelf that holds nothing. The caller holds f.mu.
func (s *shelf) settle() {
	if len(s.loans) == 0 && len(s.listeners) == 0 {
		delete(s.f.shelves, s.key)
	}
}

// takeIdle takes the sessions off their shelves that nobody uses and nobody has used since.
func (f *face) takeIdle(since time.Time) (idle []*loan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.shelves {
		for _, l := range slices.Clone(s.loans) {
			if l.users == 0 && l.idle.Before(since) && len(s.listeners) == 0 && !l.hasTasks() {
				l.remove()
				idle = append(idle, l)
			}
		}
	}
	return idle
}

// endAll ends sessions, some at a time.
func endAll(ctx context.Context, loans []*loan) {
	var running sync.WaitGroup
	places := make(chan struct{}, 16)
	for _, l := range loans {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			l.end(ctx)
		})
	}
	running.Wait()
}

// end tells the upstream that nobody needs the session any more. Nothing depends on it.
func (l *loan) end(ctx context.Context) {
	if l.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	response, err := l.f.send(ctx, l.opened, l, wire.MethodDelete, nil, endTime)
	if err != nil {
		l.f.log.Debug("a bridged session could not be ended", "upstream", l.f.u.Name, "error", err)
		return
	}
	response.Body.Close()
}

// endTime bounds the end of a session.
const endTime = 2 * time.Second

package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/routing"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// oldServer is an upstream of the legacy era. A call's stream is a log that its test
// writes; it stands as long as nobody cuts it, and is resumed from any event.
type oldServer struct {
	mu       sync.Mutex // guards the fields below
	calls    []*oldCall
	posted   []string // notifications and responses
	ended    []string // sessions
	endedBy  []string // with which Authorization
	resumed  int
	denied   bool                 // it does not know the session
	stands   bool                 // it takes the old connection of a stream for standing
	plays    func(c *oldCall)     // what the tool does; nil: its test does it
	ending   func(session string) // is told when a berth ends a session; nil: nobody is
	hears    func(posted []byte)  // is told what is posted; nil: nobody is
	replays  bool
	mute     bool // resumed streams bring only what was there
	large    bool // they bring more than is read without room
	hums     bool // and comments
	brief    bool // and then end
	nameless bool // events have no ids
	reserved bool // it answers a resumption when it has something to tell, and refuses the next one after that was given up
	refuses  bool // the next one
}

// oldCall is one execution.
type oldCall struct {
	s       *oldServer
	session string
	request struct {
		ID     json.RawMessage
		Params struct {
			Arguments struct{ Do string }
			Task      json.RawMessage
			Meta      struct{ ProgressToken string } `json:"_meta"`
		}
	}
	n     int // how many came before
	log   []Message
	gone  chan struct{} // closed when nobody waits for it any more
	grown chan struct{} // closed when there is more
	cut   chan struct{} // closed to break the streams
}

func (s *oldServer) line(b *berth) Transport {
	return Transport{
		Send: func(ctx context.Context, _ *routing.Upstream, c *Call, _ int64) (Exchange, error) {
			return s.open(ctx, b, c)
		},
		Resume: func(ctx context.Context, _ *routing.Upstream, c *Call, event string, _ int64) (Exchange, error) {
			return s.reopen(ctx, b, c, event)
		},
		Tell: func(_ context.Context, _ *routing.Upstream, c *Call) error {
			err := s.note(b, func() { s.posted = append(s.posted, c.Session+" "+string(c.Body)) })
			if err == nil && s.hears != nil {
				s.hears(c.Body)
			}
			return err
		},
		End: func(_ context.Context, _ *routing.Upstream, c *Call) error {
			err := s.note(b, func() {
				s.ended, s.endedBy = append(s.ended, c.Session), append(s.endedBy, c.Headers().Get("Authorization"))
			})
			if err == nil && s.ending != nil {
				s.ending(c.Session)
			}
			return err
		},
	}
}

func (s *oldServer) note(b *berth, f func()) error {
	if !b.line.stand() {
		return errDead
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	return nil
}

func (s *oldServer) open(ctx context.Context, b *berth, c *Call) (Exchange, error) {
	call := &oldCall{s: s, session: c.Session, grown: make(chan struct{}), cut: make(chan struct{}), gone: make(chan struct{})}
	if err := json.Unmarshal(c.Body, &call.request); err != nil {
		return nil, err
	}
	lost := false
	err := s.note(b, func() {
		if lost = s.denied || slices.Contains(s.ended, c.Session); !lost {
			call.n = len(s.calls)
			s.calls = append(s.calls, call)
		}
	})
	if lost {
		err = ErrSessionLost
	}
	if err != nil {
		return nil, err
	}
	call.prime()
	stream := &oldStream{call: call, ctx: ctx, b: b, cut: call.cut}
	if s.plays != nil {
		go s.plays(call)
	}
	return stream, nil
}

// place is how many events of the call's stream come up to one.
func (c *oldCall) place(event string) (int, error) {
	of, at, _ := strings.Cut(event, "-")
	if of != strconv.Itoa(c.n) {
		return 0, errors.New("another call's")
	}
	return strconv.Atoi(at)
}

func (c *oldCall) prime() { c.add(Message{}) }

// add writes one event.
func (c *oldCall) add(m Message) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !c.s.nameless {
		m.Event = fmt.Sprint(c.n, "-", len(c.log)+1)
	}
	c.log = append(c.log, m)
	close(c.grown)
	c.grown = make(chan struct{})
}

func (c *oldCall) say(format string, args ...any) {
	c.add(Message{Data: fmt.Appendf(nil, format, args...)})
}

func (c *oldCall) progress(n int) {
	c.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%q,"progress":%d}}`, c.request.Params.Meta.ProgressToken, n)
}

func (c *oldCall) ask(id string) {
	c.say(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"?"}}`, id)
}

func (c *oldCall) answer(result string) {
	c.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.request.ID, result)
}

// hangUp breaks the streams of the call that stand.
func (c *oldCall) hangUp() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	close(c.cut)
	c.cut = make(chan struct{})
}

func (s *oldServer) reopen(ctx context.Context, b *berth, c *Call, event string) (Exchange, error) {
	var found *oldStream
	var lost, taken bool
	err := s.note(b, func() {
		s.resumed++
		lost, taken = s.denied || slices.Contains(s.ended, c.Session), s.stands
		for _, call := range s.calls {
			if at, err := call.place(event); err == nil && call.session == c.Session && at <= len(call.log) && s.replays {
				found = &oldStream{call: call, ctx: ctx, b: b, at: at, cut: call.cut, until: -1}
				if s.mute {
					found.until, found.hums, found.brief = len(call.log), s.hums, s.brief
				}
			}
		}
	})
	switch {
	case err != nil:
		return nil, err
	case lost:
		return nil, ErrSessionLost
	case taken:
		return nil, ErrStands
	case found == nil:
		return nil, ErrNoReplay
	}
	if s.large {
		if err := c.Room.Take(ctx, task.MaxUnsaved); err != nil {
			return nil, err
		}
	}
	return found, s.keepWaiting(ctx, found)
}

// keepWaiting returns when a stream has something to tell, as go-sdk answers.
func (s *oldServer) keepWaiting(ctx context.Context, o *oldStream) error {
	s.mu.Lock()
	refuse, grown, silent := s.refuses, o.call.grown, s.reserved && o.at >= len(o.call.log)
	s.refuses = s.reserved && !refuse
	s.mu.Unlock()
	switch {
	case refuse:
		return errors.New("the stream is being read")
	case !silent:
		return nil
	}
	select {
	case <-grown:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// oldStream is a connection to a call's log.
type oldStream struct {
	call  *oldCall
	ctx   context.Context
	b     *berth
	at    int
	until int // it brings no more than that; -1, 0: any number
	hums  bool
	brief bool
	cut   chan struct{}
}

func (o *oldStream) Next() (Message, error) {
	for {
		if !o.b.line.stand() {
			return Message{}, errDead
		}
		o.call.s.mu.Lock()
		grown, log := o.call.grown, o.call.log
		o.call.s.mu.Unlock()
		if o.until > 0 {
			log = log[:o.until]
		}
		if o.at < len(log) {
			o.at++
			return log[o.at-1], nil
		}
		if o.brief {
			return Message{}, io.EOF
		}
		var hum <-chan time.Time
		if o.hums {
			hum = time.After(runner.QuietFirst / 2)
		}
		select {
		case <-hum:
			return Message{}, nil
		case <-grown:
		case <-o.cut:
			return Message{}, io.ErrUnexpectedEOF
		case <-o.ctx.Done():
			return Message{}, context.Cause(o.ctx)
		}
	}
}

func (o *oldStream) Close() {}

// call is the n-th execution, from 0.
func (s *oldServer) call(t testing.TB, n int) *oldCall {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) <= n {
		t.Fatalf("the tool was called %d times, want more than %d", len(s.calls), n)
	}
	return s.calls[n]
}

func (s *oldServer) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posted)
}

func (s *oldServer) executions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

func (s *oldServer) resumptions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resumed
}

func (s *oldServer) sessionsEnded() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ended)
}

const clientsSession = "session 1"

// handCore makes a task of a call in a client's session, and starts that.
func (b *berth) handCore(t testing.TB, r *Rule, ttl time.Duration) string {
	t.Helper()
	return b.handAt(t, r, ttl, "u")
}

// handAt is handCore for a session at this upstream.
func (b *berth) handAt(t testing.TB, r *Rule, ttl time.Duration, upstream string) string {
	t.Helper()
	return b.handBehind(t, r, ttl, upstream, "the upstream's")
}

// handBehind is handAt for a session that the upstream calls so.
func (b *berth) handBehind(t testing.TB, r *Rule, ttl time.Duration, upstream, session string) string {
	t.Helper()
	c := creation(r, "call")
	c.Version, c.Core, c.Session, c.TTL, c.Prefer = "2025-11-25", true, clientsSession, ttl, upstream
	c.Call.Body = []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"work","task":{"ttl":60000},"_meta":{"progressToken":"the client's own"}}}`)
	c.Call.Session = session
	h, err := b.Maker.Create(context.Background(), c)
	if err != nil {
		t.Fatalf("creating a task: %v", err)
	}
	h.Start(nil)
	return handle(h)
}

func clientsKey() string { return SessionKey(poolName, somebody.Principal, clientsSession) }

// behindKey names what the upstream calls it.
func behindKey() string { return BehindKey(clientsKey(), "the upstream's") }

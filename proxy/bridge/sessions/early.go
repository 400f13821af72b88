package sessions

import (
	"context"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/rounds"
)

// earlyAnswer is how long a call that cannot be asked may go without its answer while a question
// is kept: some servers wait for that.
const earlyAnswer = time.Second

// keepAsked keeps a question for the first call that may be asked. It reports whether it does: what
// comes later may be of a call that has ended.
func (l *Session) keepAsked(it flow.Item) bool {
	reg := l.registry
	if l.shelf == nil || reg.settings().Isolation == ForAll || l.Declares.Lacks(it.Message) != nil {
		return false
	}
	reg.mu.Lock()
	defer reg.mu.Unlock()
	if l.called || l.gone || len(l.early) >= inquiry.MaxInputs {
		return false
	}
	if l.early = append(l.early, it); len(l.early) == 1 {
		asker := l.asker
		time.AfterFunc(earlyAnswer, func() { l.reviewEarly(asker) })
	}
	return true
}

// reviewEarly refuses what is kept if the call that was under way before still is.
func (l *Session) reviewEarly(before *flow.Flow) {
	l.registry.mu.Lock()
	if len(l.early) == 0 || l.gone {
		l.registry.mu.Unlock()
		return
	}
	if now := l.asker; now == nil || now != before {
		time.AfterFunc(earlyAnswer, func() { l.reviewEarly(now) })
		l.registry.mu.Unlock()
		return
	}
	early := l.early.take()
	l.registry.mu.Unlock()
	for _, it := range early {
		_ = l.Tell(context.Background(), l.name(), mcp.ErrorResponse(it.Answer.ID, rounds.ErrNobodyAsked.Object()))
	}
}

// questions are what a server has asked on its session's own stream, and has no answer to yet.
type questions []flow.Item

func (q *questions) take() (all []flow.Item) {
	all, *q = *q, nil
	return all
}

// withdraw drops what the server wants no answer to any more.
func (q *questions) withdraw(id []byte) {
	*q = slices.DeleteFunc(*q, func(it flow.Item) bool { return mcp.SameID(it.Answer.ID, id) })
}

// noteEarly notes what the server asks before any call that may be asked something: it asks new sessions for roots, whatever they
// have declared. The caller holds Registry.mu.
func (l *Session) noteEarly(method string) {
	if method == inquiry.MethodListRoots && !l.called {
		l.registry.asksRoots, l.askedRoots = true, true
	}
}

// IsEarly reports whether a question may be what the server asks of the session, and not of a call: it asks new ones for roots, and
// has not asked this one. Streams of calls bear what is of them alone.
func (l *Session) IsEarly(method string) bool {
	if method != inquiry.MethodListRoots || l.shelf == nil {
		return false
	}
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	first := l.registry.asksRoots && !l.askedRoots
	l.askedRoots = true
	return first
}

// LetsAskEarly reports whether the upstream is yet to have the time to ask what it asks of every new session, and whether
// it is not known what it asks. It is asked by who gives it that.
func (l *Session) LetsAskEarly() (first, unknown bool) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	first = !l.letAsk
	l.letAsk = true
	return first, !l.registry.asksRoots && !l.registry.awaited
}

// NoteAwaited notes that the upstream had the time to show what it asks of new sessions.
func (l *Session) NoteAwaited() {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.registry.awaited = true
}

// TakeEarly takes what is kept.
func (l *Session) TakeEarly() []flow.Item {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	return l.early.take()
}

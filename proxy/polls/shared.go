package polls

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"berth/proxy/inbound"
	"berth/sticky"
)

// Bounds of sharing answers to polls.
const (
	// joinable is how long a poll under way may be joined. With maxKept, the most that an
	// endpoint's Coalesce can be, it bounds how old the answer to a poll is.
	joinable = 5 * time.Second
	maxKept  = 5 * time.Second

	// markLife is how long a change of a task stays marked once it is acknowledged. No
	// answer that was asked for before it is given to anybody for longer than joinable
	// and maxKept; the rest allows for clocks and pauses.
	markLife = 30 * time.Second

	keptBytes = 16 << 20 // of all answers that are kept
)

// Shared are the polls under way, and those whose answers are kept for a moment. A change of
// a task ends what they may give to those who come after it.
type Shared struct {
	log *slog.Logger

	mu    sync.Mutex // guards the fields below, and those of polls that say so
	tasks map[sticky.Key]group
	marks map[sticky.Key]string // changes that went through this process, for markLife
	kept  int                   // bytes of answers
}

// group are the polls of one task that may be joined.
type group struct {
	alone *Poll            // what it asks is not digested yet
	like  map[digest]*Poll // the others, by what they ask
}

func NewShared(log *slog.Logger) *Shared {
	return &Shared{log: log, tasks: map[sticky.Key]group{}, marks: map[sticky.Key]string{}}
}

// Join has c, which is routed to owner, share an answer if it is a poll. It waits for that of
// another poll which asks the same. Without one c leads, so that others may join it, and is
// sent under lead as its context; or it is sent by itself, where it must not be given an older
// answer than its own.
func (s *Shared) Join(ctx context.Context, c *inbound.Call, owner string) (lead *Poll, answer *Answer, err error) {
	if !mayShare(c) {
		return nil, nil, nil
	}
	own := newPoll(ctx, s, c, owner)
	if s.leadAlone(own) {
		return own, nil, nil
	}
	own.asks = own.digest()
	s.compareFirst(own.task)
	p := s.join(own, "")
	if p == own {
		return own, nil, nil
	}
	// A process that was stopped in between may find that a mark has expired since.
	mark, known := own.lastMark(ctx)
	if !known || time.Since(own.began) > joinable {
		s.leave(p)
		return nil, nil, nil
	}
	if mark != "" && mark != p.mark {
		s.leave(p)
		if p = s.join(own, mark); p == own {
			return own, nil, nil
		}
	}
	defer s.leave(p)
	answer, err = p.wait(ctx)
	return nil, answer, err
}

// leadAlone has own lead if no poll of its task can be joined.
func (s *Shared) leadAlone(own *Poll) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, others := s.tasks[own.task]; others {
		return false
	}
	s.tasks[own.task] = group{alone: own}
	s.lead(own, "")
	return true
}

// compareFirst puts the first poll of a task among those that others are compared with.
func (s *Shared) compareFirst(task sticky.Key) {
	s.mu.Lock()
	first := s.tasks[task].alone
	s.mu.Unlock()
	if first != nil {
		s.sort(first)
	}
}

// sort files p by what it asks, if it is not yet.
func (s *Shared) sort(p *Poll) {
	asks := p.digest()
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.tasks[p.task]; g.alone == p {
		g.alone, p.asks = nil, asks
		s.tasks[p.task] = g.with(p)
	}
}

// with is g with p by what it asks, in the place of an older one.
func (g group) with(p *Poll) group {
	if g.like == nil {
		g.like = make(map[digest]*Poll, 1)
	}
	g.like[p.asks] = p
	return g
}

// join returns the poll whose answer own is to wait for, or own, which leads then. With a
// mark only a poll is joined that began when the change it stands for was known.
func (s *Shared) join(own *Poll, mark string) *Poll {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, now := s.tasks[own.task], time.Now()
	if p := g.like[own.asks]; p != nil && p.isOpen(now) && (mark == "" || mark == p.mark) {
		p.joined()
		return p
	}
	own.began = now
	s.tasks[own.task] = g.with(own)
	s.lead(own, mark)
	return own
}

// lead has own begin. Callers hold the lock.
func (s *Shared) lead(own *Poll, mark string) {
	if mark == "" {
		mark = own.joinMarks(func(k sticky.Key) string { return s.marks[k] })
	}
	own.mark, own.led = mark, true
}

// leave lets go of p, as one of those who wait for it.
func (s *Shared) leave(p *Poll) { s.less(p, func() { p.waiting-- }) }

// less has one less concerned in p. When nobody is any more, the request ends.
func (s *Shared) less(p *Poll, one func()) {
	s.mu.Lock()
	one()
	over := !p.led && p.waiting == 0
	if over && p.until.IsZero() {
		s.drop(p)
	}
	s.mu.Unlock()
	if over {
		p.end()
	}
}

// drop lets nobody join p any more. Callers hold the lock.
func (s *Shared) drop(p *Poll) {
	g := s.tasks[p.task]
	switch {
	case g.alone == p:
		g.alone = nil
	case g.like[p.asks] == p:
		delete(g.like, p.asks)
	default:
		return
	}
	if g.alone != nil || len(g.like) > 0 {
		s.tasks[p.task] = g
		return
	}
	delete(s.tasks, p.task)
}

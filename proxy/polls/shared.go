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

	mu    sync.Mutex                      // guards the fields below, and those of polls that say so
	alone lone                            // those that may be joined, and are not digested yet
	like  map[sticky.Key]map[digest]*Poll // by task: the others that may be, by what they ask
	marks map[sticky.Key]string           // changes that went through this process, for markLife
	kept  int                             // bytes of answers
}

// NewShared returns what no poll is under way in.
func NewShared(log *slog.Logger) *Shared {
	return &Shared{log: log, like: map[sticky.Key]map[digest]*Poll{}, marks: map[sticky.Key]string{}}
}

// Join has c, which is routed to owner, share an answer if it is a poll. It waits for that of
// another poll which asks the same. Without one c leads, so that others may join it, and is
// sent under lead as its context; or it is sent by itself, where it must not be given an older
// answer than its own. It may lead in room, the memory of a poll that is free; nil: there is none.
func (s *Shared) Join(ctx context.Context, c *inbound.Call, owner string, room *Poll) (lead *Poll, answer *Answer, err error) {
	if !mayShare(c) {
		return nil, nil, nil
	}
	own := newPoll(ctx, s, c, owner, room)
	if s.leadAlone(own) {
		return own, nil, nil
	}
	own.shown = true // to those who look for marks
	own.asks = own.digest()
	s.compareFirst(own)
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
	if s.alone.of(&own.task, own.hash) != nil || len(s.like) > 0 && len(s.like[own.task]) > 0 {
		return false
	}
	s.alone.add(own)
	s.lead(own, "")
	return true
}

// compareFirst puts the first poll of own's task among those that others are compared with.
func (s *Shared) compareFirst(own *Poll) {
	s.mu.Lock()
	first := s.alone.of(&own.task, own.hash)
	if first != nil {
		first.shown = true
	}
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
	if p.isAlone {
		p.asks = asks
		s.drop(p)
		s.file(p)
	}
}

// file has p be found by what it asks, in the place of an older one. Callers hold the lock.
func (s *Shared) file(p *Poll) {
	like := s.like[p.task]
	if like == nil {
		like = make(map[digest]*Poll, 1)
		s.like[p.task] = like
	}
	like[p.asks], p.isFiled = p, true
}

// join returns the poll whose answer own is to wait for, or own, which leads then. With a
// mark only a poll is joined that began when the change it stands for was known.
func (s *Shared) join(own *Poll, mark string) *Poll {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if p := s.like[own.task][own.asks]; p != nil && p.isOpen(now) && (mark == "" || mark == p.mark) {
		p.joined()
		return p
	}
	own.began = now
	s.file(own)
	s.lead(own, mark)
	return own
}

// lead has own begin. Callers hold the lock.
func (s *Shared) lead(own *Poll, mark string) {
	if mark == "" && len(s.marks) > 0 {
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
	s.alone.remove(p)
	if !p.isFiled {
		return
	}
	p.isFiled = false
	like := s.like[p.task]
	if like[p.asks] == p {
		delete(like, p.asks)
	}
	if len(like) == 0 {
		delete(s.like, p.task)
	}
}

// dropTask lets nobody join the polls of a task any more. Callers hold the lock.
func (s *Shared) dropTask(task sticky.Key) {
	if p := s.alone.of(&task, hashOf(&task)); p != nil {
		s.drop(p)
	}
	for _, p := range s.like[task] {
		s.drop(p)
	}
}

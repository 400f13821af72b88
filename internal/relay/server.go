package relay

import (
	"context"
	"sync"
	"time"
)

// server answers what others pass on to a mailbox.
type server struct {
	*Mailbox
	handle  Handle
	missed  chan struct{} // holds one: notices may have been missed
	running sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	byID   map[string]*served
	places int                  // taken of MaxServed
	before map[string]time.Time // what was taken, until its offer has expired for certain
}

func newServer(m *Mailbox, handle Handle) *server {
	return &server{Mailbox: m, handle: handle, missed: make(chan struct{}, 1), byID: make(map[string]*served), before: make(map[string]time.Time)}
}

// watch hears notices until ctx ends, or the store is closed.
func (s *server) watch(ctx context.Context) {
	err := s.store.Watch(ctx, topicOf(s.name), func(message string) {
		if message == "" {
			s.open.wakeAll()
			signal(s.missed)
			return
		}
		s.hear(ctx, message)
	})
	if err != nil {
		s.log.Debug("a mailbox hears no notices any more", "error", err)
	}
}

// look reads the inbox from time to time, until ctx ends.
func (s *server) look(ctx context.Context) {
	for {
		s.readInbox(ctx)
		s.forgetTaken()
		again := time.NewTimer(s.lookAgain())
		select {
		case <-ctx.Done():
		case <-again.C:
		case <-s.missed:
		}
		again.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// lookAgain is short while an answer may be closed whose notice is lost.
func (s *server) lookAgain() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) > 0 {
		return paceFirst
	}
	return paceMost
}

func (s *server) readInbox(ctx context.Context) {
	members, err := s.store.Members(ctx, inboxKey(s.name))
	if err != nil {
		return // it is looked at again
	}
	for _, member := range members {
		s.hear(ctx, member)
	}
}

// hear does not wait.
func (s *server) hear(ctx context.Context, text string) {
	n, ok := parseNotice(text)
	if !ok {
		return
	}
	switch n.kind {
	case offered:
		s.begin(ctx, n)
	case closed:
		s.close(ctx, n)
	case written, read:
		s.open.rise(n.id, n.n)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // the one that waits there will do
	}
}

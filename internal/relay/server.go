package relay

import (
	"context"
	"crypto/rand"
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
	places int // taken of MaxServed
}

func newServer(m *Mailbox, handle Handle) *server {
	return &server{Mailbox: m, handle: handle, missed: make(chan struct{}, 1), byID: make(map[string]*served)}
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

// begin sees to an offer, unless that is being done.
func (s *server) begin(ctx context.Context, n notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[n.id] != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	e := &served{server: s, id: n.id, from: n.from, offer: n.String(), nonce: rand.Text(), cancel: cancel, over: make(chan struct{})}
	if e.refused = s.places >= MaxServed; !e.refused {
		s.places++
	}
	s.byID[n.id] = e
	e.openExchange = s.open.add(n.id, cancel)
	s.running.Go(func() {
		defer s.forget(e)
		e.serve(ctx)
	})
}

func (s *server) forget(e *served) {
	e.cancel(nil)
	close(e.over)
	s.open.remove(e.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, e.id)
	if !e.refused {
		s.places--
	}
}

// close ends an answer that its reader has closed after so many parts, and removes the others.
func (s *server) close(ctx context.Context, n notice) {
	s.mu.Lock()
	e := s.byID[n.id]
	s.mu.Unlock()
	if e != nil {
		e.cancel(errClosed)
	}
	s.running.Go(func() {
		if e != nil {
			<-e.over
		}
		ctx, cancel := aside(ctx)
		defer cancel()
		s.clear(ctx, n.id, n.n, n.n+window+1)
		_ = s.store.RemoveMember(ctx, inboxKey(s.name), n.String()) // it is looked at again
	})
}

// clear removes what is left of an exchange: parts from one to before another.
func (s *server) clear(ctx context.Context, id string, from, to int) {
	_ = s.store.Delete(ctx, recordKey(id)) // what cannot be removed expires
	_ = s.store.Delete(ctx, readKey(id))
	for n := from; n < to; n++ {
		_ = s.store.Delete(ctx, partKey(id, n))
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // the one that waits there will do
	}
}

package relay

import (
	"context"
	"crypto/rand"
	"maps"
	"time"
)

// begin sees to an offer, unless that is being done, or was: a store that has lost its newest writes
// offers anew what was taken.
func (s *server) begin(ctx context.Context, n notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[n.id] != nil {
		return
	}
	if _, taken := s.before[n.id]; taken {
		s.running.Go(func() { s.unlist(ctx, n) })
		return
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	e := &served{server: s, id: n.id, from: n.from, offer: n, nonce: rand.Text(), cancel: cancel, over: make(chan struct{})}
	if e.refused = s.places >= MaxServed; !e.refused {
		s.places++
	}
	s.byID[n.id] = e
	e.openExchange = s.open.add(n.id, cancel)
	s.busy.Add(1)
	s.running.Go(func() {
		defer s.busy.Add(-1)
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
	if e.took {
		s.before[e.id] = time.Now().Add(2 * (offerPatience*s.life + offerSpare))
	}
}

// unlist takes a notice off the inbox. If that fails it is read again.
func (s *server) unlist(ctx context.Context, n notice) {
	ctx, cancel := aside(ctx)
	defer cancel()
	_ = s.store.RemoveMember(ctx, inboxKey(s.name), n.String())
}

// forgetTaken forgets what cannot be offered any more.
func (s *server) forgetTaken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.before, func(_ string, until time.Time) bool { return time.Now().After(until) })
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
		clearing, cancel := aside(ctx)
		defer cancel()
		s.clear(clearing, n.id, n.n, n.n+window+1)
		s.unlist(ctx, n)
	})
}

// clear removes what is left of an exchange: parts from one to before another.
func (s *server) clear(ctx context.Context, id string, from, to int) {
	s.remove(ctx, recordKey(id))
	s.remove(ctx, readKey(id))
	for n := from; n < to; n++ {
		s.remove(ctx, partKey(id, n))
	}
}

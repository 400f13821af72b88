package ledger

import (
	"context"
	"errors"
	"time"

	"berth/internal/renewal"
	"berth/internal/storage"
)

// LongestLease is the longest life of a lease that may be configured: that of one that does not tell its own.
const LongestLease = 5 * time.Minute

// Silences are the leases of others as this process looks at them with each beat: those are ended that stand by the store's clock
// alone, which may have gone back. It is one goroutine's.
type Silences struct {
	lists   Lists
	beat    time.Duration
	watches renewal.Watches // by holder
}

// Silences begins to look at leases.
func (l *Ledger) Silences() *Silences { return &Silences{lists: l.Lists, beat: l.Epoch.Beat()} }

// Stands reports whether a holder has a lease. One that was not renewed for longer than it lives, and a beat more, it ends:
// then the next look finds none.
func (s *Silences) Stands(ctx context.Context, holder string) (bool, error) {
	key := s.lists.LeaseOf(holder)
	lease, err := s.lists.store.Get(ctx, key)
	if err != nil {
		s.watches.Forget(holder)
		if errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	if s.watches.Stood(holder, lease.Version, string(lease.Value), 2*s.beat) >= lifeOf(lease.Value)+s.beat {
		_, _ = s.lists.store.Swap(ctx, key, lease.Version, lease.Value, time.Millisecond) // or its holder was first, or with the next beat
	}
	return true, nil
}

// Keep forgets all holders but these.
func (s *Silences) Keep(holders []string) { s.watches.Keep(holders) }

// Forget has what was seen not count: who lives may not have been able to renew.
func (s *Silences) Forget() { s.watches.ForgetAll() }

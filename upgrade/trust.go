package upgrade

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/storage"
)

// epochKey holds a name that lives as long as what the store holds: another one, or none,
// means that the store was flushed.
const epochKey = "upgrade:epoch"

// trust tells whether a task that the store does not know does not exist. After a flush
// or a fail-over its holder may not have put it back yet, and "unknown" is final to
// clients.
type trust struct {
	mu        sync.Mutex // guards the fields below
	epoch     string
	doubtedTo time.Time
	lost      time.Time // when the store may have lost something last; zero: not in this process's life
	word      time.Time // since when the store is well, by another's word; zero: nobody gave any
	given     time.Time // since when it was, by this process's own eyes, when that was given
}

// doubt has the store's word not count until all holders had the time to put back what
// they hold.
func (d *trust) doubt(span time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.doubtedTo = time.Now().Add(span)
}

// lose notes that the store may have lost what it held.
func (d *trust) lose() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lost, d.word = time.Now(), time.Time{}
}

// believe takes another's word for it that the store is well since then, unless this
// process has seen otherwise. It reports whether it did not know as much.
func (d *trust) believe(since, seen time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.lost.IsZero() || !since.Before(seen) || !d.word.IsZero() && !since.Before(d.word) {
		return false
	}
	d.word, d.given = since, seen
	return true
}

// wellSince is since when the store has kept what it held. Seen is since when it was
// healthy: a word that was given before an outage counts no more.
func (d *trust) wellSince(seen time.Time) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.word.IsZero() && d.given.Equal(seen):
		return d.word
	case d.lost.After(seen):
		return d.lost
	}
	return seen
}

func (d *trust) doubts() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.doubtedTo)
}

// steady reports whether the store has kept what it held for this long, as far as this
// process has seen.
func (d *trust) steady(span time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.lost) >= span
}

// enter notes the epoch that stands, and reports whether there was another before.
func (d *trust) enter(epoch string) (changed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed = d.epoch != "" && d.epoch != epoch
	d.epoch = epoch
	return changed
}

// miss says what it means that a task of the deployment was not found: ErrUnknown, or
// that nobody can say for now.
func (t *Tasks) miss(ctx context.Context) error {
	if !t.store.Shared() {
		return ErrUnknown
	}
	if err := t.checkEpoch(ctx); err != nil {
		return err
	}
	if t.trust.doubts() {
		return storage.ErrUnavailable
	}
	return ErrUnknown
}

// checkEpoch finds out whether the store still holds what it held. If it was flushed, all
// that this process holds is put back.
func (t *Tasks) checkEpoch(ctx context.Context) error {
	record, err := t.store.Get(ctx, epochKey)
	fresh := errors.Is(err, storage.ErrNotFound)
	if fresh {
		record, _, err = t.store.PutIfAbsent(ctx, epochKey, []byte(newName(9)), 0)
	}
	if err != nil {
		return err
	}
	changed := t.trust.enter(string(record.Value))
	if changed {
		t.trust.lose()
	}
	if changed || fresh {
		t.trust.doubt(t.settling())
		t.wakeBeat()
	}
	return nil
}

// checkEpochInTime is checkEpoch for a beat, which does not come again in time to put back
// what is lost: while the store is well, one reply that was late is asked for again.
func (t *Tasks) checkEpochInTime(ctx context.Context) (err error) {
	for range looksAtOnce {
		if err = t.checkEpoch(ctx); err == nil || !t.store.Health().Healthy {
			return err
		}
	}
	return err
}

// settling is how long holders may take to put back what a store has lost.
func (t *Tasks) settling() time.Duration { return 2 * t.beat() }

// beat is how often a holder renews its lease, and looks for what nobody told it.
func (t *Tasks) beat() time.Duration { return t.life / 3 }

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
	lost      time.Time // when the store may have lost something last
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
	d.lost = time.Now()
}

func (d *trust) doubts() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.doubtedTo)
}

// steady reports whether the store has kept what it held for this long.
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

// settling is how long holders may take to put back what a store has lost.
func (t *Tasks) settling() time.Duration { return 2 * t.beat() }

// beat is how often a holder renews its lease, and looks for what nobody told it.
func (t *Tasks) beat() time.Duration { return t.life / 3 }

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
	doubtedTo time.Time // until when what is missing may only be lost
	lossTo    time.Time // the same, of what this process has seen there
	recovered time.Time // when the store was away last; zero: it never was
}

// doubt has the store's word not count until all holders had the time to put back what
// they hold.
func (d *trust) doubt(span time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recovered = time.Now()
	d.doubtedTo = d.recovered.Add(span)
	d.lossTo = d.doubtedTo
}

// doubtBefore is doubt where this process sees the store for the first time, and it is as
// good as empty: most often nothing was ever there.
func (d *trust) doubtBefore(span time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recovered = time.Now()
	d.doubtedTo = d.recovered.Add(span)
}

// interrupt notes that the store has not kept this process's lease. It may serve reads all
// the same, as a server does whose memory is full, and then it shows leases of others as
// run out that nobody could renew.
func (d *trust) interrupt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recovered = time.Now()
}

func (d *trust) doubts() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.doubtedTo)
}

// mayLack reports whether something that this process has seen there may be lost still.
func (d *trust) mayLack() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.lossTo)
}

// steady reports whether the store has served for this long without a break.
func (d *trust) steady(span time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.recovered) >= span
}

// enter notes the epoch that stands, and returns the one before; "" if there was none.
func (d *trust) enter(epoch string) (before string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.epoch = d.epoch, epoch
	return before
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
	switch before := t.trust.enter(string(record.Value)); {
	case before == "" && fresh:
		t.trust.doubtBefore(t.settling())
	case before != "" && before != string(record.Value):
		t.trust.doubt(t.settling())
		t.wakeBeat()
	}
	return nil
}

// settling is how long holders may take to put back what a store has lost.
func (t *Tasks) settling() time.Duration { return 2 * t.beat() }

// beat is how often a holder renews its lease, and looks for what nobody told it.
func (t *Tasks) beat() time.Duration { return t.lease / 3 }

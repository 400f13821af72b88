package relay

import (
	"cmp"
	"context"
	"errors"
	"time"

	"berth/internal/storage"
)

// beat keeps the lease, and watches over those of the berths that exchanges are open with.
func (m *Mailbox) beat(ctx context.Context) {
	tick := time.NewTicker(m.life / 3)
	defer tick.Stop()
	for {
		if err := m.renew(ctx); err != nil && ctx.Err() == nil {
			m.log.Debug("the lease of this berth's mailbox was not renewed", "error", err)
		}
		m.unsaid.again(ctx)
		m.peers.check(ctx, m.stands)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// renew notes whether the store has lost the lease: those of others are lost with it, until they renew theirs.
func (m *Mailbox) renew(ctx context.Context) error {
	m.mu.Lock()
	version := m.version
	m.mu.Unlock()
	until, key, value := time.Now().Add(m.life), leaseKey(m.name), []byte("stands")
	standing, err := m.store.Swap(ctx, key, version, value, m.life)
	if errors.Is(err, storage.ErrConflict) { // the last renewal was not acknowledged
		standing, err = m.store.Swap(ctx, key, standing.Version, value, m.life)
	}
	missing := errors.Is(err, storage.ErrNotFound)
	if missing {
		standing, _, err = m.store.PutIfAbsent(ctx, key, value, m.life)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if missing && !m.until.IsZero() {
		m.lost = time.Now()
	}
	m.until, m.version = until, standing.Version
	return nil
}

// stayAlive sees to it that others take this berth to be there.
func (m *Mailbox) stayAlive(ctx context.Context) error {
	m.mu.Lock()
	fresh := time.Now().Before(m.until)
	m.mu.Unlock()
	if fresh {
		return nil
	}
	return m.renew(ctx)
}

// resign tells others that this berth is not there any more.
func (m *Mailbox) resign() {
	ctx, cancel := aside(context.Background())
	defer cancel()
	_ = m.store.Delete(ctx, leaseKey(m.name)) // else it runs out
}

// stands fails with ErrGone if a berth has no lease.
func (m *Mailbox) stands(ctx context.Context, name string) error {
	_, err := m.store.Get(ctx, leaseKey(name))
	if errors.Is(err, storage.ErrNotFound) {
		return ErrGone
	}
	return err
}

// awaitStanding is stands for who does not ask again: where the store has lost leases, it waits until the berth has renewed its own.
func (m *Mailbox) awaitStanding(ctx context.Context, name string) error {
	for {
		err := m.stands(ctx, name)
		if !errors.Is(err, ErrGone) {
			return err
		}
		if doubted, err := m.doubted(ctx); err != nil || !doubted {
			return cmp.Or(err, ErrGone)
		}
		select {
		case <-time.After(paceFirst):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// doubted reports whether berths that live may have no lease.
func (m *Mailbox) doubted(ctx context.Context) (bool, error) {
	err := m.stands(ctx, m.name)
	if errors.Is(err, ErrGone) {
		err = m.renew(ctx)
	}
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.lost.IsZero() && time.Since(m.lost) < beatsToRenew*m.life/3, nil
}

// beatsToRenew are how many beats a berth may take to put back a lease that the store has lost.
const beatsToRenew = 2

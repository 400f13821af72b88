package relay

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"berth/internal/storage"
)

// standsValue is what a lease says. Its version tells that it was renewed.
var standsValue = []byte("stands")

// askedValue stands in the place of a missing lease for a moment, as it is found out whether one could be written there.
var askedValue = []byte("asked")

// beat keeps the lease, and watches over those of the berths that exchanges are open with.
func (m *Mailbox) beat(ctx context.Context) {
	tick := time.NewTicker(m.life / 3)
	defer tick.Stop()
	for {
		if err := m.renew(ctx); err != nil && ctx.Err() == nil {
			m.log.Debug("the lease of this berth's mailbox was not renewed", "error", err)
		}
		m.unsaid.again(ctx)
		m.peers.check(ctx, m)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// renew notes whether the store has lost the lease, or does not take it: so it does with those of others, until they have renewed theirs.
func (m *Mailbox) renew(ctx context.Context) error {
	until := time.Now().Add(m.life)
	err := m.lease.Renew(ctx, standsValue)
	if errors.Is(err, storage.ErrConflict) {
		err = nil // another beat was first
	}
	missing := errors.Is(err, storage.ErrNotFound)
	if missing {
		err = m.lease.Begin(ctx, standsValue)
		_, _ = m.isYoung(ctx) // so that others hear of it
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || missing && !m.until.IsZero() {
		m.lost = time.Now()
	}
	if err == nil {
		m.until = until
	}
	return err
}

// Recovered is told when the store is back after an outage: it may have lost leases, or let them run out.
func (m *Mailbox) Recovered() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.until.IsZero() {
		m.lost = time.Now()
	}
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

// stands fails with ErrGone if a berth has no lease, and with errDoubted if berths that live may have none.
func (m *Mailbox) stands(ctx context.Context, name string) error {
	_, err := m.standsAt(ctx, name)
	return err
}

// standsAt is stands, and returns the lease's version.
func (m *Mailbox) standsAt(ctx context.Context, name string) (version uint64, err error) {
	version, err = m.holds(ctx, name)
	if !errors.Is(err, ErrGone) {
		return version, err
	}
	doubted, unsure := m.doubted(ctx)
	switch {
	case unsure != nil:
		return 0, unsure
	case !m.couldRenew(ctx, name, doubted), doubted:
		return 0, errDoubted
	}
	return 0, err
}

// couldRenew reports whether the store takes writes where the lease of a berth is missing, as far as it is asked: one of its servers may
// refuse them while the others take all. In doubt it is asked again and again, and once in a while is enough.
func (m *Mailbox) couldRenew(ctx context.Context, name string, doubted bool) bool {
	m.mu.Lock()
	lately := doubted && time.Since(m.asked) < m.life/askEvery
	if !lately {
		m.asked = time.Now()
	}
	m.mu.Unlock()
	if lately {
		return true
	}
	standing, made, err := m.store.PutIfAbsent(ctx, leaseKey(name), askedValue, time.Millisecond)
	if err != nil && ctx.Err() == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.lost = time.Now()
	}
	return err == nil && (made || isAsked(standing))
}

func isAsked(lease storage.Record) bool { return string(lease.Value) == string(askedValue) }

// end ends a lease that its berth does not renew, though the store's clock has it stand, unless berths that live could not renew theirs.
func (m *Mailbox) end(ctx context.Context, name string, version uint64) {
	if doubted, err := m.doubted(ctx); !doubted && err == nil {
		_, _ = m.store.Swap(ctx, leaseKey(name), version, standsValue, time.Millisecond) // or its berth was first, or with the next beat
	}
}

// awaitStanding is stands for who does not ask again: it waits until nothing is in doubt.
func (m *Mailbox) awaitStanding(ctx context.Context, name string) error {
	for {
		err := m.stands(ctx, name)
		if !errors.Is(err, errDoubted) {
			return err
		}
		select {
		case <-time.After(paceFirst):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// holds fails with ErrGone if the store has no lease of a berth. It returns the lease's version.
func (m *Mailbox) holds(ctx context.Context, name string) (version uint64, err error) {
	lease, err := m.store.Get(ctx, leaseKey(name))
	if errors.Is(err, storage.ErrNotFound) || err == nil && isAsked(lease) {
		return 0, ErrGone
	}
	return lease.Version, err
}

// doubted reports whether the store has lost leases, or did not take them, so lately that they are not all back.
func (m *Mailbox) doubted(ctx context.Context) (bool, error) {
	_, err := m.holds(ctx, m.name)
	if errors.Is(err, ErrGone) {
		err = m.renew(ctx)
	}
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	lately := !m.lost.IsZero() && time.Since(m.lost) < beatsToRenew*m.life/3
	m.mu.Unlock()
	if lately {
		return true, nil
	}
	return m.isYoung(ctx)
}

// isYoung reports whether the store was empty lately: a berth that has started since has lost nothing itself. Whoever finds it empty
// notes in it since when it is not.
func (m *Mailbox) isYoung(ctx context.Context) (bool, error) {
	now, err := m.store.Now(ctx)
	if err != nil {
		return false, err
	}
	record, err := m.store.Get(ctx, sinceKey)
	if errors.Is(err, storage.ErrNotFound) {
		record, _, err = m.store.PutIfAbsent(ctx, sinceKey, []byte(strconv.FormatInt(now.UnixMilli(), 10)), 0)
	}
	if err != nil {
		return false, err
	}
	since, _ := strconv.ParseInt(string(record.Value), 10, 64) // what is none is long ago
	age := now.Sub(time.UnixMilli(since))                      // less than 0: the store's clock went back since
	return 0 <= age && age < beatsToRenew*m.life/3, nil
}

// errDoubted says that a berth has no lease, and may live.
var errDoubted = fmt.Errorf("relay: leases are being put back: %w", storage.ErrUnavailable)

// askEvery is the part of a lease's life after which it is asked again whether it could be renewed.
const askEvery = 15

// beatsToRenew are how many beats a berth may take to put back a lease that the store has lost.
const beatsToRenew = 2

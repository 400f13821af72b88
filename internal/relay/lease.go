package relay

import (
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

func (m *Mailbox) renew(ctx context.Context) error {
	until := time.Now().Add(m.life)
	if err := m.store.Put(ctx, leaseKey(m.name), []byte("stands"), m.life); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until = until
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

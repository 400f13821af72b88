package upgrade

import (
	"context"
	"errors"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/upgrade/task"
)

// storeTime bounds one step, of several operations on the store.
const storeTime = 5 * time.Second

// store is what is asked of a *storage.Store.
type store interface {
	storage.Engine
	Shared() bool
	Durable() bool
	Health() storage.Health
	OnRecover(hook func())
}

// Ledger is what a deployment's store holds of its tasks, as one process sees and keeps it.
type Ledger struct {
	store    store
	holder   string // this process
	records  records
	lists    lists
	asks     asks
	once     onceKeys
	sessions Sessions
	queues   *queues
	notices  *notices
	clock    *clock
	epoch    *epoch
	lease    *lease
	backlog  *backlog
	quota    *quota
	ids      *task.IDs
}

// newLedger returns what is in a store. life is that of a lease.
func newLedger(s store, keys *seal.Keyring, life time.Duration, kept Bounds) *Ledger {
	l := &Ledger{
		store: s, holder: task.NewName(16), records: records{s, keys}, lists: lists{s}, asks: asks{lists{s}}, once: onceKeys{s},
		clock: &clock{store: s}, backlog: newBacklog(), quota: newQuota(kept), ids: task.NewIDs(keys),
	}
	l.queues = newQueues(l.lists)
	l.notices = newNotices(s, l.holder, l.queues)
	l.sessions = Sessions{l.lists, l.records, l.notices}
	l.epoch = &epoch{store: s, clock: l.clock, lists: l.lists, holder: l.holder, life: life, woken: make(chan struct{}, 1), renewal: make(chan struct{}, 1)}
	l.lease = newLease(l.lists, l.holder, life, l.epoch.word)
	return l
}

// newOp returns a new op of this process.
func (l *Ledger) newOp(kind task.Kind) task.Op {
	return task.Op{ID: task.NewName(9), Kind: kind, At: l.clock.now(), Holder: l.holder}
}

// read returns a record, and asks a second time if a store that is well otherwise was late:
// some clients give a task up at the first error.
func (l *Ledger) read(ctx context.Context, id string) (entry, error) {
	e, err := l.records.get(ctx, id)
	if errors.Is(err, storage.ErrUnavailable) && l.store.Health().Healthy {
		e, err = l.records.get(ctx, id)
	}
	return e, err
}

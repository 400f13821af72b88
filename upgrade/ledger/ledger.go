package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/timed"
	"berth/upgrade/queues"
	"berth/upgrade/quota"
	"berth/upgrade/task"
)

var (
	// ErrDraining says that this berth takes on no more tasks.
	ErrDraining = errors.New("upgrade: draining")
	// ErrTooMany says that a principal, or this process, has as many live tasks as the
	// rule allows.
	ErrTooMany = errors.New("upgrade: too many live tasks")
)

// StoreTime bounds one step, of several operations on the store.
const StoreTime = 5 * time.Second

// Bounded bounds one step.
func Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return timed.Within(ctx, StoreTime)
}

// InTime is Bounded where there is something to wait for: what is in memory waits for nobody.
func (l *Ledger) InTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.Dies() {
		return ctx, func() {}
	}
	return Bounded(ctx)
}

// Store is what is asked of a *storage.Store.
type Store interface {
	storage.Engine
	InOrder(ctx context.Context, steps ...storage.Step) (done int, standing storage.Record, err error)
	Shared() bool
	Durable() bool
	Server(ctx context.Context) (string, error)
	Health() storage.Health
	OnRecover(hook func())
}

// Ledger is what a deployment's store holds of its tasks, as one process sees and keeps it.
type Ledger struct {
	Store      Store
	Holder     string // this process
	tasks      string // the list of its tasks
	Records    Records
	Lists      Lists
	Asks       Asks
	Once       OnceKeys
	Sessions   Sessions
	Queues     *queues.Queues
	Pauses     *queues.Pauses
	Notices    *Notices
	Clock      *Clock
	Epoch      *Epoch
	Lease      *Lease
	Backlog    *Backlog
	Pending    *Pending
	Quota      *quota.Quota
	Outbox     *Outbox
	Overlooked *Overlooked
	Strays     *Strays
	IDs        *task.IDs
	unmade     unmade
	ops        *ops
}

// New returns what is in a store. holder is this process's name, no other one's; if it is "", one is made.
// life is that of a lease.
func New(s Store, holder string, keys *seal.Keyring, life time.Duration, kept quota.Bounds) *Ledger {
	outbox := &Outbox{store: s, lists: Lists{s}}
	l := &Ledger{
		Store: s, Holder: cmp.Or(holder, task.NewName(16)), Records: Records{s, keys, outbox}, Outbox: outbox, Lists: Lists{s}, Asks: Asks{Lists{s}}, Once: OnceKeys{s},
		Clock: &Clock{store: s}, Backlog: newBacklog(), Pending: newPending(), Quota: quota.New(kept), IDs: task.NewIDs(keys), unmade: newUnmade(), ops: newOps(),
	}
	l.tasks = l.Lists.TasksOf(l.Holder)
	outbox.clock, l.Queues, l.Pauses = l.Clock, queues.New(s, StoreTime), queues.NewPauses(s, StoreTime)
	l.Overlooked = &Overlooked{l: l, met: map[string]overlooked{}}
	l.Notices = newNotices(s, l.Holder, l.Queues, l.Pauses)
	l.Sessions = Sessions{l.Lists, l.Records, l.Notices}
	l.Epoch = &Epoch{store: s, clock: l.Clock, lists: l.Lists, holder: l.Holder, begun: time.Now(), Life: life, Woken: make(chan struct{}, 1), Renewal: make(chan struct{}, 1)}
	l.Strays = &Strays{clock: l.Clock, beat: l.Epoch.Beat(), met: map[string]string{}}
	l.Lease = newLease(l.Lists, l.Holder, life, l.Epoch.word)
	return l
}

// Deliveries are the rights to tell clients.
func (l *Ledger) Deliveries() Deliveries { return Deliveries{l} }

// Read returns a record, and asks a second time if a store that is well otherwise was late:
// some clients give a task up at the first error.
func (l *Ledger) Read(ctx context.Context, id string) (Entry, error) {
	e, err := l.Records.Get(ctx, id)
	if errors.Is(err, storage.ErrUnavailable) && l.Store.Health().Healthy {
		e, err = l.Records.Get(ctx, id)
	}
	return e, err
}

// TakeOn lists a task as this process's, before its record says so.
func (l *Ledger) TakeOn(ctx context.Context, t *task.Task) error {
	if err := l.mayTakeOn(ctx); err != nil {
		return err
	}
	return l.ListHeld(ctx, t.ID, l.Left(t))
}

// mayTakeOn sees to it that this process can have a task listed as its own.
func (l *Ledger) mayTakeOn(ctx context.Context) error {
	if err := l.Clock.Known(ctx); err != nil {
		return err
	}
	return l.stayAlive(ctx)
}

// ListHeld lists a task as this process's for life. The holder is listed each time: after
// a flush this may come before the beat that notices it, and be the last thing that the
// process does.
func (l *Ledger) ListHeld(ctx context.Context, id string, life time.Duration) error {
	return l.listAs(ctx, l.Holder, id, life)
}

// listAs lists a task as a holder's, and the holder, for life.
func (l *Ledger) listAs(ctx context.Context, holder, id string, life time.Duration) error {
	steps := l.heldBy(holder, id, life)
	return l.inOrder(ctx, steps[:]...)
}

// heldBy are the steps by which a task is listed as a holder's, and the holder, for life.
func (l *Ledger) heldBy(holder, id string, life time.Duration) [2]storage.Step {
	return [...]storage.Step{storage.Keeping(l.Lists.Holders(), holder, 0), keeping(l.tasksOf(holder), id, life+Spare)}
}

// tasksOf is that of Lists, whose name for this process's own is made once.
func (l *Ledger) tasksOf(holder string) string {
	if holder == l.Holder {
		return l.tasks
	}
	return l.Lists.TasksOf(holder)
}

func (l *Ledger) inOrder(ctx context.Context, steps ...storage.Step) error {
	if _, _, err := l.Store.InOrder(ctx, steps...); err != nil {
		return fmt.Errorf("upgrade: listing a task: %w", err)
	}
	return nil
}

// stayAlive sees to it that others take this process for alive. Who is taken for dead takes
// nothing on: others see to all that is listed as his.
func (l *Ledger) stayAlive(ctx context.Context) error {
	if !l.Store.Shared() || l.Lease.fresh() {
		return nil
	}
	err := l.Lease.Renew(ctx)
	if errors.Is(err, ErrLeaseLost) {
		l.Epoch.WakeBeat()
		return nil
	}
	return err
}

// AddTask lists a task where it can be found without its id: as its principal's, and in the
// session that its call lives in.
func (l *Ledger) AddTask(ctx context.Context, t *task.Task, life time.Duration) error {
	return l.inOrder(ctx, l.listed(nil, t, life)...)
}

// listed adds the steps of AddTask to others.
func (l *Ledger) listed(to []storage.Step, t *task.Task, life time.Duration) []storage.Step {
	if l.Alone() {
		to = append(to, keeping(l.Lists.All(), t.ID, life+Spare))
	}
	if t.Principal != "" {
		to = append(to, keeping(l.Lists.MadeBy(t.Pool, t.Principal), t.ID, life+Spare))
	}
	if t.Session != "" {
		to = append(to, keeping(l.Lists.HeldIn(t.Session), t.ID, life+Spare))
	}
	return to
}

// DropCall removes the call of a task that has ended: nobody sends it any more, unless an operator may
// have it made again, and what it asked is told apart by its digest. If the store does not take that now,
// it does later. size is that of the call, 0 if it is not known.
func (l *Ledger) DropCall(ctx context.Context, t *task.Task, size int64) {
	if t.MayRerun() {
		return
	}
	key, remove := CallKey(t.ID), storage.DeleteBlob
	if IsSmall(size) {
		remove = storage.DeleteSmallBlob
	}
	l.Backlog.Do(ctx, func(ctx context.Context) error { return remove(ctx, l.Store, key) })
}

// smallCall is the size of a call that is kept whole, however much is escaped and sealed of it.
const smallCall = storage.SmallBlob / 10

// Unavailable makes a step that took too long the store's fault.
func Unavailable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(storage.ErrUnavailable, err)
	}
	return err
}

// Alone reports whether this process has a store for itself that outlives it.
func (l *Ledger) Alone() bool { return !l.Store.Shared() && l.Store.Durable() }

// Dies reports whether the store dies with this process, and is its own: what a holder knows of a task is as safe with the
// holder as it is there.
func (l *Ledger) Dies() bool { return !l.Store.Shared() && !l.Store.Durable() }

// Left is how long the task is to live.
func (l *Ledger) Left(t *task.Task) time.Duration { return l.Clock.until(t.Expires()) }

// Expires returns when the task may be forgotten, as the timers of this process count.
func (l *Ledger) Expires(t *task.Task) time.Time { return l.Clock.Here(t.Expires()) }

// Withholds reports whether the client of a task may yet get something else in its place:
// then nobody else is to be told of it, for it may be gone in a moment. Who has its id has
// it from the handle, and need not ask.
func (l *Ledger) Withholds(t *task.Task) bool {
	return !t.Withheld.IsZero() && l.Clock.Now().Before(t.Withheld)
}

// CountAll counts the tasks that stand in a store which no other process shares.
func (l *Ledger) CountAll(ctx context.Context) error {
	ids, err := l.Store.Members(ctx, l.Lists.All())
	if err != nil {
		return err
	}
	if err := l.Clock.Known(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		e, err := l.Records.Get(ctx, id)
		switch {
		case err == nil:
			l.Quota.Count(id, e.Caller, e.Weight(), 0, l.Expires(e.Task).Add(Spare))
		case !errors.Is(err, ErrUnknown):
			return err
		}
	}
	return nil
}

// SettleQuota counts what is left of a task whose call this process has let go of. One that
// another berth goes on with is that one's to count.
func (l *Ledger) SettleQuota(t *task.Task) {
	switch {
	case t.State.Terminal(), t.State == task.InputRequired:
		l.Quota.Settle(t.ID, t.Weight())
	case t.Holder != l.Holder:
		l.Quota.Drop(t.ID)
	default:
		l.Quota.LetGo(t.ID)
	}
}

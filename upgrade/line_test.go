package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/storage"
)

// errDead is what a process that was killed gets of the store. It is no outage: nothing is
// tried again, so that what the process began ends.
var errDead = errors.New("this process is dead")

// line is a berth's way to its store: it breaks, loses answers, and stands still with its
// process, at any operation.
type line struct {
	*storage.Store
	at     *cell
	shared bool
	atOnce bool          // what is done in order is one operation
	lasts  bool          // pretend that records outlive the process
	ahead  time.Duration // of the berths' clocks the store's is
	died   func()        // is told of a death at an operation; nil: nobody is
	lease  time.Duration // how long the process is taken for alive after it has renewed its lease; 0: nobody asks
	lapsed func()        // is told when that was over before the next renewal

	mu     sync.Mutex // guards the fields below
	hooks  []func()
	down   bool
	since  time.Time // when it last came up or went down
	dead   bool
	thawed chan struct{} // closed with the end of a standstill; nil without one
	stood  time.Time     // when the lease was renewed last; zero: it never was
	mute   int           // so many of the next writes are done and not acknowledged
	one    func() bool   // whether this write is not; nil: it is
	fuse   int           // at so many operations from now the process dies; 0: it does not
	after  bool          // it dies with the operation done
	fail   func(op, key string) bool
	delay  func() time.Duration // of each reply; nil: none is late
	ops    []string             // that were asked for, while logging is on
	logged bool
	longer time.Duration // than it is to a lease stands, as if the store's clock went back

	told atomic.Int64 // members of lists
}

// cell holds a store, in the place of which another can be put: what it held is lost then.
type cell struct{ atomic.Pointer[storage.Store] }

func newCell(s *storage.Store) *cell {
	c := new(cell)
	c.Store(s)
	return c
}

func newLine(at *cell, shared bool) *line {
	s := at.Load()
	return &line{Store: s, at: at, shared: shared || s.Shared(), since: time.Now().Add(-time.Hour)}
}

// Shared implements store.
func (l *line) Shared() bool { return l.shared }

// Durable implements store.
func (l *line) Durable() bool { return l.lasts || l.Store.Durable() }

// OnRecover implements store.
func (l *line) OnRecover(hook func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hooks = append(l.hooks, hook)
	l.Store.OnRecover(hook)
}

// Health implements store.
func (l *line) Health() storage.Health {
	h := l.Store.Health()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		h.Healthy = false
	}
	if l.since.After(h.Since) || !l.Store.Shared() {
		h.Since = l.since
	}
	return h
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.since = true, time.Now()
}

// mend ends a cut, and tells so.
func (l *line) mend() {
	l.mu.Lock()
	was, hooks := l.down, slices.Clone(l.hooks)
	if was {
		l.down, l.since = false, time.Now()
	}
	l.mu.Unlock()
	for _, hook := range hooks {
		if was {
			hook()
		}
	}
}

// freeze has the process stand still.
func (l *line) freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.thawed == nil {
		l.thawed = make(chan struct{})
	}
}

func (l *line) thaw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.thawed != nil {
		close(l.thawed)
		l.thawed = nil
	}
}

func (l *line) die() {
	l.mu.Lock()
	l.dead = true
	l.mu.Unlock()
	l.thaw()
}

func (l *line) tell() {
	if l.died != nil {
		l.died()
	}
}

func (l *line) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// stand waits while the process stands still, and reports whether it lives.
func (l *line) stand() bool {
	for {
		l.mu.Lock()
		thawed, dead := l.thawed, l.dead
		l.mu.Unlock()
		if thawed == nil || dead {
			return !dead
		}
		<-thawed
	}
}

// burn has the process die at that operation from now on, before or after it is done.
func (l *line) burn(operations int, after bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fuse, l.after = operations, after
}

// spark reports whether the process dies now: before the operation, or after it.
func (l *line) spark() (before, after bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fuse == 0 {
		return false, false
	}
	l.fuse--
	return l.fuse == 0 && !l.after, l.fuse == 0 && l.after
}

// refused reports whether the store cannot be reached, or is not to do this.
func (l *line) refused(op, key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.logged {
		l.ops = append(l.ops, op+" "+key)
	}
	return l.down || l.fail != nil && l.fail(op, key)
}

// unheard reports whether the answer to this write is lost.
func (l *line) unheard() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.one != nil && l.one() {
		return true
	}
	if l.mute == 0 {
		return false
	}
	l.mute--
	return true
}

// mutes has so many of the next writes be done and not acknowledged.
func (l *line) mutes(writes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mute = writes
}

func (l *line) muteOne(which func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.one = which
}

// refuse has the store not do what is told, by operation and key; nil: it does all.
func (l *line) refuse(what func(op, key string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = what
}

// lag has replies be as late as delay says, each time that it is asked; nil: at once.
func (l *line) lag(delay func() time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = delay
}

// patience is how long a store waits for a reply.
const patience = 250 * time.Millisecond

// inTime waits for the reply to what was done, and reports whether it came in time.
func (l *line) inTime(ctx context.Context) bool {
	l.mu.Lock()
	var late time.Duration
	if l.delay != nil {
		late = l.delay()
	}
	l.mu.Unlock()
	if late == 0 {
		return true
	}
	select {
	case <-time.After(min(late, patience)):
		return late <= patience
	case <-ctx.Done():
		return false
	}
}

// note has the operations be noted from now on.
func (l *line) note() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logged = true
}

func (l *line) asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ops)
}

// do passes an operation on the way that the line is now.
func (l *line) do(ctx context.Context, op, key string, writes bool, f func() error) error {
	if !l.stand() {
		return errDead
	}
	before, after := l.spark()
	if before {
		l.die()
		l.tell()
		return errDead
	}
	if l.refused(op, key) {
		return fmt.Errorf("%w: the line is cut", storage.ErrUnavailable)
	}
	err := f()
	if after {
		l.die()
		l.tell()
	}
	if !l.stand() {
		return errDead
	}
	if writes && l.unheard() || !l.inTime(ctx) {
		return fmt.Errorf("%w: no answer", storage.ErrUnavailable)
	}
	return err
}

// Get implements storage.Engine.
func (l *line) Get(ctx context.Context, key string) (r storage.Record, err error) {
	err = l.do(ctx, "get", key, false, func() (err error) {
		r, err = l.at.Load().Get(ctx, key)
		return err
	})
	return r, err
}

// Server implements store.
func (l *line) Server(ctx context.Context) (name string, err error) {
	err = l.do(ctx, "server", "", false, func() (err error) {
		at := l.at.Load()
		name, err = at.Server(ctx)
		if !at.Shared() {
			name = fmt.Sprintf("%p", at)
		}
		return err
	})
	return name, err
}

// PutIfAbsent implements storage.Engine.
func (l *line) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (r storage.Record, made bool, err error) {
	err = l.do(ctx, "make", key, true, func() (err error) {
		r, made, err = l.at.Load().PutIfAbsent(ctx, key, value, l.stands(key, ttl))
		l.renewed(key, made)
		return err
	})
	return r, made, err
}

// Swap implements storage.Engine.
func (l *line) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (r storage.Record, err error) {
	err = l.do(ctx, "swap", key, true, func() (err error) {
		r, err = l.at.Load().Swap(ctx, key, version, value, l.stands(key, ttl))
		l.renewed(key, err == nil)
		return err
	})
	return r, err
}

// outlast has the process's lease stand longer than it is to.
func (l *line) outlast(by time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longer = by
}

// stands is for how long a record does that is to stand for so long. What ends one is no renewal.
func (l *line) stands(key string, life time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if life > 100*time.Millisecond && strings.HasPrefix(key, "upgrade:holder:{") {
		life += l.longer
	}
	return life
}

// renewed notes that the process has written its lease, if key is that, whether it will hear of it or not.
func (l *line) renewed(key string, written bool) {
	if l.lease == 0 || !written || !strings.HasPrefix(key, "upgrade:holder:{") {
		return
	}
	if l.hasLapsed() {
		l.lapsed()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stood = time.Now()
}

// hasLapsed reports whether others may take the process for dead: it has not renewed its lease in time.
func (l *line) hasLapsed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease > 0 && !l.stood.IsZero() && time.Since(l.stood) >= l.lease
}

// InOrder implements ledger.Store.
func (l *line) InOrder(ctx context.Context, steps ...storage.Step) (done int, standing storage.Record, err error) {
	if !l.atOnce || len(steps) == 1 {
		return storage.OneByOne(ctx, l, steps)
	}
	err = l.do(ctx, "at once", l.says(steps), true, func() (err error) {
		done, standing, err = l.at.Load().InOrder(ctx, steps...)
		return err
	})
	if err != nil {
		done = 0
	}
	return done, standing, err
}

// says is what steps are noted as.
func (l *line) says(steps []storage.Step) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.logged {
		return ""
	}
	said := make([]string, len(steps))
	for i, step := range steps {
		said[i] = step.String()
	}
	return strings.Join(said, " ")
}

// Put implements storage.Engine.
func (l *line) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return l.do(ctx, "put", key, true, func() error { return l.at.Load().Put(ctx, key, value, ttl) })
}

// Delete implements storage.Engine.
func (l *line) Delete(ctx context.Context, key string) error {
	return l.do(ctx, "delete", key, true, func() error { return l.at.Load().Delete(ctx, key) })
}

// AddMember implements storage.Engine.
func (l *line) AddMember(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	return l.do(ctx, "enlist", list, true, func() error { return l.at.Load().AddMember(ctx, list, member, ttl, most) })
}

// KeepMembers implements storage.Engine.
func (l *line) KeepMembers(ctx context.Context, list string, members ...storage.Member) error {
	return l.do(ctx, "keep", list, true, func() error { return l.at.Load().KeepMembers(ctx, list, members...) })
}

// Listing implements storage.Engine.
func (l *line) Listing(ctx context.Context, list string, most int) (listing storage.Listing, err error) {
	err = l.do(ctx, "listing", list, false, func() (err error) {
		listing, err = l.at.Load().Listing(ctx, list, most)
		return err
	})
	return listing, err
}

// Page implements storage.Engine.
func (l *line) Page(ctx context.Context, list, from string, most int) (page storage.Page, err error) {
	err = l.do(ctx, "page", list, false, func() (err error) {
		page, err = l.at.Load().Page(ctx, list, from, most)
		return err
	})
	return page, err
}

// RemoveMember implements storage.Engine.
func (l *line) RemoveMember(ctx context.Context, list, member string) error {
	return l.do(ctx, "delist", list, true, func() error { return l.at.Load().RemoveMember(ctx, list, member) })
}

// Members implements storage.Engine.
func (l *line) Members(ctx context.Context, list string) (members []string, err error) {
	err = l.do(ctx, "members", list, false, func() (err error) {
		members, err = l.at.Load().Members(ctx, list)
		l.told.Add(int64(len(members)))
		return err
	})
	return members, err
}

// Now implements storage.Engine.
func (l *line) Now(ctx context.Context) (now time.Time, err error) {
	err = l.do(ctx, "now", "", false, func() (err error) {
		now, err = l.at.Load().Now(ctx)
		return err
	})
	return now.Add(l.ahead), err
}

// Notify implements storage.Engine.
func (l *line) Notify(ctx context.Context, topic, message string) error {
	return l.do(ctx, "notify", topic, true, func() error { return l.at.Load().Notify(ctx, topic, message) })
}

// Watch implements storage.Engine.
func (l *line) Watch(ctx context.Context, topic string, heard func(string)) error {
	return l.Store.Watch(ctx, topic, func(message string) {
		l.mu.Lock()
		deaf := l.down || l.dead || l.thawed != nil
		l.mu.Unlock()
		if !deaf {
			heard(message)
		}
	})
}

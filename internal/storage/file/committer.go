package file

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/storage/engine"
	"berth/internal/storage/health"

	"go.etcd.io/bbolt"
)

const (
	// cleanEvery is how often expired records are removed without a write, and a full disk is
	// tried.
	cleanEvery = 500 * time.Millisecond
	groupMost  = 512 // how many writes share one commit

	// collectAlways expired records are removed beside each write, so that a file in use does not
	// grow without end.
	collectAlways = 2

	// tryRoom is what a disk that refused a write must have before it is believed again, in bytes.
	// What fits into pages that are free by chance says nothing.
	tryRoom = 64 << 10

	// collectAtOnce bounds a commit that was begun to remove, and how long a write may wait for it.
	collectAtOnce = 256
)

var (
	errFileClosed = errors.New("store is closed")
	// errUnchanged rolls back a transaction that changed nothing: no sync for it.
	errUnchanged = errors.New("storage: nothing to commit")
)

// committer writes what waits in one transaction, so that writers share a sync. While one is under
// way the next gathers, and a write that is alone waits for nobody.
type committer struct {
	db     *bbolt.DB
	health *health.Monitor
	writes chan *pending
	stop   chan struct{} // closed by close
	ended  chan struct{} // closed by run
	once   sync.Once
	broken atomic.Bool // a commit panicked: bbolt's locks may be held for good
}

// change does one write, and reports whether it changed anything. It may be run more than once.
type change func(tx *bbolt.Tx, now time.Time) (changed bool, err error)

type pending struct {
	change change
	done   chan error // holds one
}

func newCommitter(db *bbolt.DB, h *health.Monitor) *committer {
	c := &committer{
		db: db, health: h,
		writes: make(chan *pending),
		stop:   make(chan struct{}),
		ended:  make(chan struct{}),
	}
	go c.run()
	return c
}

// do returns once change is on the disk, or why it will not be; or ctx's error, when nobody knows.
func (c *committer) do(ctx context.Context, change change) error {
	w := &pending{change: change, done: make(chan error, 1)}
	select {
	case c.writes <- w:
	case <-c.ended:
		return errFileClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close waits for the commit under way. Unless whole, bbolt must not be touched any more.
func (c *committer) close() (whole bool) {
	c.once.Do(func() { close(c.stop) })
	<-c.ended
	return !c.broken.Load()
}

func (c *committer) run() {
	defer close(c.ended)
	tick := time.NewTicker(cleanEvery)
	defer tick.Stop()
	for {
		select {
		case w := <-c.writes:
			c.commit(c.gather(w))
		case <-tick.C:
			c.cleanUp()
		case <-c.stop:
			return
		}
	}
}

func (c *committer) gather(w *pending) []*pending {
	group := []*pending{w}
	for len(group) < groupMost {
		select {
		case w := <-c.writes:
			group = append(group, w)
		default:
			return group
		}
	}
	return group
}

// commit does all of group in one transaction and answers each. A write that fails by itself fails
// alone.
func (c *committer) commit(group []*pending) {
	for len(group) > 0 {
		failed := -1
		err := c.update(collectAlways*len(group), func(tx *bbolt.Tx, now time.Time) (changed bool, err error) {
			for i, w := range group {
				done, err := w.change(tx, now)
				if err != nil {
					failed = i
					return false, err
				}
				changed = changed || done
			}
			return changed, nil
		})
		if failed < 0 || c.broken.Load() {
			answer(group, err)
			return
		}
		answer(group[failed:failed+1], err)
		group = append(group[:failed:failed], group[failed+1:]...)
	}
}

func answer(group []*pending, err error) {
	for _, w := range group {
		w.done <- err
	}
}

func (c *committer) cleanUp() {
	// What goes wrong is health's to know.
	_ = c.update(collectAtOnce, func(*bbolt.Tx, time.Time) (bool, error) { return false, nil })
	if !c.health.Snapshot().Healthy {
		c.try()
	}
}

// try asks a disk that refused a write for room, and gives it back.
func (c *committer) try() {
	err := c.update(0, func(tx *bbolt.Tx, _ time.Time) (bool, error) {
		return true, tx.Bucket(bucketFormat).Put(keyTried, make([]byte, tryRoom))
	})
	if err == nil {
		err = c.update(0, func(tx *bbolt.Tx, _ time.Time) (bool, error) {
			return true, tx.Bucket(bucketFormat).Delete(keyTried)
		})
	}
	if err == nil {
		c.report(nil)
	}
}

// update commits if anything changed or had expired. Health hears of each failure; that the disk takes
// writes again is for try to say, or a full one would be lost and found with each write.
func (c *committer) update(most int, change change) error {
	if c.broken.Load() {
		return errCorrupt
	}
	var own error
	err := guarded(func() error {
		return c.db.Update(func(tx *bbolt.Tx) error {
			now := time.Now()
			changed, err := change(tx, now)
			if err != nil {
				own = err
				return err
			}
			collected, err := collect(tx, now, most)
			if err == nil && !changed && !collected {
				err = errUnchanged
			}
			return err
		})
	})
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case own != nil:
		return own
	case errors.Is(err, errCorrupt):
		c.broken.Store(true)
	}
	if err != nil {
		c.report(err)
	}
	return err
}

// report tells health how a commit went: there is no breaker that waits for more.
func (c *committer) report(err error) {
	c.health.Report(func() bool { return err == nil }, fileFault(engine.OpPut, err), time.Now())
}

package upgrade

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

const (
	vigilLeast = time.Second      // from a question to the first look at its task; the pauses double from then on
	vigilMost  = 10 * time.Second // between two looks, where the server does not want more
	vigilRare  = 30 * time.Second // between two looks, whatever it wants

	maxVigils    = 10_000 // tasks that are looked at
	vigilsAtOnce = 16     // looks
	vigilsAtOne  = 4      // looks at tasks of one upstream: one that hangs leaves the others theirs
)

// vigils are the tasks that follow a server's, and wait for their clients, which this process looks at: the server's may end, or ask
// something else, without an answer. One that waits costs a timer.
type vigils struct {
	mu    sync.Mutex // guards the fields below, and what of a vigil may change
	by    map[string]*vigil
	looks int            // under way
	at    map[string]int // of these, by pool and upstream
	over  bool
}

func newVigils() vigils { return vigils{by: map[string]*vigil{}, at: map[string]int{}} }

// vigil is one such task.
type vigil struct {
	task    *task.Task // as it began to wait; without what it asks
	expires time.Time  // as this process counts
	with    task.Envelope
	pace    time.Duration // until the next look
}

// at names the upstream that has the server's task.
func (v *vigil) at() string { return v.task.Pool + "/" + v.task.Upstream }

// watch has a task be looked at in the name of who brings this. known says that it is already, or that there is no room.
func (vs *vigils) watch(v *vigil) (known bool) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	stands := vs.by[v.task.ID]
	if stands != nil && stands.task.Round == v.task.Round {
		stands.with = v.with
		return true
	}
	if vs.over || stands == nil && len(vs.by) >= maxVigils {
		return true
	}
	vs.by[v.task.ID] = v
	return false
}

// begin reports whether a look at a task may begin, which finish ends then, and in whose name. stands says that the task is looked at
// any more.
func (vs *vigils) begin(v *vigil) (with task.Envelope, may, stands bool) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.over || vs.by[v.task.ID] != v {
		return with, false, false
	}
	at := v.at()
	if vs.looks >= vigilsAtOnce || vs.at[at] >= vigilsAtOne {
		return with, false, true
	}
	vs.looks++
	vs.at[at]++
	return v.with, true, true
}

func (vs *vigils) finish(v *vigil, goesOn bool) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.looks--
	at := v.at()
	if vs.at[at]--; vs.at[at] == 0 {
		delete(vs.at, at)
	}
	if !goesOn && vs.by[v.task.ID] == v {
		delete(vs.by, v.task.ID)
	}
}

// end has nothing be looked at any more.
func (vs *vigils) end() {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.over = true
	clear(vs.by)
}

// watch looks at a server's task for as long as one that follows it waits for its client.
func (s *Steps) watch(t *task.Task, with task.Envelope) {
	brief := t.Brief()
	v := &vigil{task: &brief, expires: s.ledger.Expires(t), with: with, pace: vigilLeast}
	if !s.vigils.watch(v) {
		s.lookAfter(v, v.wait())
	}
}

// wait is how long it is until the next look, which is no later than the task's end.
func (v *vigil) wait() time.Duration { return min(v.pace, max(time.Until(v.expires), 0)) }

func (s *Steps) lookAfter(v *vigil, d time.Duration) {
	time.AfterFunc(d, func() {
		switch with, may, stands := s.vigils.begin(v); {
		case may:
			stands = s.look(v, with)
			if s.vigils.finish(v, stands); stands {
				s.lookAfter(v, v.wait())
			}
		case stands:
			s.lookAfter(v, max(v.wait(), vigilLeast)) // as many look as may
		}
	})
}

// look looks once, in the name of who sends with. It reports whether the task goes on waiting.
func (s *Steps) look(v *vigil, with task.Envelope) (goesOn bool) {
	ctx, cancel := context.WithTimeout(context.Background(), mootTime)
	defer cancel()
	e, err := s.ledger.Records.Get(ctx, v.task.ID)
	switch over := !time.Now().Before(v.expires); {
	case over && (errors.Is(err, ledger.ErrUnknown) || err == nil && v.isOf(e)):
		s.runner.Withdraw(ctx, v.task, nil, &with)
		return false
	case over:
		return false
	case errors.Is(err, storage.ErrUnavailable):
		return true
	case err != nil || !v.isOf(e):
		return false
	}
	op, interval, err := s.runner.News(ctx, e.Task, with)
	if _, refused := errors.AsType[*transport.CredentialsError](err); refused {
		return false // whoever polls next brings others
	}
	v.pace = min(max(interval, min(2*v.pace, vigilMost), vigilLeast), vigilRare)
	if err != nil || op == nil {
		return true
	}
	err = s.goOn(ctx, e, op, &with)
	if err == nil && runner.AsksAnew(e.Task, op) {
		v.pace = vigilLeast
	}
	return !errors.Is(err, ledger.ErrDraining)
}

// isOf reports whether a record still waits for what its client was asked as the vigil began.
func (v *vigil) isOf(e ledger.Entry) bool {
	return e.State == task.InputRequired && e.Round == v.task.Round && e.Follows == v.task.Follows
}

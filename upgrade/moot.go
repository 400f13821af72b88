package upgrade

import (
	"context"
	"sync"
	"time"

	"berth/upgrade/task"
)

const (
	mootEvery  = 10 * time.Second // between two looks at a task, and from the first poll that finds it asking to the first look
	mootTime   = 5 * time.Second  // for one look
	mootAtOnce = 16               // looks
	mootTasks  = 10_000           // whose next looks are remembered
)

// moots are when tasks whose clients are asked are looked at next.
type moots struct {
	mu    sync.Mutex
	next  map[string]time.Time
	looks int // under way
}

// begin reports whether a look at a task is due, which finish ends then.
func (m *moots) begin(id string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, known := m.next[id]
	switch {
	case !known && len(m.next) >= mootTasks:
		m.forget(now)
		return false
	case known && (now.Before(next) || m.looks >= mootAtOnce):
		return false
	}
	m.next[id] = now.Add(mootEvery)
	if known {
		m.looks++
	}
	return known
}

// forget forgets whom nobody has polled for a while. The caller holds mu.
func (m *moots) forget(now time.Time) {
	for id, next := range m.next {
		if now.After(next.Add(mootEvery)) {
			delete(m.next, id)
		}
	}
}

func (m *moots) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks--
}

// Doubt has it looked at, if that was not done for a while, whether what a task's client is asked is waited for at all: the call may
// have ended without the answer, or who held it may be gone. If nobody waits, the task goes on without it. One that follows a server's is looked
// at from then on. It is for who polls the task,
// and does not wait; with is what that one's request bears beside its body.
func (s *Steps) Doubt(t *task.Task, who task.Asker, with func() task.Envelope) {
	if t.State != task.InputRequired || !s.moots.begin(t.ID, time.Now()) {
		return
	}
	if t.Follows != "" {
		s.moots.finish()
		s.watch(t, with())
		return
	}
	id, envelope := t.ID, with()
	go func() {
		defer s.moots.finish()
		ctx, cancel := context.WithTimeout(context.Background(), mootTime)
		defer cancel()
		e, err := s.records.find(ctx, id, who)
		if err != nil || !s.runner.IsMoot(ctx, e.Task, envelope) {
			return
		}
		op := s.ledger.Op(task.Moot)
		op.Round = e.Round
		_ = s.goOn(ctx, e, op, &envelope) // whoever polls next has it looked at again
	}()
}

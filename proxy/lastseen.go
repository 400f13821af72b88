package proxy

import (
	"bytes"
	"cmp"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/sticky"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Defaults of NewLastSeen, in bytes.
const (
	lastSeenEntry = 64 << 10
	lastSeenTotal = 64 << 20
)

// LastSeen keeps tasks as they were last told to a client, within bounds, for the
// time in which their owner does not answer. What a caller was told is told again
// only to the same principal or, without principals, to the same credentials.
type LastSeen struct {
	entry, total int // bytes

	mu    sync.Mutex // guards the fields below
	tasks *simplelru.LRU[seenKey, seenTask]
	bytes int
}

// seenKey says of which task, and who may be told of it.
type seenKey struct {
	task       sticky.Key
	credential string // digest; "" where the task's key says whose it is
}

// seenTask is what is kept of one task.
type seenTask struct {
	poll    []byte    // result of tasks/get
	at      time.Time // when poll was told
	ended   bool      // poll tells of a terminal state
	outcome []byte    // result of tasks/result, which only an ended task has
	since   time.Time // when the task was first seen
	expires time.Time // nothing is told again after it
}

// seenOverhead is about what a task costs beside what is kept of it, in bytes.
const seenOverhead = 512

func (t *seenTask) size() int { return len(t.poll) + len(t.outcome) + seenOverhead }

// NewLastSeen returns a cache that holds at most entry bytes a task and total
// bytes in all; 0 are 64 KiB and 64 MiB.
func NewLastSeen(entry, total int) *LastSeen {
	s := &LastSeen{entry: cmp.Or(entry, lastSeenEntry), total: cmp.Or(total, lastSeenTotal)}
	tasks, err := simplelru.NewLRU(s.total/seenOverhead+1, func(_ seenKey, t seenTask) { s.bytes -= t.size() })
	if err != nil {
		panic(err) // for sizes below one only
	}
	s.tasks = tasks
	return s
}

// maxSeenLife is how long an end is kept of a task that has no TTL.
const maxSeenLife = 24 * time.Hour

// put keeps the task that a creation or a poll told of. An end stands: polls may
// overtake one another, so that one from before the end comes in after it.
func (s *LastSeen) put(key seenKey, a *mcp.Answer) {
	s.update(key, func(t *seenTask) {
		if t.ended && !a.Task.Terminal() {
			return
		}
		t.poll, t.at = bytes.Clone(a.PollResult()), time.Now()
		t.ended = a.Task.Terminal() && t.poll != nil
		t.expires = t.until(&a.Task)
	})
}

// until is when nothing is told any more of a task that was just seen. A TTL counts from
// its creation; the first draft's keepAlive from its end.
func (t *seenTask) until(task *mcp.Task) time.Time {
	switch {
	case task.TTL > 0:
		return t.since.Add(min(task.TTL, maxSeenLife))
	case task.KeepAlive > 0 && task.Terminal():
		return t.at.Add(min(task.KeepAlive, maxSeenLife))
	}
	return t.since.Add(maxSeenLife)
}

// drop forgets a task.
func (s *LastSeen) drop(key seenKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks.Remove(key)
}

// putResult keeps the answer to a tasks/result, which ends a core task. One that
// is too long is left out, and the task's state stays.
func (s *LastSeen) putResult(key seenKey, a *mcp.Answer) {
	s.update(key, func(t *seenTask) {
		if a.Result == nil || len(t.poll)+len(a.Result) > s.entry {
			return
		}
		t.outcome = bytes.Clone(a.Result)
		if t.expires.IsZero() {
			t.expires = t.since.Add(maxSeenLife)
		}
	})
}

// update keeps what change makes of what is kept of a task, if it is something,
// and not too much.
func (s *LastSeen) update(key seenKey, change func(t *seenTask)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, _ := s.tasks.Peek(key)
	s.tasks.Remove(key)
	if now := time.Now(); now.After(t.expires) {
		t = seenTask{since: now}
	}
	change(&t)
	held := len(t.poll) + len(t.outcome)
	if held == 0 || held > s.entry {
		return
	}
	s.tasks.Add(key, t)
	s.bytes += t.size()
	for s.bytes > s.total {
		s.tasks.RemoveOldest()
	}
}

// get returns the task as it was last seen.
func (s *LastSeen) get(key seenKey) (seenTask, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tasks.Get(key)
	if ok && time.Now().After(t.expires) {
		s.tasks.Remove(key)
		return seenTask{}, false
	}
	return t, ok
}

package proxy

import (
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
	entry, total int

	mu    sync.Mutex // guards the fields below
	tasks *simplelru.LRU[seenKey, seenTask]
	bytes int
}

type seenKey struct {
	task       sticky.Key
	credential string
}

type seenTask struct {
	poll    []byte // result of tasks/get
	ended   bool   // poll tells of a terminal state
	outcome []byte // result of tasks/result, which only an ended task has
	at      time.Time
	expires time.Time
}

func (t *seenTask) size() int { return len(t.poll) + len(t.outcome) + 512 }

// NewLastSeen returns a cache that holds at most entry bytes a task and total
// bytes in all; 0 are 64 KiB and 64 MiB.
func NewLastSeen(entry, total int) *LastSeen {
	orDefault(&entry, lastSeenEntry)
	orDefault(&total, lastSeenTotal)
	s := &LastSeen{entry: entry, total: total}
	tasks, err := simplelru.NewLRU(total/512+1, func(_ seenKey, t seenTask) { s.bytes -= t.size() })
	if err != nil {
		panic(err) // for sizes below one only
	}
	s.tasks = tasks
	return s
}

// maxSeenLife is how long an end is kept of a task that has no TTL.
const maxSeenLife = 24 * time.Hour

// Put keeps the task that a creation or a poll told of.
func (s *LastSeen) Put(key seenKey, a *mcp.Answer) {
	s.update(key, func(t *seenTask) {
		t.poll = append([]byte(nil), a.PollResult()...)
		t.ended = a.Task.Terminal()
		life := maxSeenLife
		if a.Task.HasTTL && a.Task.TTL > 0 {
			life = min(a.Task.TTL, maxSeenLife)
		}
		t.expires = time.Now().Add(life)
	})
}

// PutResult keeps the answer to a tasks/result, which ends a core task.
func (s *LastSeen) PutResult(key seenKey, a *mcp.Answer) {
	if a.Result == nil {
		return
	}
	s.update(key, func(t *seenTask) {
		t.outcome = append([]byte(nil), a.Result...)
		if t.expires.IsZero() {
			t.expires = time.Now().Add(maxSeenLife)
		}
	})
}

func (s *LastSeen) update(key seenKey, change func(t *seenTask)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, had := s.tasks.Peek(key)
	if had {
		s.tasks.Remove(key)
	}
	change(&t)
	t.at = time.Now()
	if len(t.poll)+len(t.outcome) > s.entry {
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

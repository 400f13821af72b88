package polls

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"strings"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/sticky"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// StaleCache keeps tasks as they were last told to a client, within bounds, for the
// time in which their owner does not answer. What a caller was told is told again
// only to the same principal or, without principals, to the same credentials.
type StaleCache struct {
	mu    sync.Mutex // guards the fields below
	entry int        // bytes of a task, at most
	total int        // bytes of all, at most
	tasks *simplelru.LRU[uint64, *staleTask]
	bytes int
}

// staleKey says of which task, and who may be told of it.
type staleKey struct {
	task       sticky.Key
	credential digest // zero where the task's key says whose it is
}

// keyFor is the same for a principal with a fresh token; of nobody only equal credentials are.
func keyFor(c *inbound.Call, task *sticky.Key) staleKey {
	if c.Principal != "" {
		return staleKey{task: *task}
	}
	return staleKey{*task, c.CredentialSum()}
}

// place is where the cache has what k names, as good as by itself: where two meet, the one that was told last is kept.
func (s *StaleCache) place(k *staleKey) uint64 { return k.placeBy(hashOf(&k.task)) }

// placeBy is place by the hash of the task.
func (k *staleKey) placeBy(hash uint64) uint64 {
	return hash ^ binary.NativeEndian.Uint64(k.credential[:])
}

// staleTask is what is kept of one task.
type staleTask struct {
	staleKey
	poll    []byte    // result of tasks/get
	at      time.Time // when poll was told
	ended   bool      // poll tells of a terminal state
	outcome []byte    // result of tasks/result, which only an ended task has
	since   time.Time // when the task was first seen
	expires time.Time // nothing is told again after it
}

// staleOverhead is about what a task costs beside what is kept of it, in bytes.
const staleOverhead = 512

func (t *staleTask) size() int { return len(t.poll) + len(t.outcome) + staleOverhead }

// NewStaleCache returns a cache that holds at most entry bytes a task and total
// bytes in all; 0 are 64 KiB and 64 MiB.
func NewStaleCache(entry, total int) *StaleCache {
	s := &StaleCache{entry: cmp.Or(entry, 64<<10), total: cmp.Or(total, 64<<20)}
	tasks, err := simplelru.NewLRU(s.most(), func(_ uint64, t *staleTask) { s.bytes -= t.size() })
	if err != nil {
		panic(err) // for sizes below one only
	}
	s.tasks = tasks
	return s
}

// most is how many tasks there can be.
func (s *StaleCache) most() int { return s.total/staleOverhead + 1 }

// SetBounds changes what NewStaleCache bounded. What does not fit any more is forgotten, the oldest
// first.
func (s *StaleCache) SetBounds(entry, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entry, s.total = cmp.Or(entry, 64<<10), cmp.Or(total, 64<<20)
	s.tasks.Resize(s.most())
	s.shrink()
}

// Held is how many bytes are kept of all tasks.
func (s *StaleCache) Held() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.bytes)
}

// shrink keeps to the bounds. The caller has the lock.
func (s *StaleCache) shrink() {
	for s.bytes > s.total {
		s.tasks.RemoveOldest()
	}
}

// maxStaleLife is how long an end is kept of a task that has no TTL.
const maxStaleLife = 24 * time.Hour

// Put keeps the task that the answer to c, a poll, tells of now. lead is c as one that others may join; nil: it is none.
func (s *StaleCache) Put(c *inbound.Call, lead *Poll, task *sticky.Key, a *mcp.Answer, now time.Time) {
	key := keyFor(c, task)
	at := key.placeBy(lead.hashFor(task))
	s.mu.Lock()
	defer s.mu.Unlock()
	t, before := s.begin(at, &key, aPart, now)
	t.tell(a, now)
	s.end(at, t, before)
}

// PutNew keeps the task that the answer to c creates. What was kept under its id was another's.
func (s *StaleCache) PutNew(c *inbound.Call, task *sticky.Key, a *mcp.Answer) {
	key, now := keyFor(c, task), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.place(&key)
	t, before := s.begin(at, &key, itself, now)
	*t = staleTask{staleKey: t.staleKey, since: now}
	t.tell(a, now)
	s.end(at, t, before)
}

// tell adds what an answer tells. An end stands: polls may overtake one another, so that one from
// before the end comes in after it.
func (t *staleTask) tell(a *mcp.Answer, now time.Time) {
	poll, own := a.PollResult()
	if !bytes.Equal(t.poll, poll) { // else the state is what it was
		ended := a.Task.Terminal()
		if t.ended && !ended {
			return
		}
		if !own {
			poll = bytes.Clone(poll)
		}
		t.poll, t.ended = poll, ended && poll != nil
	}
	t.at = now
	t.expires = t.until(&a.Task)
}

// until is when nothing is told any more of a task that was just seen. A TTL counts from
// its creation; the first draft's keepAlive from its end.
func (t *staleTask) until(task *mcp.Task) time.Time {
	switch {
	case task.TTL > 0:
		return t.since.Add(min(task.TTL, maxStaleLife))
	case task.KeepAlive > 0 && task.Terminal():
		return t.at.Add(min(task.KeepAlive, maxStaleLife))
	}
	return t.since.Add(maxStaleLife)
}

// PutResult keeps the answer to c, a tasks/result that was given now, which ends a core task. One that is too
// long is left out, and the task's state stays.
func (s *StaleCache) PutResult(c *inbound.Call, task *sticky.Key, a *mcp.Answer, now time.Time) {
	key := keyFor(c, task)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.place(&key)
	t, before := s.begin(at, &key, aPart, now)
	if a.Result != nil && len(t.poll)+len(a.Result) <= s.entry {
		t.outcome = bytes.Clone(a.Result)
		if t.expires.IsZero() {
			t.expires = t.since.Add(maxStaleLife)
		}
	}
	s.end(at, t, before)
}

// Drop forgets what c's caller was told of a task.
func (s *StaleCache) Drop(c *inbound.Call, task *sticky.Key) {
	key := keyFor(c, task)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.place(&key); s.find(at, &key) != nil {
		s.tasks.Remove(at)
	}
}

// What the id of a task is, as it comes here: a string of its own, or a part of a request's head, which would keep all of that.
const (
	itself = false
	aPart  = true
)

// begin returns what is kept of a task, or room for it, and how much that is now. part is what the task's id is. The caller
// has the lock, and calls end once it has put down what there is to keep.
func (s *StaleCache) begin(at uint64, key *staleKey, part bool, now time.Time) (t *staleTask, size int) {
	if t = s.find(at, key); t == nil {
		s.tasks.Remove(at) // of another that it meets there
		if t = (&staleTask{staleKey: *key}); part {
			t.task.ID = strings.Clone(t.task.ID)
		}
		s.tasks.Add(at, t)
		s.bytes += t.size()
	} else {
		s.use(at, t, now)
	}
	size = t.size()
	if now.After(t.expires) {
		*t = staleTask{staleKey: t.staleKey, since: now}
	}
	return t, size
}

// use has a task that is told now be forgotten after others: those told of in the same few seconds stand as they are, since to move
// one takes memory that nobody has looked at for long. The caller has the lock.
func (s *StaleCache) use(at uint64, t *staleTask, now time.Time) {
	if t.at.Unix()/usedWithin != now.Unix()/usedWithin {
		s.tasks.Get(at)
	}
}

// usedWithin is how many seconds are one, of the order in which tasks are forgotten.
const usedWithin = 8

// end keeps what was put down, if it is something, and not too much. before is how much it was.
func (s *StaleCache) end(at uint64, t *staleTask, before int) {
	s.bytes += t.size() - before
	if held := len(t.poll) + len(t.outcome); held == 0 || held > s.entry {
		s.tasks.Remove(at)
		return
	}
	s.shrink()
}

// find returns what is kept under key, nil for nothing. The caller has the lock.
func (s *StaleCache) find(at uint64, key *staleKey) *staleTask {
	if t, ok := s.tasks.Peek(at); ok && t.staleKey == *key {
		return t
	}
	return nil
}

// get returns a copy of the task as it was last seen.
func (s *StaleCache) get(key *staleKey) (staleTask, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.place(key)
	t := s.find(at, key)
	if t == nil {
		return staleTask{}, false
	}
	now := time.Now()
	if now.After(t.expires) {
		s.tasks.Remove(at)
		return staleTask{}, false
	}
	s.use(at, t, now)
	return *t, true
}

package polls

import (
	"cmp"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/internal/recent"
	"berth/proxy/inbound"
	"berth/sticky"
)

// StaleCache keeps tasks as they were last told to a client, within bounds, for the
// time in which their owner does not answer. What a caller was told is told again
// only to the same principal or, without principals, to the same credentials.
type StaleCache struct {
	made time.Time // moments count from it

	mu    sync.Mutex // guards the fields below
	entry int        // bytes of a task, at most
	total int        // bytes of all, at most
	tasks *recent.Table[staleTask]
	bytes int
}

// NewStaleCache returns a cache that holds at most entry bytes a task and total
// bytes in all; 0 are 64 KiB and 64 MiB.
func NewStaleCache(entry, total int) *StaleCache {
	s := &StaleCache{made: time.Now(), tasks: recent.New[staleTask]()}
	s.bound(entry, total)
	return s
}

func (s *StaleCache) bound(entry, total int) {
	s.entry, s.total = cmp.Or(entry, 64<<10), cmp.Or(total, 64<<20)
}

// SetBounds changes what NewStaleCache bounded. What does not fit any more is forgotten, the oldest
// first.
func (s *StaleCache) SetBounds(entry, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.total
	s.bound(entry, total)
	s.shrink()
	if s.total >= before {
		return
	}
	tasks := recent.New[staleTask]() // in as little memory as they need
	for hash, t := range s.tasks.All() {
		*tasks.At(tasks.Add(hash)) = *t
	}
	s.tasks = tasks
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
		s.forget(s.tasks.Oldest())
	}
}

// forget is for whoever has the lock.
func (s *StaleCache) forget(at recent.Slot) {
	s.bytes -= s.tasks.At(at).size()
	s.tasks.Remove(at)
}

// Put keeps the task that the answer to c, a poll, tells of now. lead is c as one that others may join; nil: it is none.
func (s *StaleCache) Put(c *inbound.Call, lead *Poll, task *sticky.Key, a *mcp.Answer, now time.Time) {
	key := keyFor(c, task)
	hash := key.hash(lead.hashFor(task))
	s.mu.Lock()
	defer s.mu.Unlock()
	at, before := s.begin(&key, hash, now)
	s.tasks.At(at).tell(&key, a, s.moment(now))
	s.end(at, before)
}

// PutNew keeps the task that the answer to c creates, unless polls say more of one in its state. What was kept under its id was another's.
func (s *StaleCache) PutNew(c *inbound.Call, task *sticky.Key, a *mcp.Answer) {
	key, now := keyFor(c, task), c.Now()
	hash := key.hash(hashOf(task))
	s.mu.Lock()
	defer s.mu.Unlock()
	at, before := s.begin(&key, hash, now)
	t := s.tasks.At(at)
	*t = staleTask{credential: key.credential, since: s.moment(now)}
	if !a.SaysLessThanPoll() {
		t.tell(&key, a, t.since)
	}
	s.end(at, before)
}

// PutResult keeps the answer to c, a tasks/result that was given now, which ends a core task. One that is too
// long is left out, and the task's state stays.
func (s *StaleCache) PutResult(c *inbound.Call, task *sticky.Key, a *mcp.Answer, now time.Time) {
	key := keyFor(c, task)
	hash := key.hash(hashOf(task))
	s.mu.Lock()
	defer s.mu.Unlock()
	at, before := s.begin(&key, hash, now)
	if t := s.tasks.At(at); a.Result != nil && len(t.result())+len(a.Result) <= s.entry {
		t.keepOutcome(&key, a.Result)
		t.expires = cmp.Or(t.expires, t.since+maxStaleLife)
	}
	s.end(at, before)
}

// Drop forgets what c's caller was told of a task.
func (s *StaleCache) Drop(c *inbound.Call, task *sticky.Key) {
	key := keyFor(c, task)
	hash := key.hash(hashOf(task))
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.find(&key, hash); at != 0 {
		s.forget(at)
	}
}

// begin returns where a task is kept, or is to be, and how much that is now. The caller has the lock, and calls end once it has
// put down what there is to keep.
func (s *StaleCache) begin(key *staleKey, hash uint32, now time.Time) (at recent.Slot, size int) {
	at = s.find(key, hash)
	when, known := s.moment(now), at != 0
	if known {
		s.use(at, when)
	} else {
		at = s.tasks.Add(hash)
		s.bytes += staleOverhead
	}
	t := s.tasks.At(at)
	size = t.size()
	if !known || when > t.expires {
		*t = staleTask{credential: key.credential, since: when}
	}
	return at, size
}

// use has the task at a place be forgotten after those that were last told of in an earlier one of spans of usedWithin: a task that
// grows takes the room of others that nobody asks for, and what is polled all the time does not touch its neighbours.
func (s *StaleCache) use(at recent.Slot, now moment) {
	if s.tasks.At(at).at/usedWithin != now/usedWithin {
		s.tasks.ToFront(at)
	}
}

const usedWithin = 8 * time.Second

func (s *StaleCache) moment(t time.Time) moment { return t.Sub(s.made) }

// end keeps what was put down, if it is something, and not too much. before is how much it was.
func (s *StaleCache) end(at recent.Slot, before int) {
	t := s.tasks.At(at)
	s.bytes += t.size() - before
	if held := t.held(); held == 0 || held > s.entry {
		s.forget(at)
		return
	}
	if s.bytes > s.total {
		s.tasks.ToFront(at) // what was just told is not what has to go for it
		s.shrink()
	}
}

// find returns where the task is kept that key names. The caller has the lock.
func (s *StaleCache) find(key *staleKey, hash uint32) recent.Slot {
	return s.tasks.Find(hash, func(t *staleTask) bool { return t.is(key) })
}

// get returns a copy of the task as it was last seen, and when that was told.
func (s *StaleCache) get(key *staleKey) (t staleTask, told time.Time, ok bool) {
	hash := key.hash(hashOf(&key.task))
	s.mu.Lock()
	defer s.mu.Unlock()
	at, now := s.find(key, hash), time.Now()
	if at == 0 {
		return staleTask{}, time.Time{}, false
	}
	if t = *s.tasks.At(at); s.moment(now) > t.expires {
		s.forget(at)
		return staleTask{}, time.Time{}, false
	}
	s.use(at, s.moment(now))
	return t, s.told(&t, now), true
}

// told is when t was told of, by the clock as it stands now.
func (s *StaleCache) told(t *staleTask, now time.Time) time.Time {
	return now.Add(t.at - s.moment(now))
}

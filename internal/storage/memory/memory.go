// Package memory is the engine of a store inside one process: a map entry a record, a heap entry if it expires, one mutex.
package memory

import (
	"bytes"
	"container/heap"
	"context"
	"math"
	"sync"
	"time"

	"berth/internal/storage/engine"
	"berth/internal/storage/localbus"
)

// collectPerOperation expired entries are removed by one operation. Each adds at most one, so two
// keep the map from growing without end, and a million that expire at once stall nobody.
const collectPerOperation = 2

// Engine is the Engine inside this process. It forgets everything at exit.
type Engine struct {
	localbus.Bus

	mu      sync.Mutex // guards the fields below
	entries map[string]*entry
	lists   map[string]*memberList
	spare   *memberList // one that has ended, for the next that begins; nil: there is none
	queue   expiryQueue
	arrived uint64 // members so far

	begun time.Time
}

// moment is a time since the engine was made: what has no pointer costs the collector nothing, and there is one in each
// entry.
type moment time.Duration

// never is when expires what does not.
const never moment = 0

// moment is the time.
func (m *Engine) moment() moment { return moment(time.Since(m.begun)) }

// New is an engine that holds nothing.
func New() *Engine {
	return &Engine{entries: map[string]*entry{}, lists: map[string]*memberList{}, begun: time.Now()}
}

func (m *Engine) Get(_ context.Context, key string) (engine.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(key, m.moment()).told()
}

func (m *Engine) GetInto(_ context.Context, key, _ []byte) (engine.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(string(key), m.moment()).told()
}

func (m *Engine) PutIfAbsent(_ context.Context, key string, value []byte, ttl time.Duration) (engine.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.moment()
	if standing := m.find(key, now); standing != nil {
		return standing.record, false, nil
	}
	return m.write(key, nil, bytes.Clone(value), now, ttl), true, nil
}

func (m *Engine) Swap(_ context.Context, key string, version uint64, value []byte, ttl time.Duration) (engine.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.moment()
	standing := m.find(key, now)
	if standing == nil {
		return engine.Record{}, engine.ErrNotFound
	}
	if standing.record.Version != version {
		return standing.record, engine.ErrConflict
	}
	return m.write(key, standing, bytes.Clone(value), now, ttl), nil
}

func (m *Engine) Put(_ context.Context, key string, value []byte, ttl time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.moment()
	m.write(key, m.find(key, now), bytes.Clone(value), now, ttl)
	return nil
}

func (m *Engine) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if standing := m.find(key, m.moment()); standing != nil {
		m.remove(standing)
	}
	return nil
}

func (m *Engine) Now(context.Context) (time.Time, error) { return time.Now(), nil }

func (m *Engine) Ping(context.Context) error { return nil }

func (m *Engine) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.entries)
	clear(m.lists)
	m.queue = nil
	return nil
}

func (m *Engine) collect(now moment) {
	for range collectPerOperation {
		if len(m.queue) == 0 || m.queue[0].live(now) {
			break
		}
		m.remove(m.queue[0])
	}
}

func (m *Engine) find(key string, now moment) *entry {
	m.collect(now)
	standing := m.entries[key]
	if standing != nil && !standing.live(now) {
		m.remove(standing)
		return nil
	}
	return standing
}

// write keeps value, which is its own from now on.
func (m *Engine) write(key string, standing *entry, value []byte, now moment, ttl time.Duration) engine.Record {
	if standing == nil {
		standing = &entry{key: key, place: -1}
		m.entries[key] = standing
	}
	standing.record = engine.Record{Value: value, Version: standing.record.Version + 1}
	if ttl != engine.KeepTTL {
		m.schedule(standing, deadline(now, ttl))
	}
	return standing.record
}

func (m *Engine) schedule(e *entry, expires moment) {
	e.expires = expires
	switch {
	case e.place < 0 && expires != never:
		heap.Push(&m.queue, e)
	case e.place >= 0 && expires == never:
		heap.Remove(&m.queue, e.place)
	case e.place >= 0:
		heap.Fix(&m.queue, e.place)
	}
}

func (m *Engine) remove(e *entry) {
	if e.place >= 0 {
		heap.Remove(&m.queue, e.place)
	}
	if e.list == nil {
		delete(m.entries, e.key)
		return
	}
	e.list.remove(e)
	if len(e.list.members) == 0 {
		delete(m.lists, e.list.name)
		m.spareOne(e.list)
	}
}

func deadline(now moment, ttl time.Duration) moment {
	if ttl <= 0 {
		return never
	}
	return now + min(moment(engine.Milliseconds(ttl))*moment(time.Millisecond), math.MaxInt64-now)
}

type entry struct {
	key     string // or the member
	record  engine.Record
	list    *memberList // of a member, else nil
	arrived uint64      // of a member: its number in the order of arrival
	expires moment
	place   int // in the expiry queue; -1 if it never expires
}

// told is the record of e, which is nil if there is none.
func (e *entry) told() (engine.Record, error) {
	if e == nil {
		return engine.Record{}, engine.ErrNotFound
	}
	return e.record, nil
}

func (e *entry) live(now moment) bool { return e.expires == never || now < e.expires }

// expiryQueue is a container/heap of the entries that expire, the next one first.
type expiryQueue []*entry

// Len is the number of entries that will expire.
func (q expiryQueue) Len() int { return len(q) }

// Less puts the entry that expires first on top.
func (q expiryQueue) Less(i, j int) bool { return q[i].expires < q[j].expires }

// Swap exchanges two entries and tells them their places.
func (q expiryQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push appends an *entry, for container/heap.
func (q *expiryQueue) Push(x any) {
	e := x.(*entry)
	e.place = len(*q)
	*q = append(*q, e)
}

// Pop takes the last *entry off, for container/heap.
func (q *expiryQueue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.place = -1
	return e
}

package storage

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// memoryList is one list in memory. Its members are entries without a value.
type memoryList struct {
	name    string
	members map[string]*entry
	ordered []*entry // by order
}

func (m *memoryEngine) AddMember(_ context.Context, list, member string, ttl time.Duration, most int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.collect(now)
	standing := m.lists[list]
	if standing == nil {
		standing = &memoryList{name: list, members: make(map[string]*entry)}
	}
	if before := standing.members[member]; before != nil {
		if before.live(now) {
			return nil
		}
		m.remove(before)
	}
	if most > 0 && len(standing.live(now)) >= most {
		return ErrFull
	}
	m.lists[list] = standing
	m.arrived++
	e := &entry{key: member, list: standing, arrived: m.arrived, place: -1}
	m.schedule(e, deadline(now, ttl))
	standing.add(e)
	return nil
}

func (m *memoryEngine) RemoveMember(_ context.Context, list, member string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collect(time.Now())
	if standing := m.lists[list]; standing != nil && standing.members[member] != nil {
		m.remove(standing.members[member])
	}
	return nil
}

func (m *memoryEngine) Members(_ context.Context, list string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.collect(now)
	standing := m.lists[list]
	if standing == nil {
		return nil, nil
	}
	var members []string
	for _, e := range standing.live(now) {
		members = append(members, e.key)
	}
	return members, nil
}

func (l *memoryList) add(e *entry) {
	l.members[e.key] = e
	at, _ := slices.BinarySearchFunc(l.ordered, e, order)
	l.ordered = slices.Insert(l.ordered, at, e)
}

func (l *memoryList) remove(e *entry) {
	delete(l.members, e.key)
	if at, found := slices.BinarySearchFunc(l.ordered, e, order); found {
		l.ordered = slices.Delete(l.ordered, at, at+1)
	}
}

func (l *memoryList) live(now time.Time) []*entry {
	at, _ := slices.BinarySearchFunc(l.ordered, now, func(e *entry, now time.Time) int {
		if e.live(now) {
			return 1
		}
		return -1
	})
	return l.ordered[at:]
}

func order(a, b *entry) int {
	switch {
	case a.expires.IsZero() != b.expires.IsZero():
		if a.expires.IsZero() {
			return 1
		}
		return -1
	case !a.expires.Equal(b.expires):
		return a.expires.Compare(b.expires)
	}
	return cmp.Compare(a.arrived, b.arrived)
}

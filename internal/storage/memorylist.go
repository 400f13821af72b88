package storage

import (
	"cmp"
	"context"
	"time"

	"berth/internal/ordered"
)

// memoryList is one list in memory. Its members are entries without a value.
type memoryList struct {
	name    string
	members map[string]*entry
	ordered *ordered.List[*entry] // by order
}

func (m *memoryEngine) AddMember(_ context.Context, list, member string, ttl time.Duration, most int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.collect(now)
	standing := m.listOf(list)
	if before := standing.members[member]; before != nil {
		if before.live(now) {
			return nil
		}
		m.remove(before)
	}
	if most > 0 && standing.ordered.Len()-standing.firstLive(now) >= most {
		return ErrFull
	}
	m.enlist(standing, member, deadline(now, ttl))
	return nil
}

func (m *memoryEngine) KeepMembers(_ context.Context, list string, members ...Member) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, member := range members {
		m.collect(now)
		m.keep(list, member, now)
	}
	return nil
}

// keep makes member one of list anew. One that is there for good, and is to be, stays where it is.
func (m *memoryEngine) keep(list string, member Member, now time.Time) {
	standing := m.lists[list]
	if standing != nil && standing.members[member.Name] != nil {
		before := standing.members[member.Name]
		if before.expires.IsZero() && member.Left <= 0 {
			return
		}
		m.remove(before)
	}
	m.enlist(m.listOf(list), member.Name, deadline(now, member.Left))
}

// listOf returns the list of this name, which is not the engine's before it has a member.
func (m *memoryEngine) listOf(list string) *memoryList {
	if standing := m.lists[list]; standing != nil {
		return standing
	}
	return &memoryList{name: list, members: make(map[string]*entry), ordered: ordered.New(order)}
}

// enlist makes member one of a list that it is not in.
func (m *memoryEngine) enlist(list *memoryList, member string, expires time.Time) {
	m.lists[list.name] = list
	m.arrived++
	e := &entry{key: member, list: list, arrived: m.arrived, place: -1}
	m.schedule(e, expires)
	list.add(e)
}

func (m *memoryEngine) RemoveMember(_ context.Context, list, member string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collect(time.Now())
	m.delist(list, member)
	return nil
}

func (m *memoryEngine) delist(list, member string) {
	if standing := m.lists[list]; standing != nil && standing.members[member] != nil {
		m.remove(standing.members[member])
	}
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
	first := standing.firstLive(now)
	members := make([]string, 0, standing.ordered.Len()-first)
	for _, e := range standing.ordered.From(first) {
		members = append(members, e.key)
	}
	return members, nil
}

func (m *memoryEngine) Listing(_ context.Context, list string, most int) (Listing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.collect(now)
	standing := m.lists[list]
	if standing == nil {
		return Listing{}, nil
	}
	first := standing.firstLive(now)
	listing := Listing{Size: standing.ordered.Len() - first}
	if endless := standing.ordered.Search(func(e *entry) bool { return e.expires.IsZero() }); endless > first {
		listing.Last = lifeLeft(standing.ordered.At(endless-1).expires, now)
	}
	for place, e := range standing.ordered.From(first) {
		if place-first >= most {
			break
		}
		listing.Members = append(listing.Members, Member{Name: e.key, Left: lifeLeft(e.expires, now)})
	}
	return listing, nil
}

// lifeLeft is how long what expires then is alive, at least the shortest life; 0: for good.
func lifeLeft(expires, now time.Time) time.Duration {
	if expires.IsZero() {
		return 0
	}
	return max(expires.Sub(now), time.Millisecond)
}

func (l *memoryList) add(e *entry) {
	l.members[e.key] = e
	l.ordered.Insert(e)
}

func (l *memoryList) remove(e *entry) {
	delete(l.members, e.key)
	l.ordered.Remove(e)
}

// firstLive is the place of the first that has not expired: none of those behind it has.
func (l *memoryList) firstLive(now time.Time) int {
	return l.ordered.Search(func(e *entry) bool { return e.live(now) })
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

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
	large   bool                  // it has had more members than a spare one has room for
}

// spareMembers is for how many members a list has room that is kept when it has ended: lists of one begin and end with each task.
const spareMembers = 64

func (m *memoryEngine) AddMember(_ context.Context, list, member string, ttl time.Duration, most int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.moment()
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
	now := m.moment()
	for _, member := range members {
		m.collect(now)
		m.keep(list, member, now)
	}
	return nil
}

// keep makes member one of list anew. One that is there for good, and is to be, stays where it is.
func (m *memoryEngine) keep(list string, member Member, now moment) {
	standing := m.listOf(list)
	if before := standing.members[member.Name]; before != nil {
		if before.expires == never && member.Left <= 0 {
			return
		}
		m.remove(before)
	}
	m.enlist(standing, member.Name, deadline(now, member.Left))
}

// listOf returns the list of this name, which is not the engine's before it has a member.
func (m *memoryEngine) listOf(list string) *memoryList {
	if standing := m.lists[list]; standing != nil {
		return standing
	}
	if spare := m.spare; spare != nil {
		m.spare, spare.name = nil, list
		return spare
	}
	return &memoryList{name: list, members: make(map[string]*entry), ordered: ordered.New(order)}
}

// spareOne keeps a list that has ended.
func (m *memoryEngine) spareOne(list *memoryList) {
	if !list.large {
		m.spare = list
	}
}

// enlist makes member one of a list that it is not in.
func (m *memoryEngine) enlist(list *memoryList, member string, expires moment) {
	if len(list.members) == 0 {
		m.lists[list.name] = list
		if m.spare == list { // its last member was removed for this one
			m.spare = nil
		}
	}
	m.arrived++
	e := &entry{key: member, list: list, arrived: m.arrived, place: -1}
	m.schedule(e, expires)
	list.add(e)
}

func (m *memoryEngine) RemoveMember(_ context.Context, list, member string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collect(m.moment())
	m.delist(list, member)
	return nil
}

func (m *memoryEngine) delist(list, member string) {
	standing := m.lists[list]
	if standing == nil {
		return
	}
	if e := standing.members[member]; e != nil {
		m.remove(e)
	}
}

func (m *memoryEngine) Members(_ context.Context, list string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.moment()
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
	now := m.moment()
	m.collect(now)
	standing := m.lists[list]
	if standing == nil {
		return Listing{}, nil
	}
	first := standing.firstLive(now)
	listing := Listing{Size: standing.ordered.Len() - first}
	if endless := standing.ordered.Search(func(e *entry) bool { return e.expires == never }); endless > first {
		listing.Last = standing.ordered.At(endless - 1).left(now)
	}
	for place, e := range standing.ordered.From(first) {
		if place-first >= most {
			break
		}
		listing.Members = append(listing.Members, Member{Name: e.key, Left: e.left(now)})
	}
	return listing, nil
}

// left is how long a member is alive that is, at least the shortest life; 0: for good.
func (e *entry) left(now moment) time.Duration {
	if e.expires == never {
		return 0
	}
	return max(time.Duration(e.expires-now), time.Millisecond)
}

func (l *memoryList) add(e *entry) {
	l.members[e.key] = e
	l.large = l.large || len(l.members) > spareMembers
	l.ordered.Insert(e)
}

func (l *memoryList) remove(e *entry) {
	delete(l.members, e.key)
	l.ordered.Remove(e)
}

// firstLive is the place of the first that has not expired: none of those behind it has.
func (l *memoryList) firstLive(now moment) int {
	return l.ordered.Search(func(e *entry) bool { return e.live(now) })
}

func order(a, b *entry) int {
	switch {
	case (a.expires == never) != (b.expires == never):
		if a.expires == never {
			return 1
		}
		return -1
	case a.expires != b.expires:
		return cmp.Compare(a.expires, b.expires)
	}
	return cmp.Compare(a.arrived, b.arrived)
}

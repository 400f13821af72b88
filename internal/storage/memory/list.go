package memory

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"berth/internal/ordered"
	"berth/internal/storage/engine"
)

// memberList is one list in memory. Its members are entries without a value.
type memberList struct {
	name    string
	members map[string]*entry
	ordered *ordered.List[*entry] // by order
	large   bool                  // it has had more members than a spare one has room for
}

// spareMembers is for how many members a list has room that is kept when it has ended: lists of one begin and end with each task.
const spareMembers = 64

func (m *Engine) AddMember(_ context.Context, list, member string, ttl time.Duration, most int) error {
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
		return engine.ErrFull
	}
	m.enlist(standing, member, deadline(now, ttl))
	return nil
}

func (m *Engine) KeepMembers(_ context.Context, list string, members ...engine.Member) error {
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
func (m *Engine) keep(list string, member engine.Member, now moment) {
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
func (m *Engine) listOf(list string) *memberList {
	if standing := m.lists[list]; standing != nil {
		return standing
	}
	if spare := m.spare; spare != nil {
		m.spare, spare.name = nil, list
		return spare
	}
	return &memberList{name: list, members: make(map[string]*entry), ordered: ordered.New(order)}
}

// spareOne keeps a list that has ended.
func (m *Engine) spareOne(list *memberList) {
	if !list.large {
		m.spare = list
	}
}

// enlist makes member one of a list that it is not in.
func (m *Engine) enlist(list *memberList, member string, expires moment) {
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

func (m *Engine) RemoveMember(_ context.Context, list, member string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collect(m.moment())
	m.delist(list, member)
	return nil
}

func (m *Engine) delist(list, member string) {
	standing := m.lists[list]
	if standing == nil {
		return
	}
	if e := standing.members[member]; e != nil {
		m.remove(e)
	}
}

// standing is a list, the place of its first member that is alive, and by when; nil: it has none. The caller holds m.mu.
func (m *Engine) standing(list string) (standing *memberList, first int, now moment) {
	now = m.moment()
	m.collect(now)
	if standing = m.lists[list]; standing != nil {
		first = standing.firstLive(now)
	}
	return standing, first, now
}

func (m *Engine) Members(_ context.Context, list string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	standing, first, _ := m.standing(list)
	if standing == nil {
		return nil, nil
	}
	members := make([]string, 0, standing.ordered.Len()-first)
	for _, e := range standing.ordered.From(first) {
		members = append(members, e.key)
	}
	return members, nil
}

func (m *Engine) Listing(_ context.Context, list string, most int) (engine.Listing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	standing, first, now := m.standing(list)
	if standing == nil {
		return engine.Listing{}, nil
	}
	listing := engine.Listing{Size: standing.ordered.Len() - first}
	if endless := standing.ordered.Search(func(e *entry) bool { return e.expires == never }); endless > first {
		listing.Last = standing.ordered.At(endless - 1).left(now)
	}
	for place, e := range standing.ordered.From(first) {
		if place-first >= most {
			break
		}
		listing.Members = append(listing.Members, engine.Member{Name: e.key, Left: e.left(now)})
	}
	return listing, nil
}

// Page implements Engine. A place is the last one that was told, as order compares it.
func (m *Engine) Page(_ context.Context, list, from string, most int) (page engine.Page, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	standing, first, now := m.standing(list)
	if standing == nil {
		return engine.Page{}, nil
	}
	if last := placeOf(from); last != nil {
		first = max(first, standing.ordered.Search(func(e *entry) bool { return order(e, last) > 0 }))
	}
	var last *entry
	for place, e := range standing.ordered.From(first) {
		if place-first == most {
			page.Next = last.placed()
			break
		}
		page.Members = append(page.Members, engine.Member{Name: e.key, Left: e.left(now)})
		last = e
	}
	return page, nil
}

// placed is the place of a member, for placeOf to read.
func (e *entry) placed() string {
	return strconv.FormatInt(int64(e.expires), 10) + " " + strconv.FormatUint(e.arrived, 10)
}

// placeOf is what order compares of whoever stood at a place; nil: that is none.
func placeOf(text string) *entry {
	first, second, _ := strings.Cut(text, " ")
	expires, malformed := strconv.ParseInt(first, 10, 64)
	arrived, err := strconv.ParseUint(second, 10, 64)
	if malformed != nil || err != nil {
		return nil
	}
	return &entry{expires: moment(expires), arrived: arrived}
}

// left is how long a member is alive that is, at least the shortest life; 0: for good.
func (e *entry) left(now moment) time.Duration {
	if e.expires == never {
		return 0
	}
	return max(time.Duration(e.expires-now), time.Millisecond)
}

func (l *memberList) add(e *entry) {
	l.members[e.key] = e
	l.large = l.large || len(l.members) > spareMembers
	l.ordered.Insert(e)
}

func (l *memberList) remove(e *entry) {
	delete(l.members, e.key)
	l.ordered.Remove(e)
}

// firstLive is the place of the first that has not expired: none of those behind it has.
func (l *memberList) firstLive(now moment) int {
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

package discover

import (
	"context"
	"slices"
	"time"

	"berth/internal/storage"
)

// Seek looks for an instance that a binding names and that is not known here: another berth may have written it down.
func (m *Members) Seek(ctx context.Context, name string) {
	d := m.o.Directory
	if d == nil {
		return
	}
	entries, err := d.sought(ctx)
	if err != nil {
		return // the store says so itself
	}
	list := instancesOf(entries)
	if source, _ := m.followed(); source == nil {
		list = slices.DeleteFunc(list, func(i Instance) bool { return i.Name != name })
	}
	m.heard(list)
}

// instancesOf are the instances of entries. Of two with one name the later one comes first.
func instancesOf(entries []string) (list []Instance) {
	for _, entry := range slices.Backward(entries) {
		if i, ok := instanceOf(entry); ok {
			list = append(list, i)
		}
	}
	return list
}

// concerning are the instances of entries that the pool is to have. Beside upstreams that the configuration names alone, these are those
// that own something: any other may be of a configuration of long ago.
func (m *Members) concerning(ctx context.Context, entries []string) []Instance {
	list := instancesOf(entries)
	if source, _ := m.followed(); source != nil {
		return list
	}
	return slices.DeleteFunc(list, func(i Instance) bool { return m.knows(i.Name) || !m.o.Owns(ctx, i.Name) })
}

// heard takes up what other berths have written down.
func (m *Members) heard(list []Instance) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if news := m.roster.hear(list, time.Now()); len(news) > 0 {
		m.o.Logger.Info("instances that other berths know of", "pool", m.o.Pool, "upstreams", news)
		m.settle(Changes{})
	}
}

func (m *Members) knows(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.roster.knows(name)
}

func (m *Members) standing() []Instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.roster.standing()
}

// lives are the entries of all that this berth knows of by itself, and how long they are to stand from now on: of those that left as
// long as anybody is to keep them.
func (m *Members) lives() (all []storage.Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, i := range m.roster.standing() {
		all = append(all, storage.Member{Name: entryOf(i), Left: directoryLife})
	}
	for _, e := range m.roster.known {
		if left := m.roster.rules.ForgetAfter - now.Sub(e.left); !e.left.IsZero() && !e.heard && left > 0 {
			all = append(all, storage.Member{Name: entryOf(e.Instance), Left: left})
		}
	}
	return all
}

// unheard are the entries of those in list that are news, back, or elsewhere than before.
func (m *Members) unheard(list []Instance) (news []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range list {
		if e := m.roster.known[i.Name]; e == nil || !e.left.IsZero() || e.URL.String() != i.URL.String() {
			news = append(news, entryOf(i))
		}
	}
	return news
}

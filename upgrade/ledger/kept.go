package ledger

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// Keep lists a task that nobody holds, so that operators find it: what is held stands in its holder's
// list. To make a task costs nothing for it; the client has heard of the pause or the end that it comes
// with before. What the store does not take now it takes later.
func (l *Ledger) Keep(ctx context.Context, t *task.Task) {
	if t.Holder != "" || l.Alone() { // then it stands in All
		return
	}
	list, id, until := l.Lists.KeptWith(t.ID), t.ID, l.Expires(t)
	l.Backlog.Do(ctx, func(ctx context.Context) error {
		return l.Lists.Add(ctx, list, id, time.Until(until)+Spare, 0)
	})
}

// keptLists is over how many lists the tasks that nobody holds are spread: each is read at once, and
// stands on one server.
const keptLists = 16

// KeptWith lists tasks that nobody holds, and this one if it is one.
func (Lists) KeptWith(id string) string { return keptList(int(id[len(id)/2]) % keptLists) }

func keptList(n int) string { return keptNames[n] }

var keptNames = func() (names [keptLists]string) {
	for n := range names {
		names[n] = "upgrade:kept:" + string("0123456789abcdef"[n])
	}
	return names
}()

// Found returns the ids of the tasks that stand in the store, those that are held first, at most so many,
// and how many there are at least: some may stand in two lists for a moment, and are told once. Those that a
// berth before 0.9.0 held to their end are in none. The error wraps storage.ErrUnavailable.
func (l *Ledger) Found(ctx context.Context, most int) (ids []string, all int, err error) {
	lists, err := l.findable(ctx)
	if err != nil {
		return nil, 0, err
	}
	seen := map[string]bool{}
	for _, list := range lists {
		listing, err := l.Store.Listing(ctx, list, 0)
		if err != nil {
			return nil, 0, err
		}
		all += listing.Size
		if listing.Size == 0 {
			continue
		}
		err = storage.EachPage(ctx, l.Store, list, most-len(ids), func(some []storage.Member) error {
			for _, member := range some {
				if seen[member.Name] {
					all--
					continue
				}
				seen[member.Name] = true
				ids = append(ids, member.Name)
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return ids, all, nil
}

func (l *Ledger) findable(ctx context.Context) (lists []string, err error) {
	if l.Alone() {
		return []string{l.Lists.All()}, nil
	}
	holders, err := l.Store.Members(ctx, l.Lists.Holders())
	for _, holder := range holders {
		lists = append(lists, l.Lists.TasksOf(holder))
	}
	for n := range keptLists {
		lists = append(lists, keptList(n))
	}
	return lists, err
}

// GetSome returns the records of those tasks that stand, and whether there are some among them that cannot
// be read. The error wraps storage.ErrUnavailable.
func (r Records) GetSome(ctx context.Context, ids []string) (some []Entry, whole bool, err error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = TaskKey(id)
	}
	records, err := storage.GetSome(ctx, r.store, keys)
	if err != nil {
		return nil, false, errors.Join(errors.New("upgrade: reading tasks"), err)
	}
	whole = true
	for _, record := range records {
		if record.Version == 0 {
			continue
		}
		e, err := parse(record)
		if err != nil { // of a newer berth
			whole = false
			continue
		}
		some = append(some, e)
	}
	return some, whole, nil
}

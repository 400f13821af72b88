package ledger

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/upgrade/quota"
	"berth/upgrade/task"
)

// attentive knows how many members one operation has read at most.
type attentive struct {
	Store
	most int
}

func (a *attentive) read(n int) { a.most = max(a.most, n) }

func (a *attentive) Members(ctx context.Context, list string) ([]string, error) {
	members, err := a.Store.Members(ctx, list)
	a.read(len(members))
	return members, err
}

func (a *attentive) Listing(ctx context.Context, list string, most int) (storage.Listing, error) {
	listing, err := a.Store.Listing(ctx, list, most)
	a.read(len(listing.Members))
	return listing, err
}

func (a *attentive) Page(ctx context.Context, list, from string, most int) (storage.Page, error) {
	page, err := a.Store.Page(ctx, list, from, most)
	a.read(len(page.Members))
	return page, err
}

// However many tasks a caller has, no operation reads more of them than a page: a store that serves one at a time has others wait.
func TestListsThatCallersMakeLongAreReadInPages(t *testing.T) {
	const many = 3*storage.PageMembers + 1
	plain := newLedgerInMemory(t)
	store := &attentive{Store: plain.Store}
	l := New(store, "me", nil, time.Minute, quota.Bounds{})
	members := make([]storage.Member, many)
	for i := range members {
		members[i] = storage.Member{Name: "task-" + strconv.Itoa(i), Left: time.Hour + time.Duration(i)*time.Second}
	}
	for _, list := range []string{l.Lists.MadeBy("p", "eve"), l.Lists.LiveOf("p", "eve"), l.Lists.HeldIn("s"), keptList(3)} {
		if err := store.KeepMembers(t.Context(), list, members...); err != nil {
			t.Fatal(err)
		}
	}
	bounded := func(what string, most int) {
		t.Helper()
		if store.most > most {
			t.Errorf("%s: %d members are read at once, want %d at most", what, store.most, most)
		}
		store.most = 0
	}

	listed := 0
	for from := ""; ; {
		page, err := l.Sessions.Mine(t.Context(), "p", "eve", from, 100)
		if err != nil {
			t.Fatal(err)
		}
		listed += len(page.Members)
		if from = page.Next; from == "" {
			break
		}
	}
	if listed != many {
		t.Errorf("pages list %d, want %d", listed, many)
	}
	bounded("a page of a caller's", 100)
	if ids, err := l.Sessions.InSession(t.Context(), "s"); err != nil || len(ids) != many {
		t.Errorf("in the session: %d, %v", len(ids), err)
	}
	bounded("those of a session", storage.PageMembers)
	for _, most := range []int{many, storage.PageMembers + 1} {
		ids, all, err := l.Found(t.Context(), most)
		if slices.Sort(ids); err != nil || len(slices.Compact(ids)) != most || all != many {
			t.Errorf("found are %d of %d, %v", len(ids), all, err)
		}
	}
	bounded("all that stand", storage.PageMembers)
	if err := l.LiveRoom(t.Context(), &task.Task{Pool: "p", Principal: "eve"}, many); err == nil {
		t.Error("there is room for one more")
	}
	_ = l.CountLive(t.Context(), &task.Task{ID: "another", Pool: "p", Principal: "eve"}, many)
	bounded("whether there is room for another", pruneAtOnce)
}

package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/proxy"
)

func keeping(d time.Duration) func(*proxy.Endpoint) {
	return func(ep *proxy.Endpoint) { ep.Coalesce = d }
}

// TestNoPollGetsWhatWasAskedForBeforeAChange: once a change is acknowledged, through
// this berth or the one beside it, whoever polls then is told of it: neither a poll
// that is still under way nor an answer that is kept speaks for the time after.
func TestNoPollGetsWhatWasAskedForBeforeAChange(t *testing.T) {
	for _, method := range []string{"tasks/update", "tasks/cancel", "tasks/delete", "tasks/whatever"} {
		for through, other := range map[string]bool{"this berth": false, "the other berth": true} {
			for _, shape := range []string{"JSON", "events"} {
				t.Run(method+" through "+through+" in "+shape, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						store := openStore(t, "memory:")
						o := rigOptions{store: store, size: 1, endpoint: keeping(5 * time.Second), server: func(s *mcptest.Server) { s.SSE = shape == "events" }}
						here := newRig(t, o)
						changes := here
						if other {
							changes = here.second(o)
						}
						here.changeDuringPolls(t, changes, method)
					})
				})
			}
		}
	}
}

// changeDuringPolls has a poll under way, an answer kept, and a change acknowledged
// through changes, and sees that polls from then on reach the upstream, and soon share
// answers again: at once where the change went through the same berth.
func (f *rig) changeDuringPolls(t *testing.T, changes *rig, method string) {
	t.Helper()
	slow, kept := f.newTask(3600), f.newTask(3600)
	f.poll(kept)
	f.poll(kept)
	if n := f.calls("tasks/get"); n != 1 {
		t.Fatalf("the upstream saw %d polls before the change, want 1", n)
	}
	held := newGate("tasks/get")
	f.servers[0].inject(onlyOnce(held.fault))
	polls := f.later()
	polls.do("before", f.pollAs(t.Context(), "1", slow))
	synctest.Wait()
	most := 2
	if changes == f {
		most = 1
	}
	for _, id := range []string{kept, slow} {
		if r := changes.modern(method, id, byID(id)); r.status != 200 && r.status != 404 {
			t.Fatalf("the change: %v", r)
		}
		before := f.calls("tasks/get")
		if took := elapsed(func() { f.poll(id) }); took != 0 {
			t.Errorf("after the change: the poll waited %v for one from before", took)
		}
		if n := f.calls("tasks/get") - before; n != 1 {
			t.Errorf("after the change: the upstream saw %d polls, want 1", n)
		}
		for range 3 {
			f.poll(id)
		}
		if n := f.calls("tasks/get") - before; n > most {
			t.Errorf("later polls share no answers: the upstream saw %d, want %d at most", n, most)
		}
	}
	close(held.open)
	polls.all()
}

// TestPollDuringAChangeSharesNothing: between the request and its acknowledgement it is
// not known what an answer is of, so that it speaks for nobody else.
func TestPollDuringAChangeSharesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "memory:")
		o := rigOptions{store: store, size: 1, endpoint: keeping(5 * time.Second)}
		f := newRig(t, o)
		g := f.second(o)
		id := f.newTask(3600)
		update := newGate("tasks/update")
		f.servers[0].inject(update.fault)
		calls := g.later()
		calls.do("update", g.modernRequest(t.Context(), "tasks/update", id, byID(id)))
		synctest.Wait()
		for range 3 {
			f.poll(id)
		}
		if n := f.calls("tasks/get"); n != 3 {
			t.Errorf("during the change: the upstream saw %d of 3 polls", n)
		}
		close(update.open)
		calls.all()
		f.poll(id)
		if n := f.calls("tasks/get"); n != 4 {
			t.Errorf("after the change: the upstream saw %d polls, want 4", n)
		}
	})
}

// TestAnsweringInASessionEndsWhatWasAskedBefore: a bare response names no task.
func TestAnsweringInASessionEndsWhatWasAskedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "memory:")
		o := rigOptions{store: store, size: 1, endpoint: keeping(5 * time.Second)}
		f := newRig(t, o)
		g := f.second(o)
		session := f.initialize()
		id := f.newCoreTask(session, 3600)
		poll := func() { f.legacy(session, "tasks/get", byID(id)) }
		for through, r := range map[string]*rig{"this berth": f, "the other berth": g} {
			poll()
			poll()
			before := f.calls("tasks/get")
			r.do(r.request(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":9,"result":{"action":"accept"}}`, legacyHeader(session)...))
			poll()
			if n := f.calls("tasks/get") - before; n != 1 {
				t.Errorf("through %s: the upstream saw %d polls, want 1", through, n)
			}
		}
	})
}

// TestBerthsOnOneRedisHeedEachOthersChanges: as two processes would.
func TestBerthsOnOneRedisHeedEachOthersChanges(t *testing.T) {
	redis := redistest.Start(t)
	stores := [2]*storage.Store{}
	for i := range stores {
		stores[i] = openStore(t, redis.URL())
	}
	o := rigOptions{tcp: true, size: 1, endpoint: keeping(5 * time.Second), store: stores[0]}
	f := newRig(t, o)
	o.store = stores[1]
	g := f.second(o)
	for i := range 20 {
		id := f.newTask(3600)
		f.poll(id)
		f.eventually("a poll that does not reach the upstream", func() bool {
			before := f.calls("tasks/get")
			f.poll(id)
			return f.calls("tasks/get") == before
		})
		if r := g.modern("tasks/cancel", id, byID(id)); r.status != 200 {
			t.Fatal(r)
		}
		if r := f.poll(id); !strings.Contains(r.body, "cancelled") {
			t.Errorf("%d: after the cancellation was acknowledged, got %v", i, r)
		}
	}
	// Once Redis is gone nothing is shared any more.
	id := f.newTask(3600)
	f.poll(id)
	redis.Kill()
	before := f.calls("tasks/get")
	for range 3 {
		f.poll(id)
	}
	if n := f.calls("tasks/get") - before; n != 3 {
		t.Errorf("without Redis: the upstream saw %d of 3 polls", n)
	}
}

// TestStoreThatRefusesWritesHidesNoChangeOfThisBerth: what cannot be marked for others
// is known here all the same.
func TestStoreThatRefusesWritesHidesNoChangeOfThisBerth(t *testing.T) {
	redis := redistest.Start(t)
	f := newRig(t, rigOptions{tcp: true, size: 1, endpoint: keeping(5 * time.Second), store: openStore(t, redis.URL())})
	id := f.newTask(3600)
	f.poll(id)
	redis.Do("CONFIG", "SET", "maxmemory", "1")
	if r := f.modern("tasks/cancel", id, byID(id)); r.status != 200 {
		t.Fatal(r)
	}
	if r := f.poll(id); !strings.Contains(r.body, "cancelled") {
		t.Errorf("after the cancellation was acknowledged, got %v", r)
	}
}

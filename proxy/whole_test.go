package proxy_test

import (
	"net/http"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage/redistest"
)

// With principals nobody is asked for what the map does not have: where another berth may have what the store does not, the id is
// not unknown.
func TestNoIDIsUnknownWhileTheStoreLacksWhatOthersHave(t *testing.T) {
	redis := redistest.Start(t)
	o := rigOptions{tcp: true, size: 1, principals: true}
	o.store = openStore(t, redis.URL())
	f := newRig(t, o)
	f.background(o.store.Run)
	o.store = openStore(t, redis.URL())
	g := f.second(o)
	g.background(o.store.Run)
	unknown := func() bool {
		return g.modern("tasks/get", "nowhere", byID("nowhere"), userHeader, "alice").code() == -32602
	}
	realtest.Eventually(t, "an unknown id is unknown", unknown)
	redis.Do("CONFIG", "SET", "maxmemory", "1")
	id := f.modern("tools/call", "slow_compute", slowCompute(3600), userHeader, "alice").message(t).Result.TaskID
	session := f.opens("alice")
	if r := f.modern("tasks/get", id, byID(id), userHeader, "alice"); r.status != http.StatusOK || r.code() != 0 {
		t.Errorf("at the berth that made it: got %v", r)
	}
	realtest.Eventually(t, "another berth says that it cannot tell", func() bool {
		r := g.modern("tasks/get", id, byID(id), userHeader, "alice")
		return r.status == http.StatusServiceUnavailable
	})
	for range 100 { // it stays so, and counts for no unknown id
		if r := g.modern("tasks/get", id, byID(id), userHeader, "alice"); r.status != http.StatusServiceUnavailable {
			t.Fatalf("the task: got %v, want 503", r)
		}
	}
	if r := g.as("alice", session, "ping", ""); r.status != http.StatusServiceUnavailable {
		t.Errorf("the session: got %v, want 503", r)
	}
	redis.Do("CONFIG", "SET", "maxmemory", "0")
	realtest.Eventually(t, "it is written back", func() bool {
		r := g.modern("tasks/get", id, byID(id), userHeader, "alice")
		return r.status == http.StatusOK && r.code() == 0 && g.as("alice", session, "ping", "").status == http.StatusOK
	})
	realtest.Eventually(t, "an unknown id is unknown again", unknown)
}

func TestNobodyComesByAnothersTaskWhileTheStoreLacksIt(t *testing.T) {
	redis := redistest.Start(t)
	o := rigOptions{tcp: true, size: 1, principals: true, endpoint: recovering}
	o.store = openStore(t, redis.URL())
	f := newRig(t, o)
	f.background(o.store.Run)
	o.store = openStore(t, redis.URL())
	g := f.second(o)
	g.background(o.store.Run)
	redis.Do("CONFIG", "SET", "maxmemory", "1")
	id := f.modern("tools/call", "slow_compute", slowCompute(3600), userHeader, "alice").message(t).Result.TaskID
	for _, who := range []string{"bob", "alice"} {
		if r := g.modern("tasks/get", id, byID(id), userHeader, who); r.status != http.StatusServiceUnavailable {
			t.Errorf("%s at another berth: got %v, want 503", who, r)
		}
	}
	redis.Do("CONFIG", "SET", "maxmemory", "0")
	realtest.Eventually(t, "it is its maker's there, too", func() bool {
		r := g.modern("tasks/get", id, byID(id), userHeader, "alice")
		return r.status == http.StatusOK && r.code() == 0
	})
	realtest.Eventually(t, "and unknown to others", func() bool {
		return g.modern("tasks/get", id, byID(id), userHeader, "bob").code() == -32602
	})
}

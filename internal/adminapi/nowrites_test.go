package adminapi_test

import (
	"strings"
	"testing"
	"time"

	"berth/internal/api"
	"berth/internal/realtest"
	"berth/internal/storage/redistest"
)

// A store that answers and takes no writes is told of, and so is that what berths make meanwhile is not counted: nobody may stop then.
func TestAStoreThatTakesNoWritesIsToldOf(t *testing.T) {
	redis := redistest.Start(t, "--maxmemory-policy", "noeviction")
	r := onRedis(t, redis.URL())
	told := func(why string) {
		t.Helper()
		var status api.Status
		var all api.Upstreams
		var one api.Upstream
		r.must("GET", "/v1/status", "", &status)
		r.must("GET", "/v1/upstreams", "", &all)
		r.must("GET", "/v1/upstreams/p/a", "", &one)
		if s := status.Store; !s.Available || s.NoWrites != why || s.NoWritesSince.IsZero() != (why == "") {
			t.Errorf("the store is told as %+v, want no writes by %q", s, why)
		}
		for where, partial := range map[string]string{"status": status.Partial, "upstreams": all.Partial, "upstream": one.Partial} {
			if got := strings.Contains(partial, "takes no writes (oom, since "); got != (why != "") {
				t.Errorf("%s is told in part for %q, want no writes by %q", where, partial, why)
			}
		}
		if want := why == ""; one.Drained != want || all.Upstreams[0].Drained != want {
			t.Errorf("it may stop: %v, and in the list %v; want %v", one.Drained, all.Upstreams[0].Drained, want)
		}
	}
	go r.drains.Run(t.Context())
	var drained api.Upstream
	realtest.Eventually(t, "it may stop", func() bool {
		return r.ask("POST", "/v1/upstreams/p/a/drain", "{}", &drained) == nil && drained.Drained
	})
	told("")
	redis.Do("CONFIG", "SET", "maxmemory", "1")
	_ = r.store.Put(t.Context(), "k", nil, time.Minute)
	told("oom")
	redis.Do("CONFIG", "SET", "maxmemory", "0")
	if err := r.store.Put(t.Context(), "k", nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	told("")
}

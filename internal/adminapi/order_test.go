package adminapi_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"berth/internal/api"
	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/routing"
)

func onRedis(t *testing.T, url string) *rig {
	t.Helper()
	store, err := storage.Open(url, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return newRigOn(t, store)
}

// An order does not fail because the store is away for a moment: a deploy would end by it. On a busy machine the moment may be a long one, and
// so there are several.
func TestAnOrderOutlivesAMomentsOutage(t *testing.T) {
	redis := redistest.Start(t)
	r := onRedis(t, redis.URL())
	for _, order := range []string{"drain", "undrain"} {
		var told api.Upstream
		realtest.Eventually(t, order, func() bool {
			redis.Stop()
			back := make(chan struct{})
			time.AfterFunc(600*time.Millisecond, func() { redis.Cont(); close(back) })
			err := r.ask("POST", "/v1/upstreams/p/a/"+order, "{}", &told)
			<-back
			return err == nil && told.Draining == (order == "drain")
		})
	}
}

// An order to cancel at a berth that does not hold the task, with the store away, is told to be out of the store's reach, and done once
// that is back.
func TestACancelAtAnotherBerthOutlivesAnOutage(t *testing.T) {
	redis := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	holder, other := newWorkRig(t, redis.URL(), nil), newWorkRig(t, redis.URL(), nil)
	id := holder.hand(holder.rule, "ann", "hang")
	var told api.TaskDetail
	other.must("GET", "/v1/tasks/"+id, "", &told)
	redis.Kill()
	if status, code := other.refused("POST", "/v1/tasks/"+id+"/cancel", `{"pool":"p"}`, &told); status != http.StatusServiceUnavailable || code != "store_unavailable" {
		t.Errorf("with the store away: %d %s", status, code)
	}
	redis.Restart()
	realtest.Eventually(t, "it is cancelled", func() bool {
		return holder.ask("GET", "/v1/tasks/"+id, "", &told) == nil && told.State == "cancelled" && told.Message == "cancelled by the operator"
	})
}

// Who takes the mark off an instance that is gone is not told that there is none because the store could not confirm it.
func TestAnUndrainThatTheStoreDoesNotConfirmIsDone(t *testing.T) {
	redis := redistest.Start(t)
	line := redistest.Relay{MuteAfter: `"upstreams":{}`, Muted: make(chan struct{})}
	line.Start(t, redis.Addr)
	r := onRedis(t, "redis://"+line.Addr()+"/0")
	var told api.Upstream
	r.must("POST", "/v1/upstreams/p/a/drain", "{}", &told)
	r.pool.Replace([]*routing.Upstream{{Name: "b", URL: &url.URL{Scheme: "http", Host: "b"}}})
	go func() {
		<-line.Muted
		time.Sleep(50 * time.Millisecond) // by then the answer has been thrown away
		line.Mute.Store(false)
	}()
	r.must("POST", "/v1/upstreams/p/a/undrain", "{}", &told)
	if told.Reason != "it is gone" {
		t.Errorf("told %+v", told)
	}
	if status, code := r.refused("POST", "/v1/upstreams/p/a/undrain", "{}", &told); status != 404 {
		t.Errorf("once more: %d %q, want 404", status, code)
	}
}

// An instance that drains by the file, or has left it, goes on to drain: its undrain takes off a mark, and is not done.
func TestAnUndrainOfWhatDrainsByTheFileIsRefused(t *testing.T) {
	r := newRig(t)
	r.pool.Replace([]*routing.Upstream{{Name: "a", URL: &url.URL{Scheme: "http", Host: "a"}, Draining: true}})
	var told api.Upstream
	r.must("POST", "/v1/upstreams/p/a/drain", "{}", &told)
	if told.By != "operator" {
		t.Errorf("drained: told %+v", told)
	}
	for range 2 {
		if status, code := r.refused("POST", "/v1/upstreams/p/a/undrain", "{}", &told); status != 409 || code != "drains_by_file" {
			t.Errorf("undrained: %d %q, want 409", status, code)
		}
	}
	if r.must("GET", "/v1/upstreams/p/a", "", &told); told.By != "file" {
		t.Errorf("afterwards: told %+v", told)
	}
}

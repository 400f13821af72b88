package proxy_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// A poll that could share another's answer does not wait long for a slow store to
// allow it: it asks the owner itself, though the other has no answer yet.
func TestSlowStoreHoldsUpNoPoll(t *testing.T) {
	redis := redistest.Start(t)
	line := redistest.Relay{Delay: 200 * time.Millisecond}
	line.Start(t, redis.Addr)
	f := newRig(t, rigOptions{tcp: true, store: openStore(t, "redis://"+line.Addr()+"/0")})
	id := f.newTask(600)
	opened := make(chan struct{})
	held := onlyOnce(func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		select {
		case <-opened:
		case <-r.Context().Done():
		}
		return false
	})
	f.servers[0].inject(onMethod("tasks/get", held))
	first := make(chan reply)
	go func() { first <- f.poll(id) }()
	f.eventually("the first poll", func() bool { return f.calls("tasks/get") == 1 })
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	second, err := f.client.Do(f.modernRequest(ctx, "tasks/get", id, byID(id)))
	if err != nil {
		t.Errorf("a poll beside one that hangs: %v", err)
	} else {
		second.Body.Close()
	}
	close(opened)
	if r := <-first; r.status != 200 {
		t.Errorf("the first poll got %d", r.status)
	}
}

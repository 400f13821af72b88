package bridge_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy/bridge"
	"berth/proxy/bridge/sessions"
)

// runs runs the rig's first berth, alone, and returns what ends it.
func (r *taskRig) runs() (stop func()) {
	r.berths = r.berths[:1]
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.berths[0].Run(ctx) }()
	return func() { cancel(); <-done }
}

// wantEnded fails the test unless so many sessions were ended by now.
func (r *taskRig) wantEnded(when string, n int) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != n {
		r.t.Errorf("%s: %d sessions were ended, want %d", when, r.ended, n)
	}
}

const hasEnded = `"result":{"content":[]}`

// Who was told of a task's end may have lost that answer, and ask another berth: the session stays for two minutes more.
func TestASessionOutlastsTheEndOfItsTask(t *testing.T) {
	for _, isolation := range []bridge.Isolation{sessions.PerPrincipal, sessions.PerCall} {
		for _, c := range []struct {
			name  string
			after time.Duration
			ended int
		}{
			{"at once", time.Millisecond, 0},
			{"within two minutes", 119 * time.Second, 0},
			{"after them", 121 * time.Second, 1},
		} {
			t.Run(string(isolation)+" "+c.name, func(t *testing.T) {
				withTasks(t, func(o *bridge.Options) { o.Isolation = isolation }, func(r *taskRig) {
					stop := r.runs()
					id := r.make()
					r.becomes("completed", hasEnded)
					r.wantStatus(id, "completed")
					time.Sleep(c.after)
					stop()
					r.wantEnded("the berth ends", c.ended)
				})
			})
		}
	}
}

// Then a session ends that takes no new call, however long others are kept that nobody uses.
func TestASessionOfOneCallEndsWithItsTask(t *testing.T) {
	withTasks(t, func(o *bridge.Options) { o.Isolation, o.Idle = sessions.PerCall, time.Hour }, func(r *taskRig) {
		defer r.runs()()
		id := r.make()
		r.becomes("completed", hasEnded)
		r.wantStatus(id, "completed")
		time.Sleep(3 * time.Minute)
		r.wantEnded("after two minutes", 1)
	})
}

// A task whose result could not be had yet lives on.
func TestASessionIsKeptForAResultThatWasNotHad(t *testing.T) {
	withTasks(t, func(o *bridge.Options) { o.Isolation = sessions.PerCall }, func(r *taskRig) {
		defer r.runs()()
		id := r.make()
		r.becomes("completed", hasEnded)
		r.failsAt("tasks/result", http.StatusServiceUnavailable)
		if got := r.about("tasks/get", id); got.status != 503 {
			t.Fatalf("got %d %s", got.status, got.text)
		}
		time.Sleep(5 * time.Minute)
		r.failsAt("tasks/result", 0)
		r.wantEnded("before the result was had", 0)
		r.wantStatus(id, "completed")
	})
}

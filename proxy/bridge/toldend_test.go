package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/proxy/bridge"
	"berth/proxy/bridge/sessions"
)

// runAll runs the rig's berths until the test ends.
func (r *taskRig) runAll() (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan error, len(r.berths))
	for _, b := range r.berths {
		go func() { done <- b.Run(ctx) }()
	}
	return func() {
		cancel()
		for range r.berths {
			<-done
		}
	}
}

// The end of a task that a client was told is told at any berth for as long as the task lives, its session or not.
func TestTheEndThatWasToldOutlivesItsSession(t *testing.T) {
	for _, tt := range []struct{ name, status, outcome, want, holds string }{
		{"completed", "completed", `"result":{"content":[],"structuredContent":{"a<b": 1.50}}`, "completed", `"result":{"resultType":"complete","content":[],"structuredContent":{"a<b": 1.50}}`},
		{"the call failed", "failed", `"error":{"code":-32603,"message":"no"}`, "failed", `"error":{"code":-32603,"message":"no"}`},
		{"cancelled", "cancelled", ``, "cancelled", `"statusMessage":"so far"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTasks(t, func(o *bridge.Options) { o.Isolation = sessions.PerCall }, func(r *taskRig) {
				defer r.runAll()()
				id := r.make()
				r.becomes(tt.status, tt.outcome)
				told := r.wantStatus(id, tt.want)
				r.wantStatus(id, tt.want) // at the berth that has the session
				time.Sleep(5 * time.Minute)
				r.wantEnded("two minutes later", 1)
				for range r.berths {
					if got := r.wantStatus(id, tt.want); got.text != told.text || !strings.Contains(got.text, tt.holds) {
						t.Errorf("got %s, and before %s", got.text, told.text)
					}
					for _, method := range []string{"tasks/cancel", "tasks/update"} {
						if got := r.ask("alice", knowsTasks, method, fmt.Sprintf(`"taskId":%q,"inputResponses":{},`, id)); got.status != 200 || got.Error.Code != 0 {
							t.Errorf("%s: got %d %s", method, got.status, got.text)
						}
					}
					if got := r.ask("bob", knowsTasks, "tasks/get", fmt.Sprintf(`"taskId":%q,`, id)); got.Error.Code != mcp.CodeInvalidParams {
						t.Errorf("another caller got %s", got.text)
					}
				}
				time.Sleep(5 * time.Minute)
				if got := r.about("tasks/get", id); got.Error.Code != mcp.CodeInvalidParams {
					t.Errorf("got %d %s behind its ttl", got.status, got.text)
				}
			})
		})
	}
}

// Nor does a server undo it that gives a result once.
func TestTheEndThatWasToldOutlivesItsTaskAtTheServer(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		defer r.runAll()()
		id := r.make()
		r.becomes("completed", hasEnded)
		told := r.wantStatus(id, "completed")
		r.becomes("completed", `"error":{"code":-32602,"message":"Task not found"}`)
		for range r.berths {
			if got := r.wantStatus(id, "completed"); got.text != told.text {
				t.Errorf("where the result is gone: got %s", got.text)
			}
		}
		r.mu.Lock()
		r.forgets = true
		r.mu.Unlock()
		for range r.berths {
			if got := r.wantStatus(id, "completed"); got.text != told.text {
				t.Errorf("where the task is gone: got %s", got.text)
			}
		}
	})
}

// Another task, to which a server gives the same id, is another one.
func TestTheEndThatWasToldIsOfItsTaskAlone(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		defer r.runAll()()
		first := r.make()
		r.becomes("completed", hasEnded)
		r.wantStatus(first, "completed")
		second := r.make()
		r.becomes("completed", `"result":{"content":[],"second":true}`)
		if got := r.wantStatus(second, "completed"); !strings.Contains(got.text, "second") {
			t.Errorf("got %s", got.text)
		}
	})
}

// What nobody was told of is gone with its session, as is what is too long to be kept.
func TestWhatIsNotKeptOfAnEndIsGoneWithItsSession(t *testing.T) {
	withTasks(t, func(o *bridge.Options) { o.Isolation = sessions.PerCall }, func(r *taskRig) {
		defer r.runAll()()
		id := r.make()
		r.becomes("completed", fmt.Sprintf(`"result":{"content":[],"x":%q}`, strings.Repeat("x", 17<<10)))
		for range r.berths {
			r.wantStatus(id, "completed")
		}
		time.Sleep(5 * time.Minute)
		r.wantEnded("two minutes later", 1)
		if got := r.about("tasks/get", id); got.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("got %d %s", got.status, got.text)
		}
	})
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("completed", hasEnded)
		r.mu.Lock()
		r.forgets = true
		r.mu.Unlock()
		if got := r.about("tasks/get", id); got.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("got %d %s", got.status, got.text)
		}
	})
}

// A caller that has too many ends has no more of them kept: those that are stay, and others' do.
func TestEndsOfOneCallerDoNotFillTheStore(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		r.berths = r.berths[:1]
		first := r.make()
		r.becomes("completed", fmt.Sprintf(`"result":{"content":[],"x":%q}`, strings.Repeat("x", 16000)))
		r.wantStatus(first, "completed")
		last := first
		for range 800 {
			last = r.make()
			r.wantStatus(last, "completed")
		}
		r.becomes("completed", `"result":{"content":[]}`)
		if got := r.wantStatus(first, "completed"); !strings.Contains(got.text, "xxx") {
			t.Errorf("got %s, which was told otherwise", got.text)
		}
		other := r.ask("bob", knowsTasks, "tools/call", `"name":"must",`).Result.TaskID
		r.ask("bob", knowsTasks, "tasks/get", fmt.Sprintf(`"taskId":%q,`, other))
		r.mu.Lock()
		r.forgets = true
		r.mu.Unlock()
		r.wantStatus(first, "completed")
		if got := r.about("tasks/get", last); got.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("the last is kept: %d %s", got.status, got.text)
		}
		if got := r.ask("bob", knowsTasks, "tasks/get", fmt.Sprintf(`"taskId":%q,`, other)); got.Result.Status != "completed" {
			t.Errorf("another caller got %d %s", got.status, got.text)
		}
	})
}

// While nobody can say whether an end was told, the task is not denied.
func TestATaskIsNotDeniedWhileItsEndCannotBeLookedFor(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.mu.Lock()
		r.forgets = true
		r.mu.Unlock()
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		if got := r.about("tasks/get", id); got.status != 503 || got.Error.Code != mcp.CodeUnavailable {
			t.Errorf("got %d %s", got.status, got.text)
		}
	})
}

package bridge_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// leavesAfterASecond has a client call a tool that makes a task, and wait a second for the answer, by itself or by its bound.
func (r *taskRig) leavesAfterASecond(isBound bool) {
	ctx, hangUp := context.WithCancel(r.t.Context())
	defer hangUp()
	var wait time.Duration
	if isBound {
		wait = time.Second
	} else {
		time.AfterFunc(time.Second, hangUp)
	}
	b := r.berths[0]
	response, err := b.To(b.at).Send(ctx, r.request("alice", knowsTasks, "tools/call", `"name":"must",`), wait)
	if err == nil { // it has begun
		time.Sleep(2 * time.Second)
		response.Body.Close()
	}
}

// A call that becomes a task is given up as that, also where its client has left before the task was made (2025-11-25, cancellation).
// Meanwhile its session takes no other call.
func TestACallThatWasLeftIsCancelledAsTheTaskItBecomes(t *testing.T) {
	type way struct{ streams, heads, isBound bool }
	for _, how := range []way{{}, {heads: true}, {streams: true}, {streams: true, heads: true}, {isBound: true}, {heads: true, isBound: true}} {
		withTasks(t, nil, func(r *taskRig) {
			r.streams, r.heads, r.makes = how.streams, how.heads, 5*time.Second
			r.leavesAfterASecond(how.isBound)
			b := r.berths[0]
			r.send(b, "alice", knowsTasks, "tools/call", `"name":"never",`).Body.Close()
			synctest.Wait()
			r.mu.Lock()
			if r.sessions != 2 {
				r.t.Errorf("%+v: %d sessions: the next call is where the task is made", how, r.sessions)
			}
			r.mu.Unlock()
			time.Sleep(time.Minute)
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.status != "cancelled" || len(r.given) != 0 || r.ended != 1 {
				r.t.Errorf("%+v: the task is %s, of requests %v were given up, %d sessions ended", how, r.status, r.given, r.ended)
			}
		})
	}
}

// A task is waited for no longer than for a while, and not where the call has come to something else.
func TestACallThatWasLeftIsNotReadOnForLong(t *testing.T) {
	for name, change := range map[string]func(r *taskRig) (ended int){
		"no task is made":      func(r *taskRig) int { r.makes = 30 * time.Second; return 1 },
		"none can be given up": func(r *taskRig) int { r.keeps = true; return 1 },
		"it is refused":        func(r *taskRig) int { r.refuses = true; return 0 },
	} {
		withTasks(t, nil, func(r *taskRig) {
			r.makes = 5 * time.Second
			ended := change(r)
			r.leavesAfterASecond(false)
			time.Sleep(time.Minute)
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.ended != ended || len(r.given) != 0 || r.status != "working" {
				r.t.Errorf("%s: %d sessions ended, %v were given up, the task is %s", name, r.ended, r.given, r.status)
			}
		})
	}
}

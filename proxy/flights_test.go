package proxy_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/proxy"
)

// TestLeaderMayLeave: its departure is no reason to fail those who wait for the same
// answer, and ends the request once nobody waits.
func TestLeaderMayLeave(t *testing.T) {
	for name, server := range map[string]func(*mcptest.Server){"JSON": nil, "events": func(s *mcptest.Server) { s.SSE = true }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{server: server})
				id := f.newTask(3600)
				g, polls := f.shut(), f.later()
				ctx, leave := context.WithCancel(t.Context())
				left := make(chan struct{})
				go func() {
					defer close(left)
					if r, err := f.client.Do(f.pollAs(ctx, "1", id)); err == nil {
						r.Body.Close()
					}
				}()
				synctest.Wait()
				polls.do("joined", f.pollAs(t.Context(), "2", id))
				synctest.Wait()
				leave()
				<-left
				synctest.Wait()
				close(g.open)
				r := polls.all()["joined"]
				if m := r.message(t); string(m.ID) != "2" || m.Result == nil || f.calls("tasks/get") != 1 {
					t.Errorf("got %d %s after %d requests, want the answer to the first", r.status, r.body, f.calls("tasks/get"))
				}
			})
		})
	}
}

// TestPollEndsWithTheLastWhoWaits: in the modern era to leave is to cancel.
func TestPollEndsWithTheLastWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		f.shut()
		var leave [3]context.CancelFunc
		for i := range leave {
			var ctx context.Context
			ctx, leave[i] = context.WithCancel(t.Context())
			go func() {
				if r, err := f.client.Do(f.pollAs(ctx, "1", id)); err == nil {
					r.Body.Close()
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second) // an exchange is watched once it has gone on for some milliseconds
		for i, want := range []int{0, 0, 1} {
			leave[i]()
			synctest.Wait()
			if got := f.servers[0].Hangups("tasks/get"); got != want {
				t.Errorf("%d have left: the upstream saw %d hang-ups, want %d", i+1, got, want)
			}
		}
	})
}

// TestJoinedPollsDoNotWaitTwiceForAFrozenOwner: what the first found out holds for all.
func TestJoinedPollsDoNotWaitTwiceForAFrozenOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		id := f.newTask(3600)
		f.servers[0].freeze()
		polls := f.later()
		if took := elapsed(func() {
			for i := range 5 {
				polls.do(fmt.Sprint(i), f.pollAs(t.Context(), "1", id, otherCaller...))
			}
			polls.all()
		}); took != 10*time.Second {
			t.Errorf("took %v, want 10s", took)
		}
		for i, r := range polls.replies {
			if m := r.message(t); m.Error == nil || m.Error.Code != -31504 && m.Error.Code != -31503 {
				t.Errorf("%s: got %d %s", i, r.status, r.body)
			}
		}
	})
}

// TestAnswerIsKeptForAsLongAsConfigured: and no longer.
func TestAnswerIsKeptForAsLongAsConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{endpoint: func(ep *proxy.Endpoint) { ep.Coalesce = 250 * time.Millisecond }})
		id := f.newTask(3600)
		for i, want := range []int{1, 1, 1, 2, 2, 2, 3} {
			if m := f.do(f.pollAs(t.Context(), fmt.Sprint(i), id)).message(t); string(m.ID) != fmt.Sprint(i) || m.Result.TaskID != id {
				t.Errorf("poll %d: got %+v", i, m)
			}
			if n := f.calls("tasks/get"); n != want {
				t.Errorf("poll %d: the upstream saw %d polls, want %d", i, n, want)
			}
			time.Sleep(100 * time.Millisecond)
		}
		f.poll(id, otherCaller...)
		if n := f.calls("tasks/get"); n != 4 {
			t.Errorf("another caller: the upstream saw %d polls, want 4", n)
		}
	})
}

// TestSlowPollIsNotJoinedAnyMore: nobody is given what was asked for long before.
func TestSlowPollIsNotJoinedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{endpoint: func(ep *proxy.Endpoint) { ep.Coalesce = 5 * time.Second }})
		id := f.newTask(3600)
		g, polls := f.shut(), f.later()
		for i := range 3 {
			polls.do(fmt.Sprint(i), f.pollAs(t.Context(), "1", id))
			time.Sleep(3 * time.Second)
		}
		if n := f.calls("tasks/get"); n != 2 {
			t.Errorf("the upstream saw %d polls, want 2", n)
		}
		close(g.open)
		polls.all()
	})
}

// TestSlowAnswerIsNotKept: it is as old as its request.
func TestSlowAnswerIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{endpoint: func(ep *proxy.Endpoint) { ep.Coalesce = 5 * time.Second }})
		id := f.newTask(3600)
		g, polls := f.shut(), f.later()
		polls.do("slow", f.pollAs(t.Context(), "1", id))
		time.Sleep(5 * time.Second)
		close(g.open)
		polls.all()
		f.poll(id)
		if n := f.calls("tasks/get"); n != 2 {
			t.Errorf("the upstream saw %d polls, want 2", n)
		}
	})
}

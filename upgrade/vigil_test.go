package upgrade

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/routing"
)

// sayTo is the answer to a request with this result.
func sayTo(c *Call, result string) (Exchange, error) {
	return &oneMessage{fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, mcp.ID(c.Body), result)}, nil
}

const theirAsk = `"inputRequests":{"k":{"method":"elicitation/create","params":{"message":"?"}}}`

func theirTask(kind, status, more string) string {
	return fmt.Sprintf(`{"resultType":%q,"taskId":"theirs","status":%q%s}`, kind, status, more)
}

// A question of a server's task outlives the berth that looked at that: who polls the task elsewhere has it looked at there, with what
// that request bears, until it goes on.
func TestAFollowedTaskIsLookedAtWhereItIsPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		var polls atomic.Int64
		bearer := make(chan string, 1000)
		berths := startBerths(t, 2, settings{
			send: func(_ context.Context, _ *routing.Upstream, c *Call) (Exchange, error) {
				return sayTo(c, theirTask("task", "working", ""))
			},
			ask: func(_ context.Context, _ *routing.Upstream, c *Call) (Exchange, error) {
				polls.Add(1)
				bearer <- c.Headers().Get("Authorization")
				if ended.Load() {
					return sayTo(c, theirTask("complete", "completed", `,"result":{"content":[]}`))
				}
				return sayTo(c, theirTask("complete", "input_required", ","+theirAsk))
			},
		}, newTool())
		id := berths[0].hand(t, rule(nil), "call")
		time.Sleep(time.Minute)
		berths[0].mustState(t, id, InputRequired)
		berths[0].kill()
		time.Sleep(time.Minute)
		before := polls.Load()
		time.Sleep(time.Hour / 4)
		if n := polls.Load(); n != before {
			t.Errorf("nobody polls, and the server was asked %d times", n-before)
		}
		for len(bearer) > 0 {
			if by := <-bearer; by != "Bearer of the caller" {
				t.Errorf("asked with %q", by)
			}
		}
		v := berths[1].mustState(t, id, InputRequired)
		for range 2 {
			berths[1].Steps.Doubt(&v.Task, somebody, func() Envelope { return Envelope{Header: Pairs{"Authorization", "Bearer of the poll"}} })
			time.Sleep(mootEvery)
		}
		if polls.Load() == before {
			t.Error("the server was not asked")
		}
		ended.Store(true)
		time.Sleep(vigilMost + 2*time.Second)
		v = berths[1].mustState(t, id, Completed)
		for len(bearer) > 0 {
			if by := <-bearer; by != "Bearer of the poll" {
				t.Errorf("asked with %q", by)
			}
		}
		if steps, _ := json.Marshal(v.Timeline()); !strings.Contains(string(steps), berths[1].Holder()) {
			t.Errorf("it went on as %s", steps)
		}
	})
}

// Tasks that are looked at are bounded, in number and at once.
func TestVigilsAreBounded(t *testing.T) {
	vs := newVigils()
	var all []*vigil
	for i := range maxVigils + 5 {
		v := &vigil{task: &Task{ID: name(i), Round: 1, Upstream: name(i / vigilsAtOne)}}
		if known := vs.watch(v); known != (i >= maxVigils) {
			t.Fatalf("vigil %d: %v", i, known)
		}
		all = append(all, v)
	}
	for i := range vigilsAtOnce + 1 {
		if _, may, stands := vs.begin(all[i]); may != (i < vigilsAtOnce) || !stands {
			t.Errorf("look %d: %v, %v", i, may, stands)
		}
	}
	vs.finish(all[4], true)
	if _, may, stands := vs.begin(&vigil{task: all[0].task}); may || stands {
		t.Error("one that is not known is looked at")
	}
	other := &vigil{task: &Task{ID: name(vigilsAtOnce), Round: 3, Upstream: all[0].task.Upstream}}
	if vs.watch(other) {
		t.Error("a later round is not known")
	}
	if _, may, stands := vs.begin(other); may || !stands {
		t.Error("one upstream has more looks than it may")
	}
	if _, may, _ := vs.begin(all[4]); !may {
		t.Error("another one has none")
	}
	vs.finish(all[0], false)
	if _, may, stands := vs.begin(all[0]); may || stands {
		t.Error("one that has ended is looked at")
	}
	again := &vigil{task: &Task{ID: name(1), Round: 2}}
	vs.finish(all[1], true)
	if vs.watch(all[maxVigils]) {
		t.Error("one that has ended leaves no room")
	}
	vs.finish(all[2], false)
	if vs.watch(again) || vs.by[name(1)] != again {
		t.Error("a later round is not looked at")
	}
	if _, _, stands := vs.begin(all[1]); stands {
		t.Error("an earlier round is looked at")
	}
	vs.end()
	if _, may, stands := vs.begin(again); may || stands || !vs.watch(all[0]) {
		t.Error("tasks are looked at after the end")
	}
}

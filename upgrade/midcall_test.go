package upgrade

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/upgrade/runner"
)

// oldWorld runs a test with two berths before a server of the legacy era.
func oldWorld(t *testing.T, change func(t *testing.T, s *settings), test func(t *testing.T, berths []*berth, old *oldServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		old := &oldServer{replays: true}
		s := settings{old: old}
		if change != nil {
			change(t, &s)
		}
		berths := startBerths(t, 2, s, newTool())
		time.Sleep(testLease) // until the store is believed
		synctest.Wait()
		test(t, berths, old)
	})
}

// soon lets what is under way happen, and what is told once a second.
func soon() {
	time.Sleep(runner.SayEvery)
	synctest.Wait()
}

func (b *berth) statusOf(t *testing.T, id, want string) View {
	t.Helper()
	v := b.see(t, id)
	if v.Status() != want {
		t.Fatalf("the task is %s (%s, %s), want %s", v.Status(), v.State, v.Message, want)
	}
	return v
}

// What goes upstream is the call as it came, under a name and a token of berth's own, and
// without the task.
func TestHeldCallOfASessionIsAPlainOne(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(func(r *Rule) { r.MaxTTL = 2 * time.Hour }), 24*time.Hour)
		soon()
		call := old.call(t, 0)
		v := berths[1].statusOf(t, id, "working")
		if call.session != "the upstream's" || call.request.Params.Task != nil || call.request.Params.Meta.ProgressToken != v.Call ||
			string(call.request.ID) != `"`+v.Call+`-1"` || string(v.ProgressToken) != `"the client's own"` || v.Terms.TTL != 2*time.Hour {
			t.Errorf("sent %+v for %+v", call.request, v.Task)
		}
		call.progress(3)
		call.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hello"}}`)
		soon()
		v = berths[1].statusOf(t, id, "working")
		if v.Message != "3" || !strings.Contains(string(v.Progress), `"progress":3`) || len(v.Said) != 1 || !strings.Contains(string(v.Said[0].Message), "hello") {
			t.Errorf("the task says %q, %s, %v", v.Message, v.Progress, v.Said)
		}
		call.say(`{"jsonrpc":"2.0","id":"another","result":{"content":"not ours"}}`)
		call.answer(`{"content":[],"isError":true}`)
		soon()
		if v = berths[1].mustState(t, id, Completed); !v.ToolFailed || string(v.Outcome) != `{"content":[],"isError":true}` {
			t.Errorf("got %v %s", v.ToolFailed, v.Outcome)
		}
		mine, _, err := berths[1].Reader.Mine(t.Context(), poolName, somebody.Principal, "", 10)
		if err != nil || !slices.Equal(mine, []string{id}) {
			t.Errorf("listed %v, %v", mine, err)
		}
		if in, _ := berths[1].Sessions.InSession(t.Context(), clientsKey()); len(in) > 0 {
			t.Errorf("held in the session: %v", in)
		}
	})
}

// What the upstream asks in mid-call shows at every berth, until it has the answer, or
// wants none any more.
func TestAsksInMidCall(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		call := old.call(t, 0)
		call.ask("0")
		call.ask(`"b"`)
		call.ask(`0`) // once more
		soon()
		v := berths[1].statusOf(t, id, "input_required")
		if asks := v.OpenAsks(); len(asks) != 2 || asks[0].Key != "0" || asks[1].Key != `"b"` || !strings.Contains(string(asks[0].Request), "elicitation/create") {
			t.Errorf("asked %+v", asks)
		}
		for raw, want := range map[string]string{"0": id, `"b"`: id, "1": ""} {
			if got, err := berths[1].Sessions.AskedIn(t.Context(), behindKey(), []byte(raw)); err != nil || got != want {
				t.Errorf("%s was asked by %q, %v", raw, got, err)
			}
		}
		berths[1].Sessions.Settle(t.Context(), id, []byte("0"))
		if v := berths[0].statusOf(t, id, "input_required"); len(v.OpenAsks()) != 1 {
			t.Errorf("open: %+v", v.OpenAsks())
		}
		call.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b","reason":"too late"}}`)
		call.hangUp()
		soon()
		call.ask("0") // a replay: the stream has been resumed
		soon()
		berths[1].statusOf(t, id, "working")
		for _, raw := range []string{"0", `"b"`} {
			if got, err := berths[1].Sessions.AskedIn(t.Context(), behindKey(), []byte(raw)); err != nil || got != "" {
				t.Errorf("%s is asked by %q still, %v", raw, got, err)
			}
		}
		call.say(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
		soon()
		if told := old.told(); len(told) != 1 || told[0] != `the upstream's {"jsonrpc":"2.0","id":5,"result":{}}` {
			t.Errorf("told %v", told)
		}
		call.answer(`{}`)
		soon()
		berths[1].mustState(t, id, Completed)
	})
}

// In a session that has moved the new upstream numbers its requests from the beginning: what
// comes on a call's own stream is asked, whatever was asked before under the same id.
func TestAskWithAnIDThatAnotherCallHad(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		first := berths[0].handCore(t, rule(nil), 0)
		soon()
		old.call(t, 0).ask("0")
		soon()
		berths[1].Sessions.Settle(t.Context(), first, []byte("0"))
		old.call(t, 0).answer(`{}`)
		soon()
		berths[1].mustState(t, first, Completed)

		second := berths[0].handCore(t, rule(nil), 0)
		soon()
		old.call(t, 1).ask("0")
		soon()
		berths[1].statusOf(t, second, "input_required")
		if got, err := berths[1].Sessions.AskedIn(t.Context(), behindKey(), []byte("0")); err != nil || got != second {
			t.Errorf("asked by %q, %v, want %q", got, err, second)
		}
		berths[1].Sessions.Settle(t.Context(), second, []byte("0"))
		berths[1].statusOf(t, second, "working")
	})
}

// A cancel is told to the upstream in words; what it still returns is dropped, and the
// stream is closed a second later at the latest.
func TestCancelIsToldInTheSession(t *testing.T) {
	for _, by := range []int{0, 1} {
		for _, answers := range []bool{false, true} {
			oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
				id := berths[0].handCore(t, rule(nil), 0)
				soon()
				call := old.call(t, 0)
				call.ask("0")
				soon()
				task, err := berths[by].Steps.Cancel(t.Context(), id, somebody)
				if err != nil || task.State != Cancelled {
					t.Fatalf("cancelled: %+v, %v", task, err)
				}
				synctest.Wait() // the holder knows
				if answers {
					call.answer(`{"isError":true}`)
				}
				time.Sleep(runner.LingerTime / 2)
				synctest.Wait()
				if told := old.told(); len(told) != 1 || !strings.Contains(told[0], `"method":"notifications/cancelled","params":{"requestId":"`+task.Call+`-1"`) {
					t.Errorf("by %d, answers %v: told %v", by, answers, told)
				}
				if held := berths[0].Held(); held != 0 && answers || held != 1 && !answers {
					t.Errorf("%d calls are held", held)
				}
				time.Sleep(runner.LingerTime)
				synctest.Wait()
				if berths[0].Held() != 0 {
					t.Errorf("the call is held")
				}
				// The first telling may have overtaken the call on its way.
				if told := old.told(); answers != (len(told) == 1) || told[len(told)-1] != told[0] {
					t.Errorf("by %d, answers %v: told in the end %v", by, answers, told)
				}
				berths[1].mustState(t, id, Cancelled)
			})
		}
	}
}

// A call is cancelled whose holder has died, before anybody has found that out. Who finds
// it out tells the upstream.
func TestCancelOfADeadHoldersCallIsTold(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		old.call(t, 0).ask("0")
		soon()
		berths[0].kill()
		task, err := berths[1].Steps.Cancel(t.Context(), id, somebody)
		if err != nil || task.State != Cancelled {
			t.Fatalf("cancelled: %+v, %v", task, err)
		}
		time.Sleep(2 * testLease)
		synctest.Wait()
		if told := old.told(); len(told) != 1 || !strings.Contains(told[0], `"method":"notifications/cancelled","params":{"requestId":"`+task.Call+`-1"`) {
			t.Errorf("told %v", told)
		}
		berths[1].mustState(t, id, Cancelled)
	})
}

// A call that takes too long is told so, and what that brings is no result.
func TestTimeoutIsToldInTheSession(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(func(r *Rule) { r.Timeout = time.Minute }), 0)
		time.Sleep(time.Minute + runner.LingerTime/2)
		synctest.Wait()
		if told := old.told(); len(told) != 1 {
			t.Errorf("told %v", told)
		}
		old.call(t, 0).answer(`{"isError":true}`)
		soon()
		if f := berths[1].see(t, id).failure(t); f.Data.Reason != mcp.ReasonTimeout {
			t.Errorf("failed as %+v", f)
		}
	})
}

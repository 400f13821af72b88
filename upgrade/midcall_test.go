package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
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
	time.Sleep(sayEvery)
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
		mine, err := berths[1].Mine(t.Context(), poolName, somebody.Principal)
		if err != nil || !slices.Equal(mine, []string{id}) {
			t.Errorf("listed %v, %v", mine, err)
		}
		if in, _ := berths[1].InSession(t.Context(), clientsKey()); len(in) > 0 {
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
			if got, err := berths[1].AskedIn(t.Context(), behindKey(), []byte(raw)); err != nil || got != want {
				t.Errorf("%s was asked by %q, %v", raw, got, err)
			}
		}
		berths[1].Settle(t.Context(), id, []byte("0"))
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
			if got, err := berths[1].AskedIn(t.Context(), behindKey(), []byte(raw)); err != nil || got != "" {
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
		berths[1].Settle(t.Context(), first, []byte("0"))
		old.call(t, 0).answer(`{}`)
		soon()
		berths[1].mustState(t, first, Completed)

		second := berths[0].handCore(t, rule(nil), 0)
		soon()
		old.call(t, 1).ask("0")
		soon()
		berths[1].statusOf(t, second, "input_required")
		if got, err := berths[1].AskedIn(t.Context(), behindKey(), []byte("0")); err != nil || got != second {
			t.Errorf("asked by %q, %v, want %q", got, err, second)
		}
		berths[1].Settle(t.Context(), second, []byte("0"))
		berths[1].statusOf(t, second, "working")
	})
}

// A stream that breaks is resumed where it was, by its holder; the tool runs once.
func TestBrokenStreamIsResumed(t *testing.T) {
	for name, kind := range map[string]*oldServer{
		"that goes on":                            {},
		"that brings what was there":              {mute: true},
		"that brings what was there and comments": {mute: true, hums: true},
		"that brings what was there and ends":     {mute: true, brief: true},
	} {
		t.Run(name, func(t *testing.T) {
			oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
				old.mute, old.hums, old.brief = kind.mute, kind.hums, kind.brief
				id := berths[0].handCore(t, rule(nil), 0)
				soon()
				call := old.call(t, 0)
				call.progress(1)
				soon()
				call.hangUp()
				call.progress(2)
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if v := berths[1].statusOf(t, id, "working"); v.Message != "2" {
					t.Errorf("says %q", v.Message)
				}
				before := old.resumptions()
				time.Sleep(time.Minute)
				if n := old.resumptions() - before; n > 20 {
					t.Errorf("a call that says nothing was resumed %d times a minute", n)
				}
				call.ask("1")
				time.Sleep(quietMost + 2*time.Second)
				synctest.Wait()
				berths[1].statusOf(t, id, "input_required")
				call.answer(`{}`)
				time.Sleep(quietMost + 2*time.Second)
				synctest.Wait()
				berths[1].mustState(t, id, Completed)
				if old.executions() != 1 {
					t.Errorf("the tool ran %d times", old.executions())
				}
			})
		})
	}
}

// go-sdk answers a resumption with its first event, and takes the stream of one that was
// given up for being read a moment longer. A call that says nothing for long outlives
// any number of these refusals.
func TestSilentCallIsResumedForAsLongAsItTakes(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		old.reserved = true
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		call := old.call(t, 0)
		call.hangUp()
		time.Sleep(10 * resumeFor)
		synctest.Wait()
		berths[1].statusOf(t, id, "working")
		call.answer(`{}`)
		time.Sleep(quietMost)
		synctest.Wait()
		berths[1].mustState(t, id, Completed)
	})
}

// A stream that cannot be resumed fails as any other that breaks.
func TestStreamThatCannotBeResumed(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		change func(old *oldServer)
	}{
		"no ids":       {mcp.ReasonUpstreamReset, func(old *oldServer) { old.nameless = true }},
		"no replay":    {mcp.ReasonUpstreamReset, func(old *oldServer) { old.replays = false }},
		"session lost": {mcp.ReasonSessionLost, nil},
	} {
		t.Run(name, func(t *testing.T) {
			oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
				if c.change != nil {
					c.change(old)
				}
				id := berths[0].handCore(t, rule(nil), 0)
				soon()
				old.mu.Lock()
				old.denied = c.change == nil
				old.mu.Unlock()
				old.call(t, 0).hangUp()
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if f := berths[1].see(t, id).failure(t); f.Data.Reason != c.reason {
					t.Errorf("failed as %+v", f)
				}
			})
		})
	}
}

// A call in a session that its upstream does not know was not run.
func TestCallInALostSessionFails(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		old.denied = true
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		if f := berths[1].see(t, id).failure(t); f.Data.Reason != mcp.ReasonSessionLost || *f.Data.MayHaveExecuted {
			t.Errorf("failed as %+v", f)
		}
	})
}

// The death of a holder costs nothing where the stream can be resumed: what was asked
// stays asked, what was not acted on comes again.
func TestCallGoesOnWhenItsHolderDies(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *settings)
		goesOn bool
	}{
		"sealed credentials": {goesOn: true},
		"berth's own":        {func(*settings) {}, true},
		"credentials lost":   {func(*settings) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			change := func(t *testing.T, s *settings) {
				if c.change != nil {
					s.at = newCell(memory(t))
					s.keys = seal.NewStoredKeyring(s.at.Load())
					s.own = name == "berth's own"
				}
			}
			oldWorld(t, change, func(t *testing.T, berths []*berth, old *oldServer) {
				id := berths[0].handCore(t, rule(nil), 0)
				soon()
				call := old.call(t, 0)
				call.progress(1)
				call.ask("0")
				soon()
				berths[0].kill()
				call.hangUp()
				call.ask("1")
				time.Sleep(graceful)
				synctest.Wait()
				if !c.goesOn {
					if f := berths[1].see(t, id).failure(t); f.Data.Reason != mcp.ReasonHolderLost || !*f.Data.MayHaveExecuted {
						t.Errorf("failed as %+v", f)
					}
					return
				}
				v := berths[1].statusOf(t, id, "input_required")
				if asks := v.OpenAsks(); len(asks) != 2 {
					t.Errorf("asked %+v", asks)
				}
				call.answer(`{"content":[]}`)
				soon()
				if v = berths[1].mustState(t, id, Completed); string(v.Outcome) != `{"content":[]}` || old.executions() != 1 {
					t.Errorf("got %s after %d executions", v.Outcome, old.executions())
				}
			})
		})
	}
}

// Without a replay the call of a dead holder is lost, or sent again where that may be.
func TestCallOfADeadHolderWithoutReplay(t *testing.T) {
	for _, rerun := range []bool{false, true} {
		oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
			old.replays = false
			id := berths[0].handCore(t, rule(func(r *Rule) {
				if rerun {
					r.OnOrphan = OrphanRerun
				}
			}), 0)
			soon()
			old.call(t, 0).ask("0")
			soon()
			berths[0].kill()
			time.Sleep(graceful)
			synctest.Wait()
			if !rerun {
				if f := berths[1].see(t, id).failure(t); f.Data.Reason != mcp.ReasonHolderLost || !*f.Data.MayHaveExecuted {
					t.Errorf("failed as %+v", f)
				}
				return
			}
			soon()
			berths[1].statusOf(t, id, "working")
			old.call(t, 1).answer(`{}`)
			soon()
			berths[1].mustState(t, id, Completed)
		})
	}
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
				task, err := berths[by].Cancel(t.Context(), id, somebody)
				if err != nil || task.State != Cancelled {
					t.Fatalf("cancelled: %+v, %v", task, err)
				}
				synctest.Wait() // the holder knows
				if answers {
					call.answer(`{"isError":true}`)
				}
				time.Sleep(lingerTime / 2)
				synctest.Wait()
				if told := old.told(); len(told) != 1 || !strings.Contains(told[0], `"method":"notifications/cancelled","params":{"requestId":"`+task.Call+`-1"`) {
					t.Errorf("by %d, answers %v: told %v", by, answers, told)
				}
				if held := berths[0].Held(); held != 0 && answers || held != 1 && !answers {
					t.Errorf("%d calls are held", held)
				}
				time.Sleep(lingerTime)
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
		task, err := berths[1].Cancel(t.Context(), id, somebody)
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
		time.Sleep(time.Minute + lingerTime/2)
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

// The end of a session waits for its calls, which cannot ask any more.
func TestSessionEndsWithItsLastCall(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		if _, held, err := berths[1].EndSession(t.Context(), clientsKey(), behindKey()); held || err != nil {
			t.Fatalf("an idle session: %v, %v", held, err)
		}
		ids := []string{berths[0].handCore(t, rule(nil), 0), berths[1].handCore(t, rule(nil), 0)}
		soon()
		first, second := old.call(t, 0), old.call(t, 1)
		first.ask("0")
		soon()
		asks, held, err := berths[1].EndSession(t.Context(), clientsKey(), behindKey())
		if err != nil || !held || len(asks) != 1 || string(asks[0].ID) != "0" {
			t.Fatalf("got %v, %v, %v", asks, held, err)
		}
		berths[1].Settle(t.Context(), asks[0].Task, asks[0].ID) // whoever ends it refuses what is open
		for _, b := range berths {
			if over, err := b.SessionOver(t.Context(), clientsKey()); !over || err != nil {
				t.Errorf("the session goes on: %v", err)
			}
		}
		second.ask("1")
		soon()
		if told := old.told(); len(told) != 1 || !strings.Contains(told[0], `"id":1,"error"`) {
			t.Errorf("told %v", told)
		}
		first.answer(`{}`)
		soon()
		if ended := old.sessionsEnded(); len(ended) != 0 {
			t.Errorf("ended with a call under way: %v", ended)
		}
		second.answer(`{}`)
		soon()
		if ended := old.sessionsEnded(); !slices.Equal(ended, []string{"the upstream's"}) {
			t.Errorf("ended %v", ended)
		}
		for _, id := range ids {
			berths[0].mustState(t, id, Completed)
		}
	})
}

// A session whose last call is lost with its holder ends, too.
func TestSessionOfALostCallEnds(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		old.nameless = true
		berths[0].handCore(t, rule(nil), 0)
		soon()
		if _, held, err := berths[1].EndSession(t.Context(), clientsKey(), behindKey()); !held || err != nil {
			t.Fatal(err)
		}
		berths[0].kill()
		time.Sleep(graceful)
		synctest.Wait()
		if ended := old.sessionsEnded(); !slices.Equal(ended, []string{"the upstream's"}) {
			t.Errorf("ended %v", ended)
		}
	})
}

// A holder that was taken for dead cancels nothing, and takes no stream from its heir.
func TestFrozenHolderLeavesTheCallToItsHeir(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		berths[0].line.freeze()
		time.Sleep(graceful)
		synctest.Wait()
		if v := berths[1].statusOf(t, id, "working"); v.Holder != berths[1].holder {
			t.Fatalf("held by %s", v.Holder)
		}
		resumed := old.resumed
		berths[0].line.thaw()
		old.call(t, 0).hangUp()
		time.Sleep(testLease)
		synctest.Wait()
		if told := old.told(); len(told) != 0 || berths[0].Held() != 0 {
			t.Errorf("told %v, holds %d", told, berths[0].Held())
		}
		if old.resumed > resumed+3 {
			t.Errorf("resumed %d times", old.resumed-resumed)
		}
		old.call(t, 0).answer(`{}`)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		berths[1].mustState(t, id, Completed)
	})
}

// A berth that ends leaves the call to another one, and the upstream undisturbed.
func TestDrainLeavesACallThatCanBeResumed(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		for _, b := range berths {
			b.line.lasts = true
		}
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		berths[0].Drain(ctx)
		time.Sleep(graceful)
		synctest.Wait()
		old.call(t, 0).answer(`{}`)
		soon()
		berths[1].mustState(t, id, Completed)
		if told := old.told(); len(told) != 0 || old.executions() != 1 {
			t.Errorf("told %v, ran %d times", told, old.executions())
		}
	})
}

// What is kept of a call does not show the session.
func TestSessionIsSealedInTheStore(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, _ *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		record, err := berths[0].records.get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := json.Marshal(record.Task)
		c, open, failed := berths[1].loadCall(t.Context(), id)
		if err != nil || failed != nil || !open || c.Session != "the upstream's" || strings.Contains(string(kept), "upstream's") || strings.Contains(string(kept), clientsSession) {
			t.Errorf("kept %s, opened %+v, %v", kept, c, errors.Join(err, failed))
		}
	})
}

// A call that waits for the one upstream that has its session keeps nobody from another.
func TestCallsInSessionsQueueBeforeTheirUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := &oldServer{replays: true}
		b := startBerths(t, 1, settings{old: old}, newTool("u", "v"))[0]
		one := rule(func(r *Rule) { r.Concurrency = 1 })
		var waiting []string
		for range 4 {
			waiting = append(waiting, b.handAt(t, one, 0, "u"))
			synctest.Wait() // it stands in line before the next one comes
		}
		b.handAt(t, one, 0, "v")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if old.executions() != 2 {
			t.Fatalf("%d calls run, want one at each upstream", old.executions())
		}
		if v := b.see(t, waiting[3]); v.Place != 3 {
			t.Errorf("the last one stands at %d", v.Place)
		}
		for n := range 5 {
			old.call(t, n).answer(`{}`)
			time.Sleep(2 * placeEvery)
			synctest.Wait()
		}
		for _, id := range waiting {
			b.mustState(t, id, Completed)
		}
	})
}

package upgrade

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/queues"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// A result is the task's whatever else it says; an error of the tool is passed on
// verbatim; what is no answer is told in words of berth's own.
func TestHowACallEndsIsHowItsTaskEnds(t *testing.T) {
	for _, c := range []struct {
		does   string
		state  State
		says   string
		reason string
	}{
		{"result", Completed, `{"content":[{"type":"text","text":"1"}]}`, ""},
		{"error", Failed, `{"code":-32001,"message":"the tool says no"}`, ""},
		{"break", Failed, "broke the exchange off", mcp.ReasonUpstreamReset},
		{"end", Failed, "without a response", mcp.ReasonBadUpstream},
		{"unsent", Failed, "can be reached", mcp.ReasonNoUpstream},
		{"hang", Failed, "longer than a held call may", mcp.ReasonTimeout},
	} {
		t.Run(c.does, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startBerths(t, 1, settings{}, newTool())[0]
				id := b.hand(t, rule(nil), "call "+c.does)
				time.Sleep(11 * time.Minute)
				v := b.mustState(t, id, c.state)
				if !strings.Contains(string(v.Outcome), c.says) {
					t.Errorf("got %s, want %s", v.Outcome, c.says)
				}
				if c.reason != "" && v.failure(t).Data.Reason != c.reason {
					t.Errorf("got the reason %q, want %q", v.failure(t).Data.Reason, c.reason)
				}
				if held, inside := b.Held(), b.tool.inflight(); held+inside > 0 {
					t.Errorf("%d are held, %d are under way", held, inside)
				}
			})
		})
	}
}

// createdAt and ttlMs are what they were at first, however often the task changes, and it
// is not gone before they say so.
func TestTaskLivesAsLongAsItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		began := time.Now()
		id := b.hand(t, rule(func(r *Rule) { r.TTL = time.Minute }), "call ask:k result")
		time.Sleep(10 * time.Second)
		if err := b.Steps.Update(t.Context(), id, somebody, inputs("k", "1"), &Envelope{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(began.Add(time.Minute)))
		v := b.mustState(t, id, Completed)
		if v.Created.Sub(began).Abs() > time.Second || v.Terms.TTL != time.Minute || !v.Updated.After(v.Created) {
			t.Errorf("created %v, updated %v, ttl %v", v.Created, v.Updated, v.Terms.TTL)
		}
		time.Sleep(ledger.Spare + time.Second)
		if _, err := b.Reader.Get(t.Context(), id, somebody); !errors.Is(err, ErrUnknown) {
			t.Errorf("after its time: %v, want ErrUnknown", err)
		}
		if keys := b.line.at.Load(); keys != nil {
			for _, key := range []string{ledger.CallKey(id), ledger.OutcomeKey(id, v.Task.Outcome)} {
				if _, err := storage.GetBlob(t.Context(), keys, key); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("%s is left: %v", key, err)
				}
			}
		}
	})
}

// Whose task it is must not show to anybody else, nor where it was made.
func TestTaskIsItsMakersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		id := b.hand(t, rule(nil), "call hang")
		for _, who := range []Asker{{Pool: poolName, Principal: "bob"}, {Pool: poolName}, {Pool: "other", Principal: "alice"}} {
			_, err := b.Reader.Get(t.Context(), id, who)
			if !errors.Is(err, ErrUnknown) || !errors.Is(cancelled(b, id, who), ErrUnknown) || !errors.Is(b.Steps.Update(t.Context(), id, who, nil, &Envelope{}), ErrUnknown) {
				t.Errorf("%+v: got %v, want ErrUnknown", who, err)
			}
		}
		synctest.Wait()
		b.line.cut() // a holder answers for what it holds
		if _, err := b.Reader.Get(t.Context(), id, Asker{Pool: poolName, Principal: "bob"}); !errors.Is(err, ErrUnknown) {
			t.Errorf("while the store is away: got %v, want ErrUnknown", err)
		}
		b.mustState(t, id, Dispatched)
	})
}

// Progress is stored once a second, the last word first of all.
func TestProgressIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		b.line.note()
		id := b.hand(t, rule(nil), "call say:1,2,3,4,5,6,7,8/100ms")
		time.Sleep(850 * time.Millisecond)
		if got := b.see(t, id).Message; got != "1" {
			t.Errorf("after the first word: %q", got)
		}
		time.Sleep(40 * time.Millisecond)
		id = b.hand(t, rule(nil), "other say:1,2,3/400ms hang")
		time.Sleep(1700 * time.Millisecond)
		swaps := 0
		for _, op := range b.line.asked() {
			if op == "swap "+ledger.TaskKey(id) {
				swaps++
			}
		}
		if swaps > 5 { // dispatch, handle, the first word, the last one, the end
			t.Errorf("%d steps for three words", swaps)
		}
	})
}

// A call that asks for nothing but to be sent again is sent again, later each time, with
// its requestState, and not for ever.
func TestBareRoundsBackOffAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{}, up)[0]
		id := b.hand(t, rule(nil), "call bare bare result")
		began := time.Now()
		for b.see(t, id).State != Completed {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(began); took < runner.BareFirst+2*runner.BareFirst || took > 4*runner.BareFirst {
			t.Errorf("three rounds took %v", took)
		}
		if !strings.Contains(up.sent(2).body, `"requestState":"2"`) || strings.Contains(up.sent(2).body, "inputResponses") {
			t.Errorf("the third round is %s", up.sent(2).body)
		}
		endless := b.hand(t, rule(func(r *Rule) { r.TTL, r.Timeout = 24*time.Hour, time.Hour }), "endless bare")
		time.Sleep(20 * time.Minute)
		if f := b.see(t, endless).failure(t); f.Data.Reason != mcp.ReasonBadUpstream {
			t.Errorf("got %+v", f)
		}
		if n := up.count(); n != 3+1+runner.MaxBare {
			t.Errorf("%d rounds were sent in all", n)
		}
	})
}

// Each round has an id of its own, the answers under the upstream's keys, and the headers
// of whoever answered.
func TestNextRoundBearsTheAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		id := berths[0].hand(t, rule(nil), "call ask:k,l result")
		synctest.Wait()
		v := berths[1].mustState(t, id, InputRequired)
		if v.Holder != "" || len(v.Outstanding()) != 2 {
			t.Errorf("held by %q, asked %v", v.Holder, v.Outstanding())
		}
		if err := berths[1].Steps.Update(t.Context(), id, somebody, inputs("l", `"second"`, "other", "0"), &Envelope{}); err != nil {
			t.Fatal(err)
		}
		v = berths[0].see(t, id)
		if open := v.Outstanding(); len(open) != 1 || open[0].Key != "k" {
			t.Errorf("left to answer: %v", open)
		}
		with := Envelope{Header: Pairs{"Authorization", "Bearer of the answer"}}
		if err := berths[1].Steps.Update(t.Context(), id, somebody, inputs("k", `"first"`), &with); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		berths[0].mustState(t, id, Completed)
		second := up.sent(1).body
		if !strings.Contains(second, `"inputResponses":{"k":"first","l":"second"}`) || strings.Contains(second, `"id":1,`) {
			t.Errorf("the second round is %s", second)
		}
		if got := up.sent(1).headers["Authorization"]; len(got) != 1 || got[0] != "Bearer of the answer" {
			t.Errorf("it bears %v", got)
		}
	})
}

// A cancel by any berth closes the upstream's stream, and what comes late is dropped.
func TestCancelReachesTheHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		for _, by := range berths {
			id := berths[0].hand(t, rule(nil), "call hang")
			synctest.Wait()
			if _, err := by.Steps.Cancel(t.Context(), id, somebody); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if up.inflight() > 0 || berths[0].Held() > 0 {
				t.Errorf("the call goes on")
			}
			berths[0].mustState(t, id, Cancelled)
			if task, err := by.Steps.Cancel(t.Context(), id, somebody); !errors.Is(err, ErrTerminal) || task.State != Cancelled {
				t.Errorf("a second cancel: %v", err)
			}
		}
	})
}

// Where no word of a cancel reaches the holder, its mail does with the next beat.
func TestCancelReachesTheHolderByMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		berths[1].line.refuse(func(op, _ string) bool { return op == "notify" })
		id := berths[0].hand(t, rule(nil), "call hang")
		synctest.Wait()
		if _, err := berths[1].Steps.Cancel(t.Context(), id, somebody); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if up.inflight() != 1 {
			t.Fatal("the holder was told, which this test is not about")
		}
		time.Sleep(testLease / 3)
		synctest.Wait()
		if up.inflight() > 0 {
			t.Errorf("the call goes on after a beat")
		}
	})
}

// A client that is gone before it has the handle has no task.
func TestDiscardedCallLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{}, up)[0]
		h, err := b.Maker.Create(t.Context(), creation(rule(func(r *Rule) { r.LivePerPrincipal, r.Concurrency = 5, 1 }), "call hang"))
		if err != nil {
			t.Fatal(err)
		}
		h.Start(nil)
		synctest.Wait()
		h.Discard()
		b.runner.Calls.Empty(t.Context())
		id := h.Task().ID
		if _, err := b.Reader.Get(t.Context(), id, somebody); !errors.Is(err, ErrUnknown) {
			t.Errorf("got %v, want ErrUnknown", err)
		}
		l := b.ledger.Lists
		for _, list := range []string{l.TasksOf(b.ledger.Holder), l.LiveOf(poolName, "alice"), queues.WaitingIn(h.Task().Terms.Queue), l.SlotsOf(h.Task().Terms.Queue, "u")} {
			if left := b.members(t, list); len(left) > 0 {
				t.Errorf("%s still has %v", list, left)
			}
		}
		if up.inflight() > 0 {
			t.Error("the call goes on")
		}
	})
}

// An outcome waits in memory for the store, and no more of them than there is room for.
func TestOutcomesWaitForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		kept := b.hand(t, rule(nil), "call result/1s")
		synctest.Wait()
		b.line.cut()
		time.Sleep(time.Minute)
		b.line.mend()
		time.Sleep(2 * time.Second)
		b.mustState(t, kept, Completed)

		refused := b.hand(t, rule(nil), "call result/1s")
		synctest.Wait()
		b.runner.Unsaved.Take("", task.MaxUnsaved)
		b.line.cut()
		time.Sleep(time.Minute)
		b.line.mend()
		time.Sleep(2 * time.Second)
		if f := b.see(t, refused).failure(t); f.Data.Reason != mcp.ReasonStoreUnavailable {
			t.Errorf("got %+v", f)
		}
	})
}

// While the store is well an outcome that finds no room waits for those before it.
func TestOutcomesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		b.runner.Unsaved.Take("", task.MaxUnsaved)
		id := b.hand(t, rule(nil), "call result")
		time.Sleep(time.Minute)
		b.mustState(t, id, Dispatched)
		b.runner.Unsaved.Give("", task.MaxUnsaved)
		time.Sleep(time.Second)
		b.mustState(t, id, Completed)
	})
}

// Every step of a life may lose its acknowledgement: it is taken again, without effect.
func TestLostAcknowledgementsChangeNothing(t *testing.T) {
	for lost := range 24 {
		synctest.Test(t, func(t *testing.T) {
			up := newTool()
			b := startBerths(t, 1, settings{shared: true}, up)[0]
			time.Sleep(time.Second)
			writes := 0
			r := rule(func(r *Rule) { r.Concurrency = 1 })
			h, err := b.Maker.Create(t.Context(), creation(r, "call ask:k result"))
			if err != nil {
				t.Fatal(err)
			}
			b.line.muteOne(func() bool { writes++; return writes == lost })
			h.Start(nil)
			id := handle(h)
			time.Sleep(10 * time.Second)
			answered := func() error { return b.Steps.Update(context.Background(), id, somebody, inputs("k", "1"), &Envelope{}) }
			for answered() != nil {
				time.Sleep(time.Second)
			}
			time.Sleep(10 * time.Second)
			b.mustState(t, id, Completed)
			if up.times("call", 0) != 1 || up.times("call", 1) != 1 {
				t.Errorf("write %d not acknowledged: ran %v", lost, up.all())
			}
			if left := b.members(t, b.ledger.Lists.SlotsOf(r.Terms(poolName).Queue, "u")); len(left) > 0 {
				t.Errorf("write %d not acknowledged: %v is left", lost, left)
			}
		})
	}
}

func cancelled(b *berth, id string, who Asker) error {
	_, err := b.Steps.Cancel(context.Background(), id, who)
	return err
}

// What a round has read does not stay counted, however the round ends.
func TestRoundGivesItsRoomBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		for _, does := range []string{"big:100", "error", "break", "ask:k hang"} {
			b.hand(t, rule(nil), "call "+does)
			synctest.Wait()
		}
		b.mustHaveRoom(t)
	})
}

// mustHaveRoom fails the test while an answer is counted as one in memory.
func (b *berth) mustHaveRoom(t *testing.T) {
	t.Helper()
	var room task.Room
	room.Open(b.runner.Unsaved, "another", time.Now().Add(time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := room.Take(ctx, task.MaxUnsaved); err != nil {
		t.Errorf("something is still counted: %v", err)
	}
	room.Give()
}

// A call that its upstream holds while its client is asked is given up there with its task, in the name of who cancels that; nobody's name
// is an operator's.
func TestCancelGivesUpTheCallThatWaitsForItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given []*Call
		up := newTool()
		berths := startBerths(t, 2, settings{giveUp: func(_ context.Context, _ *routing.Upstream, c *Call) error {
			given = append(given, c)
			return nil
		}}, up)
		waits, working := berths[0].hand(t, rule(nil), "call ask:k result"), berths[0].hand(t, rule(nil), "hang")
		operated := berths[0].hand(t, rule(nil), "call ask:k result")
		synctest.Wait()
		berths[1].mustState(t, waits, InputRequired)
		who := somebody
		who.Envelope = &Envelope{Header: Pairs{"Authorization", "Bearer of the cancel"}}
		for _, id := range []string{waits, working} {
			if _, err := berths[1].Steps.Cancel(t.Context(), id, who); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := berths[1].Orders.Cancel(t.Context(), operated, poolName, "cancelled by the operator"); err != nil {
			t.Fatal(err)
		}
		if len(given) != 1 || !strings.Contains(string(given[0].Body), `"requestState":"1"`) || given[0].Headers().Get("Authorization") != "Bearer of the cancel" ||
			given[0].Principal != somebody.Principal {
			t.Fatalf("given up: %+v", given)
		}
		goesOn := berths[0].hand(t, rule(nil), "call ask:k hang")
		synctest.Wait()
		if err := berths[0].Steps.Update(t.Context(), goesOn, somebody, inputs("k", `"yes"`), &Envelope{Header: Pairs{"Authorization", "Bearer of the answer"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		berths[1].mustState(t, goesOn, Dispatched)
		if _, err := berths[1].Steps.Cancel(t.Context(), goesOn, who); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(given) != 2 || !strings.Contains(string(given[1].Body), `"requestState":"1"`) || given[1].Headers().Get("Authorization") != "Bearer of the answer" ||
			given[1].Principal != somebody.Principal {
			t.Errorf("given up: %+v", given)
		}
	})
}

// So is one whose upstream the berth has to look for, and whether anybody waits for the answers is asked there.
func TestABerthLooksForTheUpstreamOfACallThatItGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given, asked []string
		berths := startBerths(t, 3, settings{
			giveUp: func(_ context.Context, u *routing.Upstream, _ *Call) error {
				given = append(given, u.Name)
				return nil
			},
			isMoot: func(_ context.Context, u *routing.Upstream, _ *Call) bool {
				asked = append(asked, u.Name)
				return false
			},
		}, newTool())
		id := berths[0].hand(t, rule(nil), "call ask:k result")
		synctest.Wait()
		for _, b := range berths[1:] {
			b.forgetUpstreams()
		}
		v := berths[1].mustState(t, id, InputRequired)
		for range 2 { // the first one begins the time after which it is asked
			berths[1].Steps.Doubt(&v.Task, somebody, func() Envelope { return Envelope{} })
			time.Sleep(mootEvery)
		}
		synctest.Wait()
		who := somebody
		who.Envelope = &Envelope{}
		if _, err := berths[2].Steps.Cancel(t.Context(), id, who); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(asked) != 1 || len(given) != 1 || asked[0] != v.Upstream || given[0] != v.Upstream {
			t.Errorf("%q was asked, and is told by %q of the call at %s", asked, given, v.Upstream)
		}
	})
}

// A call that waits for its client is given up as well where the store takes the cancel only later.
func TestCancelThatTheStoreTakesLaterGivesUpTheCallThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := make(chan *Call, 10)
		berths := startBerths(t, 2, settings{giveUp: func(_ context.Context, _ *routing.Upstream, c *Call) error {
			given <- c
			return nil
		}}, newTool())
		waits := berths[0].hand(t, rule(nil), "call ask:k result")
		synctest.Wait()
		berths[1].mustState(t, waits, InputRequired)
		who := somebody
		who.Envelope = &Envelope{Header: Pairs{"Authorization", "Bearer of the cancel"}}
		berths[1].line.refuse(func(op, _ string) bool { return op != "get" })
		if _, err := berths[1].Steps.Cancel(t.Context(), waits, who); !errors.Is(err, storage.ErrUnavailable) {
			t.Fatalf("got %v", err)
		}
		time.Sleep(testLease)
		if len(given) > 0 {
			t.Fatal("it is given up, and not cancelled")
		}
		berths[1].line.refuse(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		berths[0].mustState(t, waits, Cancelled)
		if len(given) != 1 {
			t.Fatalf("given up %d times, want once", len(given))
		}
		if c := <-given; c.Headers().Get("Authorization") != "Bearer of the cancel" || !strings.Contains(string(c.Body), `"requestState":"1"`) {
			t.Errorf("given up with %s %v", c.Body, c.Headers())
		}
	})
}

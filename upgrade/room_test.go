package upgrade

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
)

// What a call bears counts as long as it is held.
func TestCallThatIsOverIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{HeldPerCaller: 100 * kib})
		large := strings.Repeat("a", 60*kib)
		if _, refused := b.tries(t, from("one", rule(nil), "call result/1s "+large)); refused != "" {
			t.Fatal(refused)
		}
		if _, refused := b.tries(t, from("one", rule(nil), "call result "+large)); refused != "caller_held" {
			t.Errorf("a second call: got %q", refused)
		}
		time.Sleep(2 * time.Second)
		if _, refused := b.tries(t, from("one", rule(nil), "call result "+large)); refused != "" {
			t.Errorf("refused when the first is over: %s", refused)
		}
	})
}

// What a tool asks between two rounds, and what its client answers, must find room.
func TestRoomForAsksAndAnswers(t *testing.T) {
	bounds := Bounds{BytesPerCaller: 100 * kib}
	who := Asker{Pool: poolName}
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, bounds)
		id, refused := b.tries(t, from("one", rule(nil), "call ask:"+strings.Repeat("k", 60*kib)+" result"))
		if refused != "" {
			t.Fatal(refused)
		}
		v, err := b.Reader.Get(t.Context(), id, who)
		if err != nil {
			t.Fatal(err)
		}
		if f := v.failure(t); f.Data.Reason != mcp.ReasonTooMuchKept {
			t.Errorf("asks without room: got %+v", f)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, bounds)
		id, refused := b.tries(t, from("one", rule(nil), "call ask:k result"))
		if refused != "" {
			t.Fatal(refused)
		}
		err := b.Steps.Update(t.Context(), id, who, inputs("k", `"`+strings.Repeat("a", 120*kib)+`"`), &Envelope{})
		if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Reason != "answers" || !errors.Is(err, ErrTooMuchKept) {
			t.Errorf("answers without room: got %v", err)
		}
		if v, err := b.Reader.Get(t.Context(), id, who); err != nil || v.State != InputRequired {
			t.Errorf("the task is %s (%v), want it to wait for other answers", v.State, err)
		}
		if err := b.Steps.Update(t.Context(), id, who, inputs("k", "1"), &Envelope{}); err != nil {
			t.Errorf("answers with room: %v", err)
		}
		synctest.Wait()
		if v, err := b.Reader.Get(t.Context(), id, who); err != nil || v.State != Completed {
			t.Errorf("the task is %s (%v)", v.State, err)
		}
	})
}

// So must what a call in a session asks; what it may not ask is refused at its server.
func TestRoomForWhatACallInASessionAsks(t *testing.T) {
	bounded := func(_ *testing.T, s *settings) { s.kept = Bounds{BytesPerCaller: 100 * kib} }
	oldWorld(t, bounded, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		call := old.call(t, 0)
		for n, size := range []int{60 * kib, 60 * kib, 20 * kib} {
			call.say(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":%q}}`, n, strings.Repeat("?", size))
			soon()
		}
		v := berths[1].statusOf(t, id, "input_required")
		if asks := v.OpenAsks(); len(asks) != 2 || asks[0].Key != "0" || asks[1].Key != "2" {
			t.Errorf("%d are open", len(asks))
		}
		if told := old.told(); len(told) != 1 || !strings.Contains(told[0], `"id":1,"error"`) {
			t.Errorf("told %.200q, want the second refused", told)
		}
	})
}

// What calls in sessions ask is in memory until it is answered, wherever their tasks are kept:
// it counts for what calls hold.
func TestOpenAsksAreHeld(t *testing.T) {
	bounded := func(_ *testing.T, s *settings) { s.kept = Bounds{HeldPerCaller: 100 * kib} }
	oldWorld(t, bounded, func(t *testing.T, berths []*berth, old *oldServer) {
		b, id := berths[0], ""
		var calls []*oldCall
		for n := range 2 {
			id = b.handCore(t, rule(nil), 0)
			soon()
			calls = append(calls, old.call(t, n))
		}
		ask := func(call, n, size int) {
			calls[call].say(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":%q}}`, n, strings.Repeat("?", size))
			soon()
		}
		open := func() string {
			v, err := b.Reader.Get(t.Context(), id, somebody)
			if err != nil {
				t.Fatal(err)
			}
			var keys strings.Builder
			for _, ask := range v.OpenAsks() {
				keys.WriteString(ask.Key)
			}
			return keys.String()
		}
		ask(0, 0, 60*kib)
		ask(1, 1, 60*kib)
		ask(1, 2, 20*kib)
		if got := open(); got != "2" || len(old.told()) != 1 {
			t.Errorf("%q are open, %d were refused, want one of each", got, len(old.told()))
		}
		if held := b.ledger.Quota.Total().Held; held < 80*kib || held > 100*kib {
			t.Errorf("%d bytes are held of 80 KiB that are asked", held)
		}
		berths[1].Sessions.SettleIn(t.Context(), behindKey(), []byte("0"))
		soon()
		ask(1, 3, 60*kib)
		if got := open(); got != "23" {
			t.Errorf("%q are open once the first call asks nothing", got)
		}
		for _, key := range []string{"2", "3"} {
			b.Sessions.SettleIn(t.Context(), behindKey(), []byte(key))
		}
		soon()
		if all := b.ledger.Quota.Total(); all.Held > 4*kib || all.Bytes > 4*2*kib {
			t.Errorf("%+v are counted of two calls that ask nothing", all)
		}
	})
}

// Answers to what was not asked are not kept, and do not count.
func TestAnswersToNothingDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{BytesPerCaller: 100 * kib})
		id, refused := b.tries(t, from("one", rule(nil), "call ask:k result"))
		if refused != "" {
			t.Fatal(refused)
		}
		before := b.ledger.Quota.Total()
		for _, size := range []int{50, 200} {
			if err := b.Steps.Update(t.Context(), id, Asker{Pool: poolName}, inputs("nothing", `"`+strings.Repeat("a", size*kib)+`"`), &Envelope{}); err != nil {
				t.Errorf("%d KiB of answers to nothing: %v", size, err)
			}
		}
		if after := b.ledger.Quota.Total(); after != before {
			t.Errorf("counted %+v, before %+v", after, before)
		}
	})
}

// The call of a task whose last answer has come is held again, with what was answered.
func TestAnsweredCallsAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{HeldPerCaller: 100 * kib})
		var refused []error
		for range 2 {
			id, _ := b.tries(t, from("one", rule(nil), "call ask:k hang"))
			refused = append(refused, b.Steps.Update(t.Context(), id, Asker{Pool: poolName}, inputs("k", `"`+strings.Repeat("a", 60*kib)+`"`), &Envelope{}))
			synctest.Wait()
		}
		if refused[0] != nil || !errors.Is(refused[1], ErrTooMuchKept) {
			t.Errorf("got %v, want the second refused", refused)
		}
		if held := b.ledger.Quota.Total().Held; held < 60*kib || held > 70*kib {
			t.Errorf("%d bytes are held of one call with 60 KiB of answers", held)
		}
	})
}

// A task that is cancelled while nobody holds it keeps its arguments no longer.
func TestCancelledTaskKeepsItsRecordAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{})
		id, refused := b.tries(t, from("one", rule(nil), "call ask:k result "+strings.Repeat("a", 60*kib)))
		if refused != "" {
			t.Fatal(refused)
		}
		if before := b.ledger.Quota.Total().Bytes; before < 60*kib {
			t.Errorf("counted %d bytes of one that waits for its client", before)
		}
		if _, err := b.Steps.Cancel(t.Context(), id, Asker{Pool: poolName}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if after := b.ledger.Quota.Total(); after.Bytes > 2*kib+kib || after.Held != 0 || after.Tasks != 1 {
			t.Errorf("counted %+v, want the record", after)
		}
	})
}

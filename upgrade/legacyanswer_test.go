package upgrade

import "testing"

// A client returns an id in its own spelling, and so may a replay.
func TestAskIsSettledHoweverItsIDIsSpelled(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		call := old.call(t, 0)
		for asked, answered := range map[string]string{`"a\/b"`: `"a/b"`, `"\u00e9"`: `"é"`, `1.0`: `1`, `1e2`: `100`, `"1"`: `"\u0031"`} {
			call.ask(asked)
			call.ask(answered) // once more
			soon()
			berths[1].statusOf(t, id, "input_required")
			if got, err := berths[1].Sessions.AskedIn(t.Context(), behindKey(), []byte(answered)); err != nil || got != id {
				t.Errorf("%s was asked by %q, %v", answered, got, err)
			}
			berths[1].Sessions.Settle(t.Context(), id, []byte(answered))
			if v := berths[0].statusOf(t, id, "working"); len(v.OpenAsks()) != 0 {
				t.Errorf("after %s is open: %+v", answered, v.OpenAsks())
			}
		}
		call.ask(`2.0`)
		call.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		soon()
		berths[1].statusOf(t, id, "working")
	})
}

// Each upstream counts what it asks from the beginning: in a session that has moved the
// same id has been asked before, and may be open still.
func TestAsksOfASessionThatHasMoved(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		before := berths[0].handCore(t, rule(nil), 0)
		soon()
		for _, ask := range []string{"0", "1"} {
			old.call(t, 0).ask(ask)
		}
		soon()
		berths[0].Sessions.Settle(t.Context(), before, []byte("0"))
		after := berths[0].handBehind(t, rule(nil), 0, "u", "the next upstream's")
		soon()
		for _, ask := range []string{"0", "1"} {
			old.call(t, 1).ask(ask)
			soon()
			berths[1].statusOf(t, after, "input_required")
			behind := BehindKey(clientsKey(), "the next upstream's")
			if got, err := berths[1].Sessions.AskedIn(t.Context(), behind, []byte(ask)); err != nil || got != after {
				t.Errorf("%s was asked by %q, %v", ask, got, err)
			}
			berths[1].Sessions.Settle(t.Context(), after, []byte(ask))
			berths[1].statusOf(t, after, "working")
		}
		berths[1].statusOf(t, before, "input_required")
	})
}

// What is a result in the call's era is the task's, whatever other eras make of it; and
// what says nothing is not told, least of all a token that the client did not give.
func TestWhatAnotherEraReadsIntoALegacyAnswer(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		call := old.call(t, 0)
		call.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%s","progress":"much"}}`, berths[1].see(t, id).Call)
		const result = `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}`
		call.answer(result)
		soon()
		if v := berths[1].mustState(t, id, Completed); string(v.Outcome) != result || len(v.Said) != 0 {
			t.Errorf("got %s after %v", v.Outcome, v.Said)
		}
	})
}

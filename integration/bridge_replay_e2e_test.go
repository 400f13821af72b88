//go:build e2e

package integration

import (
	"strings"
	"sync"
	"testing"
)

// wantRefused fails the test unless a round was refused: with an error, and neither a result
// nor a question.
func (r round) wantRefused(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil || r.Error == nil || r.asks() || r.said() != "" {
		t.Errorf("%s: got %v, %v, want it refused", what, r, err)
	}
}

// A retry that comes twice at once, as from a client that saw its connection break, has one
// effect; both get the same next round.
func TestBridgedRetryThatComesTwiceHasOneEffect(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		call := asksTwice(newAskingClient(t), "twice")
		asked := call.begin(t, url)

		var rounds [2]round
		var both sync.WaitGroup
		for i := range rounds {
			both.Go(func() { rounds[i], _ = call.answer(t, url, asked, "red") })
		}
		both.Wait()
		for _, got := range rounds {
			if !got.asks() {
				t.Fatalf("got %v and %v, want the second question twice", rounds[0], rounds[1])
			}
		}
		for i := range rounds {
			both.Go(func() { rounds[i], _ = call.answer(t, url, rounds[i], "blue") })
		}
		both.Wait()
		for _, got := range rounds {
			if got.said() != "twice: red then blue" {
				t.Errorf("got %v, want the result twice", got)
			}
		}
		site.runs.wantOnce(t, "twice")
	})
}

// However many retries come, through however many berths.
func TestBridgedRetriesThroughAllBerthsHaveOneEffect(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		b := startBridgeBerths(t, r, 3)
		call := asksTwice(newAskingClient(t), "storm")
		got := call.begin(t, b.anyURL())
		for _, answer := range []string{"red", "blue"} {
			rounds := make([]round, 12)
			crowd(t, len(rounds), len(rounds), func(i int) {
				var err error
				if rounds[i], err = call.answer(t, b.live[i%len(b.live)].url(), got, answer); err != nil {
					t.Error(err)
				}
			})
			got = rounds[0]
			for _, other := range rounds {
				if other.asks() != got.asks() || other.said() != got.said() || other.Error != nil {
					t.Errorf("got %v and %v, want the same for all", got, other)
				}
			}
			if t.Failed() {
				return
			}
		}
		if got.said() != "storm: red then blue" {
			t.Errorf("got %v, want both answers", got)
		}
		b.site.runs.wantOnce(t, "storm")
	})
}

// Who answers a round that is over with something else changes nothing.
func TestBridgedRoundThatIsOverTakesNoOtherAnswer(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		call := asksTwice(newAskingClient(t), "over")
		first := call.begin(t, url)
		second := call.goOn(t, url, first, "red")

		if again, err := call.answer(t, url, first, "green"); err == nil && again.Error == nil && !again.asks() {
			t.Errorf("the first round again: got %v, want the second question or an error", again)
		}
		if last := call.goOn(t, url, second, "blue"); last.said() != "over: red then blue" {
			t.Errorf("got %v, want the first answer to the first question", last)
		}
		if again, err := call.answer(t, url, second, "green"); err == nil && again.Error == nil && again.said() != "over: red then blue" {
			t.Errorf("the last round again: got %v, want the same result or an error", again)
		}
		site.runs.wantOnce(t, "over")
	})
}

// A state is good for the call that it was made for, and for nobody else.
func TestBridgedStateIsBoundToItsCallAndCaller(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		alice := newAskingClient(t)
		alice.token = "alice"
		call := asksOnce(alice, "bound")
		asked := call.begin(t, url)
		answers := answersTo(asked, "red")
		state := asked.Result.RequestState

		for _, forged := range []string{"x", state + "-TAMPERED", flipped(state), strings.Repeat("A", len(state)), state[:len(state)/2]} {
			got, err := call.send(t, url, forged, answers)
			got.wantRefused(t, "a state that was tampered with", err)
		}
		mallory := newAskingClient(t)
		mallory.token = "mallory"
		got, err := asksOnce(mallory, "bound").send(t, url, state, answers)
		got.wantRefused(t, "somebody else's state", err)
		got, err = asksOnce(newAskingClient(t), "bound").send(t, url, state, answers)
		got.wantRefused(t, "a state without its caller's credentials", err)
		got, err = asksTwice(alice, "bound").send(t, url, state, answers)
		got.wantRefused(t, "another tool's state", err)
		got, err = asksOnce(alice, "other").send(t, url, state, answers)
		got.wantRefused(t, "a state with other arguments", err)

		if got := call.goOn(t, url, asked, "red"); got.said() != "bound: red" {
			t.Errorf("after all that: got %v, want the call to go on", got)
		}
		site.runs.wantOnce(t, "bound")
		if n := site.runs.count(t, "begun")["other"]; n != 0 {
			t.Errorf("executions of the call with a foreign state: got %d, want none", n)
		}
	})
}

// flipped is a state with one character changed.
func flipped(state string) string {
	middle := len(state) / 2
	other := "A"
	if state[middle] == 'A' {
		other = "B"
	}
	return state[:middle] + other + state[middle+1:]
}

// A state of another berth's making, with another key, is forged.
func TestBridgedStateOfAnotherKeyIsRefused(t *testing.T) {
	t.Parallel()
	site := overPlain.startLegacy(t, 1)
	client := newAskingClient(t)
	call := asksOnce(client, "key")
	asked := call.begin(t, site.start(t, "").url())
	got, err := call.answer(t, site.start(t, "").url(), asked, "red")
	got.wantRefused(t, "a state of another key", err)
	site.runs.wantOnce(t, "key")
}

// What a client declares may change from round to round; what it cannot be asked any more
// it is not asked.
func TestBridgedCapabilitiesMayChangeBetweenRounds(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		less := newAskingClient(t)
		call := asksTwice(less, "less")
		asked := call.begin(t, url)
		delete(less.capabilities, "elicitation")
		got, err := call.answer(t, url, asked, "red")
		if missing := got.Error != nil && got.Error.Code == -32021; err != nil || got.asks() || !missing && !got.Result.IsError {
			t.Errorf("with less than before: got %v, %v, want it told that it was to be asked", got, err)
		}
		site.runs.wantOnce(t, "less")
		site.runs.awaitOver(t, "less")

		more := newAskingClient(t)
		more.capabilities = map[string]any{"elicitation": map[string]any{}}
		call = asksTwice(more, "more")
		asked = call.begin(t, url)
		more.capabilities = allKinds()
		asked = call.goOn(t, url, asked, "red")
		if got := call.goOn(t, url, asked, "blue"); got.said() != "more: red then blue" {
			t.Errorf("with more than before: got %v, want both answers", got)
		}
		site.runs.wantOnce(t, "more")
	})
}

// Answers that come without a state belong to no call: they begin one.
func TestBridgedAnswersWithoutAStateBeginACall(t *testing.T) {
	t.Parallel()
	site := overPlain.startLegacy(t, 1)
	url := site.start(t, "").url()
	call := asksOnce(newAskingClient(t), "stateless")
	got := call.sendWanted(t, url, "", map[string]any{"confirm": map[string]any{"action": "accept"}})
	if !got.asks() {
		t.Fatalf("got %v, want the question", got)
	}
	if got := call.goOn(t, url, got, "red"); got.said() != "stateless: red" {
		t.Errorf("got %v, want the answer", got)
	}
	site.runs.wantOnce(t, "stateless")
}

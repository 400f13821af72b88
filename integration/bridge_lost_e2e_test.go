//go:build e2e

package integration

import (
	"fmt"
	"slices"
	"testing"
)

// A session that its server has forgotten between a question and its answer takes the call
// with it: the client is told, at once, and the tool is not run again.
func TestBridgedCallWhoseSessionIsLostEndsPlainly(t *testing.T) {
	eachOf(t, []reach{overResumable, overPlain, overSSE}, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1)
		url := site.start(t, "").url()
		client := newAskingClient(t)
		call := asksOnce(client, "forgotten")
		asked := call.begin(t, url)
		site.fleet[0].forget(t)
		got, err := call.answer(t, url, asked, "red")
		got.wantRefused(t, "the answer in a lost session", err)
		site.runs.wantOnce(t, "forgotten")

		if got, err := asksOnce(client, "next").through(t, func() string { return url }, "blue"); err != nil || got.said() != "next: blue" {
			t.Errorf("the next call: got %v, %v, want a session anew", got, err)
		}
	})
}

// A call that finds its session lost before it began has another one opened for it: the client
// is told nothing of sessions.
func TestBridgedCallThatFindsItsSessionLostGoesOn(t *testing.T) {
	eachOf(t, []reach{overResumable, overPlain, overOwn, overSSE}, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1)
		url := site.start(t, "").url()
		client := newAskingClient(t)
		for i := range 5 {
			nonce := fmt.Sprint("found-lost-", i)
			call := askedCall{client: client, name: "greet", args: map[string]any{"name": nonce, "nonce": nonce}}
			if got, err := call.send(t, url, "", nil); err != nil || got.said() != "Hello, "+nonce+"!" {
				t.Errorf("got %v, %v, want it greeted", got, err)
			}
			site.runs.wantOnce(t, nonce)
			site.fleet[0].forget(t)
		}
	})
}

// So does an upstream that dies. What was not sent goes to the others.
func TestBridgedCallWhoseUpstreamDiesEndsPlainly(t *testing.T) {
	eachOf(t, []reach{overResumable, overPlain, overSSE}, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 3)
		url := site.start(t, "").url()
		client := newAskingClient(t)
		calls := []string{"dies-0", "dies-1", "dies-2", "dies-3", "dies-4", "dies-5"}
		asked := map[string]round{}
		for _, nonce := range calls {
			asked[nonce] = asksOnce(client, nonce).begin(t, url)
		}
		killed := site.fleet[0].stats(t).Questions
		site.fleet[0].kill()
		lost := 0
		for _, nonce := range calls {
			got, err := asksOnce(client, nonce).answer(t, url, asked[nonce], "red")
			if got.said() != nonce+": red" {
				got.wantRefused(t, "the answer to a dead upstream", err)
				lost++
			}
		}
		if lost != killed {
			t.Errorf("calls lost: got %d, want the %d of the dead upstream", lost, killed)
		}
		site.runs.wantOnce(t, calls...)
		for _, nonce := range []string{"after-0", "after-1", "after-2"} {
			if got, err := asksOnce(client, nonce).through(t, func() string { return url }, "red"); err != nil || got.said() != nonce+": red" {
				t.Errorf("after that: got %v, %v, want it done by the others", got, err)
			}
		}
	})
}

// A server that withdraws its question, here because it lost patience, ends the round: the
// call comes to its end without the answer.
func TestBridgedQuestionThatIsWithdrawnTakesNoAnswer(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		call := asksOnce(newAskingClient(t), "impatient")
		call.args["patience"] = 300
		asked := call.begin(t, url)
		site.runs.awaitOver(t, "impatient")
		got, err := call.answer(t, url, asked, "too late")
		if err != nil || got.asks() || got.Error == nil && !got.Result.IsError {
			t.Errorf("got %v, %v, want the tool's failure", got, err)
		}
		site.runs.wantOnce(t, "impatient")
	})
}

// So does one that became a task, which nobody answers and somebody polls, or listens for: it says what the tool came to.
func TestUpgradedBridgedCallGoesOnWhereNobodyWaitsForItsAnswer(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1)
		url := site.start(t, "[[upgrade]]\ntools = [\"one_question\"]\npoll_interval = \"100ms\"\n").url()
		client := newModernClient(t)
		polled := client.upgraded(t, url, "one_question", map[string]any{"nonce": "polled", "patience": 2000})
		heard := client.upgraded(t, url, "one_question", map[string]any{"nonce": "heard", "patience": 2000})
		listener := newAskingClient(t)
		listener.capabilities["extensions"] = map[string]any{tasksExtension: map[string]any{}}
		told := listener.listen(t, url, map[string]any{"taskIds": []string{heard}})
		client.awaitStatus(t, url, polled, "input_required")
		client.awaitStatus(t, url, polled, "completed", "failed")
		ends := []string{"completed", "failed"}
		last := ""
		for m := range told {
			if m.Params.TaskID == heard {
				last = m.Params.Status
			}
			if slices.Contains(ends, last) {
				break
			}
		}
		if !slices.Contains(ends, last) {
			t.Errorf("who listens was last told %q, want the end", last)
		}
		site.runs.wantOnce(t, "polled", "heard")
	})
}

// A client that hangs up has cancelled its call, also when it has answered a question.
func TestBridgedCallIsCancelledByItsClientsHangUp(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		client := newAskingClient(t)
		call := askedCall{client: client, name: "slow_compute", args: map[string]any{"nonce": "left", "seconds": 600, "label": "left"}}
		call.hangUpAt(t, url, "", nil, func() bool { return site.runs.count(t, "begun")["left"] > 0 })
		site.runs.awaitOver(t, "left")

		if got, err := asksOnce(client, "stays").through(t, func() string { return url }, "red"); err != nil || got.said() != "stays: red" {
			t.Errorf("the next call: got %v, %v, want it done", got, err)
		}
	})
}

// So it has in a later round, while the tool works with its answer.
func TestBridgedCallIsCancelledByItsClientsHangUpInALaterRound(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		client := newAskingClient(t)
		call := askedCall{client: client, name: "slow_answer", args: map[string]any{"nonce": "later"}}
		asked := call.begin(t, url)
		call.hangUpAt(t, url, asked.Result.RequestState, answersTo(asked, "red"),
			func() bool { return site.runs.count(t, "answered")["later"] > 0 })
		site.runs.awaitOver(t, "later")
		site.runs.wantOnce(t, "later")
	})
}

// Nobody who walks away from a question keeps others from asking: not with one process, or one
// session, for all of a caller's calls.
func TestBridgedQuestionsThatNobodyAnswersStopNobody(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		client := newAskingClient(t)
		nonces := []string{"walked-0", "walked-1", "walked-2", "walked-3", "walked-4", "walked-5"}
		for _, nonce := range nonces {
			asksOnce(client, nonce).begin(t, url)
		}
		if got, err := asksOnce(client, "stayed").through(t, func() string { return url }, "red"); err != nil || got.said() != "stayed: red" {
			t.Errorf("got %v, %v, want the call that is answered done", got, err)
		}
		site.runs.wantOnce(t, slices.Concat(nonces, []string{"stayed"})...)
	})
}

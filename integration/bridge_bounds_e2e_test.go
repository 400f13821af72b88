//go:build e2e

package integration

import (
	"fmt"
	"testing"
)

// A question that nobody answers in its time is answered for them: the call ends, and takes no
// answer after that.
func TestBridgedQuestionIsOpenForItsTime(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1)
		site.bridge = "question = \"1s\"\n"
		url := site.start(t, "").url()
		call := asksTwice(newAskingClient(t), "late")
		asked := call.begin(t, url)
		site.runs.awaitOver(t, "late")
		got, err := call.answer(t, url, asked, "red")
		if err != nil || got.asks() || got.Error == nil && !got.Result.IsError {
			t.Errorf("after its time: got %v, %v, want an error", got, err)
		}
		site.runs.wantOnce(t, "late")
	})
}

// So it is where the client answered one question and left at the next.
func TestBridgedQuestionOfALaterRoundIsOpenForItsTime(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1)
		site.bridge = "question = \"1s\"\n"
		url := site.start(t, "").url()
		call := asksTwice(newAskingClient(t), "later")
		if second := call.goOn(t, url, call.begin(t, url), "red"); !second.asks() {
			t.Fatalf("got %v, want the second question", second)
		}
		site.runs.awaitOver(t, "later")
		site.runs.wantOnce(t, "later")
	})
}

// What a question's time ends, it ends wherever its client went, the berth that began the call
// being dead.
func TestBridgedQuestionOfADeadBerthDoesNotStayOpen(t *testing.T) {
	t.Parallel()
	eachOf(t, acrossBerths, func(t *testing.T, r reach) {
		b := &bridgeBerths{site: r.startLegacy(t, 1), store: sharedStore(t)}
		b.site.bridge = "question = \"1s\"\n"
		b.live = []*watched{b.start(t), b.start(t)}
		call := asksOnce(newAskingClient(t), "dead")
		asked := call.begin(t, b.live[0].url())
		b.live[0].kill()
		if !await(t, readyWithin, func() bool {
			got, err := call.answer(t, b.live[1].url(), asked, "late")
			return err == nil && (got.Error != nil || got.Result.ResultType == "complete")
		}) {
			t.Error("the call stays open, want it ended one way or the other")
		}
		b.site.runs.wantOnce(t, "dead")
	})
}

// Sessions that nobody uses are ended, at the server too; the next call has another one.
func TestBridgedSessionsThatNobodyUsesAreEnded(t *testing.T) {
	eachOf(t, []reach{overResumable, overPlain, overSSE}, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1)
		site.bridge = "idle = \"1s\"\n"
		url := site.start(t, "").url()
		client := newAskingClient(t)
		before := client.session(t, url)
		if !await(t, readyWithin, func() bool { return site.fleet[0].stats(t).Sessions == 0 }) {
			t.Errorf("sessions: got %d, want none", site.fleet[0].stats(t).Sessions)
		}
		if after := client.session(t, url); after.Session == before.Session {
			t.Errorf("the session %s was ended and is used", after.Session)
		}
	})
}

// There are never more sessions than may be: whoever finds none is told to come again, and does
// when others are done.
func TestBridgedSessionsAreBounded(t *testing.T) {
	t.Parallel()
	const most, calls = 4, 24
	site := overPlain.startLegacy(t, 1)
	site.bridge = fmt.Sprintf("sessions = %d\n", most)
	url := site.start(t, "").url()
	client := newAskingClient(t)
	crowd(t, calls, calls, func(i int) {
		call := asksOnce(client, fmt.Sprint("bounded-", i))
		var got round
		var err error
		if !await(t, readyWithin, func() bool { got, err = call.send(t, url, "", nil); return err != nil || !got.mayComeAgain() }) {
			t.Errorf("got %v, %v, want a session at last", got, err)
			return
		}
		if err == nil && got.asks() {
			got, err = call.answer(t, url, got, "red")
		}
		if err != nil || got.said() != fmt.Sprintf("bounded-%d: red", i) {
			t.Errorf("got %v, %v, want the answer", got, err)
		}
		if n := site.fleet[0].stats(t).Sessions; n > most {
			t.Errorf("sessions: got %d, want at most %d", n, most)
		}
	})
	site.runs.wantNoneTwice(t)
}

// Who may share a session is the operator's choice.
func TestBridgedSessionsAreSharedAsConfigured(t *testing.T) {
	for _, c := range []struct {
		isolation string
		sessions  int // of two callers with four calls each
	}{
		{"call", 8}, {"principal", 2}, {"all", 1},
	} {
		t.Run(c.isolation, func(t *testing.T) {
			t.Parallel()
			site := overPlain.startLegacy(t, 1)
			site.bridge = fmt.Sprintf("session_isolation = %q\n", c.isolation)
			url := site.start(t, "").url()
			seen := map[string]bool{}
			for _, token := range []string{"alice", "bob"} {
				client := newAskingClient(t)
				client.token = token
				for range 4 {
					seen[client.session(t, url).Session] = true
				}
			}
			if len(seen) != c.sessions {
				t.Errorf("sessions of two callers with four calls each: got %d, want %d", len(seen), c.sessions)
			}
		})
	}
}

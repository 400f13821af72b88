package demo

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/client"
	"berth/internal/mcptest"
	"berth/internal/memnet"
)

// showInMemory is runShowing in fake time, through a real berth.
func showInMemory(t *testing.T, rules string, calls int, d time.Duration) showing {
	t.Helper()
	server := &mcptest.Sleeper{Name: "a"}
	behind := serve(t, "a", server)
	handler, release, err := throughBerth(memnet.Dialer(behind))(map[string]string{"a": "http://a/mcp"}, rules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	c := &Client{URL: "http://berth/mcp", HTTP: &http.Client{Transport: transportTo(t, serve(t, "berth", handler))}}
	return showing{takeNaps(t.Context(), c, calls, d), server.Runs(), server.AtOnce()}
}

// What the second part prints, to the letter: in fake time no figure depends on the
// machine.
const upgradedReport = `                                    without a rule               with the rule
first answer                            the result                      a task
  after                                     1.49 s                      0.00 s

4 calls at once, of 0.50 s, with the rule. What their polls told:

  working      completed
  queued, 1st  working      completed
  queued, 2nd  queued, 1st  working      completed
  queued, 3rd  queued, 2nd  queued, 1st  working      completed
`

func TestPlainToolBecomesATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Off the tenths of a second at which the polls come, so that their order with
		// the tool's end is no matter of luck.
		const off = 10 * time.Millisecond
		u := upgraded{
			plain:  showInMemory(t, "", 1, napTime-off),
			ruled:  showInMemory(t, sleepRule, 1, napTime-off),
			queued: showInMemory(t, sleepRule, queueCalls, queueTime-off),
		}
		if err := u.err(); err != nil {
			t.Error(err)
		}
		if got := u.report(); got != upgradedReport {
			t.Errorf("got\n%swant\n%s", got, upgradedReport)
		}
	})
}

func TestStepsAreTheSameHoweverOftenProgressIsTold(t *testing.T) {
	var n Outcome
	for _, message := range []string{"queued, 1st", "queued, 1st", "0/10", "6/10", ""} {
		n.see(client.Task{Status: "working", Message: message})
	}
	n.see(client.Task{Status: "completed"})
	if got, want := n.steps(), []string{"queued, 1st", "working", "completed"}; !slices.Equal(got, want) {
		t.Errorf("got steps %q, want %q", got, want)
	}
	if got, want := n.progress(), []string{"0/10", "6/10"}; !slices.Equal(got, want) {
		t.Errorf("got progress %q, want %q", got, want)
	}
	if got, want := n.places(), []int{1}; !slices.Equal(got, want) {
		t.Errorf("got places %v, want %v", got, want)
	}
}

// asShown is a second part that is as it should be.
func asShown() upgraded {
	working := func(message string) client.Task { return client.Task{Status: "working", Message: message} }
	ended := client.Task{Status: "completed"}
	return upgraded{
		plain: showing{[]Outcome{{}}, 1, 1},
		ruled: showing{[]Outcome{{Seen: []client.Task{working("0/10"), ended}, Handed: true}}, 1, 1},
		queued: showing{[]Outcome{
			{Seen: []client.Task{working("0/10"), ended}, Handed: true},
			{Seen: []client.Task{working("queued, 2nd"), working("queued, 1st"), ended}, Handed: true},
		}, 2, 1},
	}
}

func TestWhatIsNotAsTheRuleSaysIsSaid(t *testing.T) {
	if err := asShown().err(); err != nil {
		t.Fatalf("got %v, want nothing to be wrong", err)
	}
	cases := map[string]struct {
		change func(*upgraded)
		want   error
	}{
		"a task without a rule": {func(u *upgraded) { u.plain.naps[0].Handed = true }, ErrWrongAnswer},
		"no task with a rule":   {func(u *upgraded) { u.ruled.naps[0].Handed = false }, ErrWrongAnswer},
		"one of them no task":   {func(u *upgraded) { u.queued.naps[1].Handed = false }, ErrWrongAnswer},
		"a lost plain call":     {func(u *upgraded) { u.plain.naps[0].Err = ErrWrongResult }, ErrWrongResult},
		"a lost task":           {func(u *upgraded) { u.ruled.naps[0].Err = ErrTaskLost }, ErrTaskLost},
		"a lost task of them":   {func(u *upgraded) { u.queued.naps[1].Err = ErrTaskLost }, ErrTaskLost},
		"no progress":           {func(u *upgraded) { u.ruled.naps[0].Seen[0].Message = "" }, ErrUntold},
		"no places":             {func(u *upgraded) { u.queued.naps[1].Seen = nil }, ErrUntold},
		"a place back":          {func(u *upgraded) { u.queued.naps[1].Seen[1].Message = "queued, 3rd" }, ErrUntold},
		"run twice, plain":      {func(u *upgraded) { u.plain.runs = 2 }, ErrOverrun},
		"run twice":             {func(u *upgraded) { u.ruled.runs = 2 }, ErrOverrun},
		"one of them run twice": {func(u *upgraded) { u.queued.runs = 3 }, ErrOverrun},
		"two at a time":         {func(u *upgraded) { u.queued.atOnce = 2 }, ErrOverrun},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := asShown()
			c.change(&u)
			if err := u.err(); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

package demo

import (
	"encoding/json"
	"errors"
	"testing"

	"berth/internal/client"
)

func roundOf(t *testing.T, text string) (r round) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// asBridged is a third part that is as it should be.
func asBridged(t *testing.T) bridged {
	return bridged{
		rounds: []round{
			roundOf(t, `{"resultType":"input_required","inputRequests":{"a":{"params":{"message":"What is your name?"}}}}`),
			roundOf(t, `{"resultType":"complete","content":[{"type":"text","text":"Hello, Ada!"}]}`),
		},
		runs: 1,
		nap:  Outcome{Handed: true, Seen: []client.Task{{Status: "working"}, {Status: "completed"}}},
	}
}

func TestWhatIsLostOnTheBridgeIsSaid(t *testing.T) {
	if err := asBridged(t).err(); err != nil {
		t.Fatalf("got %v, want nothing to be wrong", err)
	}
	cases := map[string]struct {
		change func(*bridged)
		want   error
	}{
		"a lost call":     {func(b *bridged) { b.failed = ErrWrongResult }, ErrWrongResult},
		"no question":     {func(b *bridged) { b.rounds = b.rounds[1:] }, ErrNoRounds},
		"asked again":     {func(b *bridged) { b.rounds[1] = b.rounds[0] }, ErrNoRounds},
		"answer not told": {func(b *bridged) { b.rounds[1].Content = nil }, ErrNoRounds},
		"run twice":       {func(b *bridged) { b.runs = 2 }, ErrOverrun},
		"no task":         {func(b *bridged) { b.nap.Handed = false }, ErrWrongAnswer},
		"a lost task":     {func(b *bridged) { b.nap.Err = ErrTaskLost }, ErrTaskLost},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := asBridged(t)
			c.change(&b)
			if err := b.err(); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

const bridgedReport = `greet asks in mid-call. What its client gets:

  input_required  What is your name?
  complete        Hello, Ada!

Runs of the tool: 1. A call of sleep, of 0.50 s, as a task:

  working      completed
`

func TestReportOfTheBridge(t *testing.T) {
	if got := asBridged(t).report(); got != bridgedReport {
		t.Errorf("got\n%swant\n%s", got, bridgedReport)
	}
}

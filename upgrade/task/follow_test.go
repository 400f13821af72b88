package task

import (
	"errors"
	"slices"
	"testing"
	"time"

	"berth/internal/mcp/inquiry"
)

// following is a task of a holder that is gone, which follows one at upstream "u".
func following(state State) *Task {
	return &Task{
		ID: "a", Pool: "p", Version: "2026-07-28", Created: time.Now(), State: state, Holder: "gone", Handed: true,
		Round: 1, Upstream: "u", Follows: "theirs", Terms: Terms{TTL: time.Hour, Timeout: time.Hour, MaxResult: 1 << 20},
	}
}

func TestFollowIsAStepOfTheRound(t *testing.T) {
	asked := following(Dispatched)
	asked.Follows, asked.Answered, asked.RequestState = "", true, []byte(`"s"`)
	asked.Asks = []Ask{{Key: "k", Upstream: "k", Answer: []byte("{}")}}
	op := Op{ID: "1", Kind: Follow, Holder: "gone", Round: 1, Upstream: "u", Follows: "theirs"}
	next, changed, err := Transition(asked, &op)
	if err != nil || !changed || next.Follows != "theirs" || next.State != Dispatched {
		t.Fatalf("got %+v, %v, %v", next, changed, err)
	}
	if next.Answered || next.Asks != nil || next.RequestState != nil || len(next.Asked) != 1 {
		t.Errorf("what was asked before is still open: %+v", next)
	}
	if _, changed, err := Transition(next, &op); changed || err != nil {
		t.Errorf("repeated: %v, %v", changed, err)
	}
	for name, stale := range map[string]Op{
		"another round":  {ID: "2", Kind: Follow, Holder: "gone", Round: 2},
		"another holder": {ID: "2", Kind: Follow, Holder: "x", Round: 1},
	} {
		if _, _, err := Transition(asked, &stale); !errors.Is(err, ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, _, err := Transition(next, &Op{ID: "3", Kind: Cancel})
	if err != nil || ended.Follows != "theirs" {
		t.Errorf("cancelled while it was held: %+v, %v", ended, err)
	}
	ended, _, err = Transition(next, &Op{ID: "3", Kind: Finish, Holder: "gone", Round: 1, End: Completed})
	if err != nil || ended.Follows != "" {
		t.Errorf("ended: %+v, %v", ended, err)
	}
	unheld := following(InputRequired)
	unheld.Holder = ""
	ended, _, err = Transition(unheld, &Op{ID: "3", Kind: Cancel})
	if err != nil || ended.Follows != "" {
		t.Errorf("cancelled while it was held by nobody: %+v, %v", ended, err)
	}
}

// What runs at the upstream runs: a followed task waits for no place there.
func TestFollowedTaskDoesNotQueue(t *testing.T) {
	waiting := following(InputRequired)
	waiting.Holder, waiting.Terms.Slots = "", 1
	waiting.Asks = []Ask{{Key: "k", Upstream: "k"}}
	next, _, err := Transition(waiting, &Op{ID: "1", Kind: Answer, Holder: "h", Answers: []inquiry.Input{{Key: "k", Value: []byte("{}")}}})
	if err != nil || next.State != Accepted || next.Holder != "h" || next.Follows == "" {
		t.Errorf("answered: %+v, %v", next, err)
	}
	running := following(Dispatched)
	running.Terms.Slots = 1
	next, _, err = Transition(running, &Op{ID: "1", Kind: Adopt, Of: "gone", Holder: "h"})
	if err != nil || next.State != Accepted || next.Holder != "h" || next.Follows == "" {
		t.Errorf("adopted: %+v, %v", next, err)
	}
}

// What an upstream's task asks still stays under its key, with its answer; what it asks no more is put away, and its key with it.
func TestAsksOfAFollowedTaskThatChange(t *testing.T) {
	in := func(key, value string) inquiry.Input { return inquiry.Input{Key: key, Value: []byte(value)} }
	before := &Task{State: InputRequired, Round: 1, Follows: "theirs", Asks: []Ask{
		{Key: "a", Upstream: "a", Request: []byte(`{"x":1}`), Answer: []byte(`1`)}, {Key: "b", Upstream: "b", Request: []byte(`{"x":2}`)}, {Key: "c", Upstream: "c", Request: []byte(`{"x":3}`)},
	}}
	step := func(id, holder string, asks ...inquiry.Input) *Op {
		return &Op{ID: id, Kind: Moot, Holder: holder, Round: 1, Asks: asks, Message: "says"}
	}
	after, _, err := Transition(before, step("1", "h", in("d", `{}`), in("c", `{"x":4}`), in("b", `{ "x": 2 }`), in("a", `{"x":1}`)))
	if err != nil || after.State != InputRequired || after.Holder != "" || after.Message != "says" {
		t.Fatalf("got %+v, %v", after, err)
	}
	var keys []string
	for _, ask := range after.Asks {
		keys = append(keys, ask.Key+string(ask.Answer))
	}
	if !slices.Equal(keys, []string{"d", "c", "b", "a1"}) {
		t.Errorf("asks %q", keys)
	}
	if ask := after.Asks[1]; string(ask.Request) != `{"x":4}` || string(after.Asks[2].Request) != `{"x":2}` {
		t.Errorf("asked in other words: %s, in the same: %s", ask.Request, after.Asks[2].Request)
	}
	if after, _, err = Transition(after, step("2", "h", in("a", `{"x":1}`))); err != nil || after.State != Accepted || after.Holder != "h" || len(after.Answers()) != 1 {
		t.Errorf("without anything open got %+v, %v", after, err)
	}
	if len(before.Asks) != 3 || before.Asks[1].Key != "b" || before.Asked != nil {
		t.Errorf("what was is %+v by now", before)
	}
	if _, _, err := Transition(before, &Op{ID: "3", Kind: Moot, Round: 2, Asks: []inquiry.Input{in("d", `{}`)}}); !errors.Is(err, ErrStale) {
		t.Errorf("another round: got %v", err)
	}
}

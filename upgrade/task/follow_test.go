package task

import (
	"errors"
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
	if err != nil || ended.Follows != "" {
		t.Errorf("ended: %+v, %v", ended, err)
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

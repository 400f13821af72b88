package task

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"berth/internal/jsonobject"
)

// What follows are the steps of a call whose upstream is of the legacy era: its stream may
// ask and be asked while the round is in flight, and can be resumed.

// Said is a notification that came on the stream of a legacy call.
type Said struct {
	N       int             `json:"n"` // how many came up to this one
	Message json.RawMessage `json:"message"`
}

const (
	MaxSaid      = 16      // notifications that a record keeps
	MaxSaidBytes = 8 << 10 // in all
)

func (t transition) legacy() (changed bool, err error) {
	switch t.op.Kind {
	case Note:
		return t.note()
	case Open:
		return t.open()
	case Settle:
		return t.settle(t.op.Key), nil
	case Withdraw:
		return t.withdraw()
	case Redo:
		return t.redo()
	}
	return false, fmt.Errorf("%w: %q", ErrState, t.op.Kind)
}

func (t transition) note() (bool, error) {
	if err := t.underWay(); err != nil {
		return false, err
	}
	before := *t.Task
	t.Event = cmp.Or(t.op.Event, t.Event)
	t.Message = cmp.Or(t.op.Message, t.Message)
	if Rises(t.Progress, t.op.Progress) {
		t.Progress = t.op.Progress
	}
	for _, message := range t.op.Says {
		t.say(message)
	}
	return t.Event != before.Event || t.Message != before.Message || len(t.op.Says) > 0 || !bytes.Equal(t.Progress, before.Progress), nil
}

// Rises reports whether progress now, params of a notifications/progress, is above before, which is nil if there was none: what is told
// under one token must increase (2025-11-25, "Progress").
func Rises(before, now json.RawMessage) bool {
	return now != nil && (before == nil || number(now) > number(before))
}

func number(progress json.RawMessage) float64 {
	n, _ := strconv.ParseFloat(string(jsonobject.At(progress, "progress")), 64)
	return n
}

// say keeps a notification, and drops the oldest ones for it.
func (t transition) say(message json.RawMessage) {
	n := 1
	if len(t.Said) > 0 {
		n = t.Said[len(t.Said)-1].N + 1
	}
	t.Said = append(slices.Clone(t.Said), Said{n, message})
	size := 0
	for i := len(t.Said) - 1; i >= 0; i-- {
		size += len(t.Said[i].Message)
		if size > MaxSaidBytes && i < len(t.Said)-1 || len(t.Said)-i > MaxSaid {
			t.Said = t.Said[i+1:]
			return
		}
	}
}

// open adds an ask. A request that comes twice is one: streams are replayed. What was
// settled does not come again from the event on that it came with; what another call of
// the session may bring, the session's list knows.
func (t transition) open() (bool, error) {
	if err := t.underWay(); err != nil {
		return false, err
	}
	t.Event = cmp.Or(t.op.Event, t.Event)
	if !t.IsAsked(t.op.Key) {
		t.Asks = append(slices.Clone(t.Asks), Ask{Key: t.op.Key, Request: t.op.Request})
	}
	return true, nil
}

// settle takes an ask away. It is anybody's step: whoever gave the upstream the answer.
func (t transition) settle(key string) bool {
	if t.State != Dispatched || t.Call == "" || !t.IsAsked(key) {
		return false
	}
	t.Asks = slices.DeleteFunc(slices.Clone(t.Asks), func(a Ask) bool { return a.Key == key })
	return true
}

func (t transition) withdraw() (bool, error) {
	if err := t.underWay(); err != nil {
		return false, err
	}
	before := t.Event
	t.Event = cmp.Or(t.op.Event, t.Event)
	if !t.settle(t.op.Key) {
		return t.Event != before, nil
	}
	for _, message := range t.op.Says {
		t.say(message) // to those whom the ask was shown to
	}
	return true, nil
}

// redo has a round be sent again whose stream cannot be resumed.
func (t transition) redo() (bool, error) {
	if err := t.underWay(); err != nil {
		return false, err
	}
	if !t.Terms.Rerun {
		return false, ErrState
	}
	t.again()
	return true, nil
}

// again has the round that was in flight be sent once more. What a legacy one has asked
// and said is lost with it, but for its progress: the next one tells what is above that.
func (t transition) again() {
	if t.Call != "" {
		t.Asks, t.Event, t.Message = nil, "", ""
	}
	t.await()
}

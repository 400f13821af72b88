package task

import (
	"fmt"
	"reflect"
	"slices"

	"pgregory.net/rapid"
)

// stepLegacy is step for a call whose upstream is of the legacy era. fits says that op is
// its holder's, and about the round that is in flight.
func (m *ideal) stepLegacy(op Op, fits bool) (changed, refused bool) {
	open := slices.Contains(m.asks, op.Key)
	switch op.Kind {
	case Settle:
		changed = open && m.state == Dispatched
		m.strike(op.Key)
		return changed, false
	case Redo:
		if refused = !fits || !m.terms.Rerun; !refused {
			m.startAgain()
		}
		return !refused, refused
	case Note, Open, Withdraw:
	default:
		return false, true
	}
	if !fits {
		return false, true
	}
	changed = op.Kind == Open || op.Kind == Withdraw && open || op.Event != "" && op.Event != m.event
	if op.Event != "" {
		m.event = op.Event
	}
	switch op.Kind {
	case Note:
		changed = changed || op.Message != "" && op.Message != m.message || op.Progress != nil || len(op.Says) > 0
		if op.Message != "" {
			m.message = op.Message
		}
		m.said += len(op.Says)
	case Open:
		if !open {
			m.asks = append(m.asks, op.Key)
		}
	case Withdraw:
		if open {
			m.said += len(op.Says)
		}
		m.strike(op.Key)
	}
	return changed, false
}

func (m *ideal) strike(key string) {
	m.asks = slices.DeleteFunc(m.asks, func(k string) bool { return k == key })
}

// startAgain has the round be due that was in flight.
func (m *ideal) startAgain() {
	m.state = m.begin()
	if m.legacy {
		m.asks, m.event, m.message = nil, "", ""
	}
}

// drawLegacy draws what an op of a legacy call may bear.
func drawLegacy(t *rapid.T, n int, op *Op) {
	op.Key = rapid.SampledFrom([]string{"0", "1", `"b"`}).Draw(t, "id")
	op.Request = fmt.Appendf(nil, `{"id":%s}`, op.Key)
	if rapid.Bool().Draw(t, "has an event id") {
		op.Event = fmt.Sprint("event ", n)
	}
	if op.Kind != Note && op.Kind != Withdraw {
		return
	}
	if rapid.Bool().Draw(t, "says nothing") {
		op.Message = ""
	}
	if rapid.Bool().Draw(t, "progress") {
		op.Progress = fmt.Appendf(nil, `{"progress":%d}`, n)
	}
	for range rapid.IntRange(0, 9).Draw(t, "says") {
		size := rapid.SampledFrom([]int{1, 1, 1, MaxSaidBytes / 2, MaxSaidBytes}).Draw(t, "long")
		op.Says = append(op.Says, fmt.Appendf(nil, `"%*d"`, size, n))
	}
}

// checkLegacy checks what a record says of a legacy call.
func checkLegacy(t *rapid.T, m *ideal, task, next *Task, op Op) {
	if next.Call == "" {
		return
	}
	reached := op.Event != "" && next.Event == op.Event && (op.Kind == Note || op.Kind == Open || op.Kind == Withdraw)
	if next.Event != task.Event && !reached && next.State == Dispatched {
		t.Fatalf("%+v moved the stream from %q to %q", op, task.Event, next.Event)
	}
	if next.State == Dispatched && next.Event != m.event {
		t.Fatalf("the stream has come to %q, want %q", next.Event, m.event)
	}
	if next.State == Dispatched {
		var open []string
		for _, ask := range next.OpenAsks() {
			open = append(open, ask.Key)
		}
		if !slices.Equal(open, m.asks) || (len(open) > 0) != (next.Status() == string(InputRequired)) {
			t.Fatalf("%+v: open are %v, and the task is %s; want %v", op, open, next.Status(), m.asks)
		}
	}
	if next.Waiting() && len(next.Asks) > 0 && !next.Answered {
		t.Fatalf("%s, and asks %+v", next.State, next.Asks)
	}
	if next.State.Terminal() && (next.Asks != nil || next.Progress != nil || next.Event != "") {
		t.Fatalf("%s, and has %+v", next.State, next)
	}
	goesOn := op.Kind == Adopt && task.State == Dispatched && task.Session != "" && task.Event != ""
	if goesOn && (next.State != Dispatched || next.Round != task.Round || !reflect.DeepEqual(next.Asks, task.Asks)) {
		t.Fatalf("adopted as %+v, was %+v", next, task)
	}
	checkSaid(t, m, next)
}

// checkSaid checks that the last notifications are kept, in order and bounded.
func checkSaid(t *rapid.T, m *ideal, task *Task) {
	size := 0
	for i, said := range task.Said {
		size += len(said.Message)
		if said.N != m.said-len(task.Said)+1+i {
			t.Fatalf("after %d notifications the %d-th is kept as %d of %d", m.said, said.N, i, len(task.Said))
		}
	}
	if len(task.Said) > MaxSaid || size > MaxSaidBytes && len(task.Said) > 1 || m.said > 0 && len(task.Said) == 0 {
		t.Fatalf("keeps %d notifications of %d bytes", len(task.Said), size)
	}
}

package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/mcp/inquiry"

	"pgregory.net/rapid"
)

// ideal is what a task is meant to be: the rules of its life, told a second time and
// without regard to how they are kept.
type ideal struct {
	terms  Terms
	state  State
	holder string
	round  int
	handed bool
	left   bool              // by its holder
	hidden bool              // nobody is told of it
	open   map[string]bool   // keys that are shown and not answered
	given  map[string]string // answers of this round, by shown key
	asked  map[string]bool   // keys that were ever shown
	ops    []string          // that changed something

	legacy, session bool     // what kind of call it is
	event           string   // how far its stream has come
	asks            []string // keys that it waits for
	said            int      // notifications so far
	message         string
}

// step says whether op changes the task, and whether it is refused.
func (m *ideal) step(op Op) (changed, refused bool) {
	if slices.Contains(m.ops[max(0, len(m.ops)-KeptOps):], op.ID) {
		return false, false
	}
	mine := !m.state.Terminal() && m.holder == op.Holder && !m.left
	his := !m.state.Terminal() && m.holder == op.Of
	waits := m.state == Queued || m.state == Accepted
	sent := m.state == Dispatched
	switch op.Kind {
	case Dispatch:
		if refused = !mine || m.round != op.Round || !waits && !sent; !refused {
			m.state, m.round, m.handed, m.message, changed = Dispatched, m.round+1, true, "", true
		}
	case Return:
		if refused = !mine || !sent || m.round != op.Round || m.legacy; !refused {
			m.state, m.round, changed = m.begin(), m.round-1, true
		}
	case Hand:
		if refused = !mine; !refused {
			m.handed, m.hidden, changed = true, false, !m.handed || m.hidden
		}
	case Progress:
		if refused = !mine || !sent || m.round != op.Round; !refused {
			m.message, changed = op.Message, op.Message != m.message
		}
	case Pause:
		if refused = !mine || !sent || m.round != op.Round; !refused {
			m.pause(op)
			changed = true
		}
	case Answer:
		changed = m.answer(op)
	case Moot:
		switch refused = m.state != InputRequired || m.round != op.Round; {
		case refused:
		case len(op.Asks) > 0:
			m.given, m.open, m.message, changed = map[string]string{}, nil, op.Message, true
		default:
			m.state, m.holder, changed = m.begin(), op.Holder, true
		}
	case Finish:
		last := sent && m.round == op.Round || waits && m.round+1 == op.Round && op.End == Failed
		if refused = !mine || !last; !refused {
			m.state, m.holder, changed = op.End, "", true
		}
	case Cancel:
		if changed = !m.state.Terminal(); changed {
			m.state, m.holder = Cancelled, ""
		}
	case Orphan:
		if refused = !his; !refused {
			m.state, m.holder, changed = Failed, "", true
		}
	case Leave:
		if refused = !mine || !waits && !(sent && m.legacy && m.session && m.event != ""); !refused {
			m.left, changed = true, true
		}
	case Adopt:
		goesOn := m.legacy && m.session && m.event != ""
		if refused = !his || !waits && !(sent && (m.terms.Rerun || goesOn)); !refused {
			if sent && !goesOn {
				m.startAgain()
			}
			m.holder, m.left, m.hidden, changed = op.Holder, false, false, true
		}
	default:
		changed, refused = m.stepLegacy(op, mine && sent && m.round == op.Round)
	}
	if changed {
		m.ops = append(m.ops, op.ID)
	}
	return changed, refused
}

// begin is where a round begins that is due.
func (m *ideal) begin() State {
	if m.terms.Slots > 0 {
		return Queued
	}
	return Accepted
}

func (m *ideal) pause(op Op) {
	m.given, m.asks, m.message, m.hidden = map[string]string{}, nil, "", false
	if len(op.Asks) == 0 {
		m.state = Accepted
		return
	}
	m.state, m.holder, m.open = InputRequired, "", nil // the keys are read off the task
}

func (m *ideal) answer(op Op) (changed bool) {
	if m.state != InputRequired {
		return false
	}
	for _, a := range op.Answers {
		if m.open[a.Key] {
			delete(m.open, a.Key)
			m.given[a.Key], changed = string(a.Value), true
		}
	}
	if len(m.open) == 0 {
		m.state, m.holder = m.begin(), op.Holder
	}
	return changed
}

// stepKinds has the ends of a life less often than what goes on with it.
var stepKinds = slices.Concat(
	slices.Repeat([]Kind{Dispatch}, 8), slices.Repeat([]Kind{Pause}, 8), slices.Repeat([]Kind{Answer}, 12),
	[]Kind{Return, Return, Hand, Hand, Progress, Progress, Leave, Adopt, Adopt, Moot, Finish, Cancel, Orphan},
)

// legacyKinds are those of a call whose upstream is of the legacy era.
var legacyKinds = slices.Concat(
	slices.Repeat([]Kind{Dispatch}, 8), slices.Repeat([]Kind{Open}, 8), slices.Repeat([]Kind{Settle}, 6), slices.Repeat([]Kind{Note}, 6),
	[]Kind{Return, Withdraw, Withdraw, Redo, Redo, Leave, Leave, Adopt, Adopt, Adopt, Hand, Pause, Answer, Progress, Finish, Cancel, Orphan},
)

// drawOp draws an op that a task may meet: mostly one that fits, by whoever and about
// whichever round.
func drawOp(t *rapid.T, n int, task *Task) Op {
	holders := rapid.SampledFrom([]string{"a", "b", "c"})
	kinds := stepKinds
	if task.Call != "" {
		kinds = legacyKinds
	}
	op := Op{
		ID: fmt.Sprint("op-", n), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
		At:     time.UnixMilli(1_000 + rapid.Int64Range(0, 1_000).Draw(t, "at")).UTC(),
		Holder: holders.Draw(t, "holder"), Of: holders.Draw(t, "of"),
		Round: task.Round, Message: fmt.Sprint("message ", n),
		Upstream: rapid.SampledFrom([]string{"u", "v"}).Draw(t, "upstream"),
		End:      rapid.SampledFrom([]State{Completed, Failed}).Draw(t, "end"), Outcome: fmt.Sprint("outcome ", n),
	}
	if rapid.IntRange(0, 3).Draw(t, "of another round") == 0 {
		op.Round += rapid.SampledFrom([]int{1, -1}).Draw(t, "away")
	}
	if rapid.IntRange(0, 7).Draw(t, "fits") > 0 && task.Holder != "" {
		op.Holder, op.Of = task.Holder, task.Holder
		if op.Kind == Adopt {
			op.Holder = holders.Draw(t, "adopter")
		}
	}
	drawLegacy(t, n, &op)
	keys := []string{"k", "l", "k#2", "unknown"}
	for _, ask := range task.Asks {
		keys = append(keys, ask.Key)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "inputs") {
		key := rapid.SampledFrom(keys).Draw(t, "key")
		if !slices.ContainsFunc(op.Answers, func(a inquiry.Input) bool { return a.Key == key }) {
			op.Answers = append(op.Answers, inquiry.Input{Key: key, Value: fmt.Appendf(nil, `"%d.%d"`, n, i)})
		}
		op.Asks = append(op.Asks, inquiry.Input{Key: rapid.SampledFrom([]string{"k", "l", "k#2"}).Draw(t, "asked"), Value: []byte(`{}`)})
	}
	return op
}

// TestTransitionAgreesWithTheRules draws lives of a task, with steps repeated, late, and
// by those that do not hold it, and compares each with the ideal.
func TestTransitionAgreesWithTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := Terms{TTL: time.Hour, Rerun: rapid.Bool().Draw(t, "rerun"), Slots: rapid.IntRange(0, 1).Draw(t, "slots")}
		m := &ideal{terms: terms, holder: "a", given: map[string]string{}, asked: map[string]bool{}}
		m.state, m.legacy, m.session = m.begin(), rapid.Bool().Draw(t, "legacy"), rapid.IntRange(0, 3).Draw(t, "session") > 0
		task := &Task{ID: "T", State: m.state, Holder: "a", Terms: terms, Created: time.UnixMilli(1_000).UTC(), Updated: time.UnixMilli(1_000).UTC()}
		if m.hidden = rapid.Bool().Draw(t, "hidden"); m.hidden {
			task.Withheld = time.UnixMilli(9_000).UTC()
		}
		if m.legacy {
			task.Call = "call"
		}
		if m.legacy && m.session {
			task.Session = "session"
		}
		var past []Op
		for n := range rapid.IntRange(1, 80).Draw(t, "steps") {
			op := drawOp(t, n, task)
			if len(past) > 0 && rapid.IntRange(0, 7).Draw(t, "again") == 0 {
				op = rapid.SampledFrom(past).Draw(t, "repeated")
			}
			past = append(past, op)
			task = takeStep(t, m, task, op)
		}
	})
}

// takeStep takes one step of a life and checks what must hold of it.
func takeStep(t *rapid.T, m *ideal, task *Task, op Op) *Task {
	before := task.Encode()
	next, changed, err := Transition(task, &op)
	if after := task.Encode(); string(before) != string(after) {
		t.Fatalf("%+v changed the task that it was given:\n%s\n%s", op, before, after)
	}
	if (err != nil || !changed) && !reflect.DeepEqual(task, next) {
		t.Fatalf("%+v reports no change, and gives\n%+v\nof\n%+v", op, next, task)
	}
	wantChanged, wantRefused := m.step(op)
	if changed != wantChanged || (err != nil) != wantRefused {
		t.Fatalf("%+v\non %+v\ngot changed %v, %v; want changed %v, refused %v", op, task, changed, err, wantChanged, wantRefused)
	}
	if task.State.Terminal() && (changed || err != nil && !errors.Is(err, ErrTerminal)) {
		t.Fatalf("%+v on a task that has ended: changed %v, %v", op, changed, err)
	}
	if !changed {
		return next
	}
	checkAsks(t, m, task, next, op)
	checkLegacy(t, m, task, next, op)
	if next.State != m.state || next.Holder != m.holder || next.Round != m.round || next.Handed != m.handed && !next.State.Terminal() ||
		next.Withheld.IsZero() == (m.hidden && !next.State.Terminal()) {
		t.Fatalf("%+v: got %+v, want %+v", op, next, m)
	}
	if next.State == Dispatched && op.Kind == Dispatch && task.State == Dispatched && next.Holder != task.Holder {
		t.Fatalf("round %d was sent by %s and by %s", task.Round, task.Holder, next.Holder)
	}
	if next.Left != (m.left && !next.State.Terminal()) {
		t.Fatalf("%+v: left is %v, want %v", op, next.Left, m.left)
	}
	if (next.State == InputRequired || next.State.Terminal()) != (next.Holder == "") {
		t.Fatalf("%s is held by %q", next.State, next.Holder)
	}
	if next.Updated.Before(task.Updated) || !next.Created.Equal(task.Created) || !reflect.DeepEqual(next.Terms, task.Terms) || next.ID != task.ID {
		t.Fatalf("%+v made\n%+v\nof\n%+v", op, next, task)
	}
	if _, again, err := Transition(next, &op); again || err != nil {
		t.Fatalf("repeated, %+v changes %v, %v", op, again, err)
	}
	stored, err := Decode(next.Encode())
	if err != nil || !sameJSON(stored, next) {
		t.Fatalf("stored as %+v, %v, want %+v", stored, err, next)
	}
	return next
}

// checkAsks checks what the client is asked: no key stands for two questions, and an
// answer that was taken stays.
func checkAsks(t *rapid.T, m *ideal, task, next *Task, op Op) {
	if (op.Kind == Pause || op.Kind == Moot) && len(op.Asks) > 0 {
		m.open = map[string]bool{}
		for i, ask := range next.Asks {
			if m.asked[ask.Key] {
				t.Fatalf("the key %q is shown a second time", ask.Key)
			}
			m.asked[ask.Key], m.open[ask.Key] = true, true
			if ask.Upstream != op.Asks[i].Key {
				t.Fatalf("asked %q, of which the upstream knows %q, want %q", ask.Key, ask.Upstream, op.Asks[i].Key)
			}
		}
	}
	if next.State.Terminal() {
		return
	}
	for _, ask := range next.Asks {
		if string(ask.Answer) != m.given[ask.Key] {
			t.Fatalf("%q is answered with %q, want %q", ask.Key, ask.Answer, m.given[ask.Key])
		}
		if next.State == InputRequired && (ask.Answer == nil) != m.open[ask.Key] {
			t.Fatalf("%q: answered with %q, open %v", ask.Key, ask.Answer, m.open[ask.Key])
		}
	}
	if next.Waiting() && next.Answered != (task.Answered || op.Kind == Pause) {
		t.Fatalf("answered is %v after %+v", next.Answered, op)
	}
}

func sameJSON(a, b *Task) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// An op that comes late, after more others than a record keeps, still harms nothing.
func TestOpsAreKnownForAsLongAsTheyAreRepeated(t *testing.T) {
	task := &Task{ID: "T", State: Dispatched, Holder: "a", Round: 1}
	for n := range KeptOps {
		task, _, _ = Transition(task, &Op{ID: fmt.Sprint(n), Kind: Progress, Holder: "a", Round: 1, Message: fmt.Sprint(n)})
	}
	if _, changed, err := Transition(task, &Op{ID: "0", Kind: Progress, Holder: "a", Round: 1, Message: "late"}); changed || err != nil {
		t.Errorf("the op %d steps ago: changed %v, %v", KeptOps-1, changed, err)
	}
	if len(task.Ops) != KeptOps || strings.Join(task.Ops, "") != "01234567" {
		t.Errorf("got %v", task.Ops)
	}
}

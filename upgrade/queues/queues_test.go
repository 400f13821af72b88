package queues

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A line that was changed is the line that would be read.
func TestLineIsAsItWouldBeRead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	l, names := newLine(nil), []string{}
	for step := range 3000 {
		if grows := step < 1500; random.IntN(4) > 0 == grows {
			caller := fmt.Sprint("caller ", random.IntN(9))
			turn := turnOf(fmt.Sprint("task-", step), fmt.Sprint(random.IntN(9)), l.last(caller)%100+uint64(1+random.IntN(3)))
			l.join(turn)
			l.join(turn) // as one whose answer was lost
			names = append(names, turn.Name)
		} else if len(names) > 0 {
			at := random.IntN(len(names))
			l.leave(names[at])
			l.leave(names[at])
			names = slices.Delete(names, at, at+1)
		}
		if step%100 != 0 {
			continue
		}
		read := newLine(names)
		if l.order.Len() != len(names) || read.order.Len() != len(names) {
			t.Fatalf("%d stand, and %d were read, of %d", l.order.Len(), read.order.Len(), len(names))
		}
		for _, name := range names {
			id := ReadTurn(name).ID
			got, at := l.find(id)
			want, wanted := read.find(id)
			if got != want || at != wanted {
				t.Fatalf("%v stands at %d, want %v at %d", got, at, want, wanted)
			}
		}
	}
}

func TestRoundThatTwoHave(t *testing.T) {
	l := newLine([]string{"a A 5", "b B 5", "c A 5", "d", "e"})
	for id, want := range map[string]bool{"a": false, "b": false, "c": true, "d": false, "e": false, "none": false} {
		if got := l.doubled(id); got != want {
			t.Errorf("%s: doubled %v, want %v", id, got, want)
		}
	}
	l.leave("a A 5")
	if l.doubled("c") {
		t.Error("it is doubled still though the other one has left")
	}
	if l.last("A") != 5 || l.last("C") != 4 {
		t.Errorf("rounds come after %d and %d, want 5 and 4", l.last("A"), l.last("C"))
	}
}

// What this process changes while a line is being read, the reading may have missed.
func TestReadingUnderWayLosesNothing(t *testing.T) {
	q := New(nil, within)
	q.begin("line")
	q.change("line", func(l *line) { l.join(turnOf("new", "A", 3)) })
	q.change("line", func(l *line) { l.leave("old A 1") })
	q.Changed("line")
	q.keep("line", newLine([]string{"old A 1", "other A 2"}), time.Now())
	for id, want := range map[string]int{"old": -1, "other": 0, "new": 1} {
		if _, at, _ := q.find("line", id); at != want {
			t.Errorf("%s stands at %d, want %d", id, at, want)
		}
	}
	if !q.read["line"].changed {
		t.Error("what others have told meanwhile is forgotten")
	}
}

// Those are called who stand in front of places, and those who do not stand where they may; who waits
// far behind is not.
func TestWhoIsCalledToLook(t *testing.T) {
	q, woken := New(nil, within), map[string]<-chan struct{}{}
	var w *Waits
	var names []string
	for i := range 50 {
		id := fmt.Sprint("task-", i)
		names = append(names, turnOf(id, "A", uint64(i+1)).Name)
		if i%2 == 0 { // the others wait elsewhere
			w, woken[id], _ = q.Await("line", id, 5)
		}
	}
	_, woken["lost"], _ = q.Await("line", "lost", 5)
	names = append(names, turnOf("task-40", "B", 3).Name)
	q.begin("line")
	q.keep("line", newLine(names), time.Now())
	if called := calledOf(woken); !slices.Equal(called, []string{"lost"}) {
		t.Errorf("a reading calls %q", called)
	}
	for n, want := range []string{"task-0", "task-2", "task-40"} {
		if w.call(4); n > 0 {
			calledOf(woken)
			w.Pass("task-0", 4, false)
		}
		if n > 1 {
			calledOf(woken)
			w.Pass("task-2", 4, false)
		}
		if called := calledOf(woken); !slices.Equal(called, []string{want}) {
			t.Errorf("after %d are called %q, want %s", n, called, want)
		}
	}
	w.Leave("task-0", 4)
	if called := calledOf(woken); !slices.Equal(called, []string{"task-40"}) {
		t.Errorf("after the first has left are called %q", called)
	}
	w.call(0)
	if called := calledOf(woken); len(called) != calledBehind {
		t.Errorf("without a place are called %q", called)
	}
}

func calledOf(woken map[string]<-chan struct{}) (called []string) {
	for id, c := range woken {
		select {
		case <-c:
			called = append(called, id)
		default:
		}
	}
	slices.Sort(called)
	return called
}

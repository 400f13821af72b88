package trouble

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNumbersAreOfTheProcessAndOfFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(nil)
		at := func(kind Kind) Number {
			for _, n := range b.Numbers() {
				if n.Kind == kind {
					return n
				}
			}
			return Number{}
		}
		b.Note(Refusals, Event{What: "rate_limited"})
		time.Sleep(4 * time.Minute)
		b.Note(Refusals, Event{What: "rate_limited"})
		last := time.Now()
		if n := at(Refusals); n.Count != 2 || n.Recent != 2 || !n.Last.Equal(last) {
			t.Errorf("got %+v", n)
		}
		time.Sleep(2 * time.Minute)
		if n := at(Refusals); n.Count != 2 || n.Recent != 1 || !n.Last.Equal(last) {
			t.Errorf("two minutes later: got %+v", n)
		}
		time.Sleep(time.Hour)
		if n := at(Refusals); n.Count != 2 || n.Recent != 0 {
			t.Errorf("an hour later: got %+v", n)
		}
		if n := at(Orphans); n != (Number{Kind: Orphans}) {
			t.Errorf("another kind: got %+v", n)
		}
	})
}

// After a step back of the machine's clock what was noted before is not recent for as long as the step.
func TestWhatIsOfLaterIsNotRecent(t *testing.T) {
	b := New(nil)
	b.Note(Refusals, Event{At: time.Now().Add(61 * time.Minute)}) // in another slot than now
	b.Note(Refusals, Event{})
	for _, n := range b.Numbers() {
		if n.Kind == Refusals && (n.Count != 2 || n.Recent != 1) {
			t.Errorf("got %+v", n)
		}
	}
}

func TestTheLastEventsAreKept(t *testing.T) {
	b := New(nil)
	for i := range mostEvents + 7 {
		b.Note(UnknownIDs, Event{ID: fmt.Sprint(i), What: "unknown task"})
		events, _ := b.Events(UnknownIDs)
		if len(events) != min(i+1, mostEvents) || events[0].ID != fmt.Sprint(i) || events[len(events)-1].ID != fmt.Sprint(i+1-len(events)) {
			t.Fatalf("after %d: got %d events, %v to %v", i, len(events), events[0], events[len(events)-1])
		}
	}
	if _, known := b.Events("other"); known {
		t.Error("a kind that there is not is known")
	}
}

func TestTextsAreCut(t *testing.T) {
	b := New(nil)
	b.Note(UnknownIDs, Event{ID: strings.Repeat("x", 1<<20)})
	if events, _ := b.Events(UnknownIDs); len(events[0].ID) != mostText {
		t.Errorf("got %d bytes", len(events[0].ID))
	}
}

func TestNoBookKeepsNothing(t *testing.T) {
	var b *Book
	b.Note(Orphans, Event{})
	if _, known := b.Events(Orphans); known || b.Numbers() != nil {
		t.Error("nil keeps something")
	}
}

func BenchmarkNote(b *testing.B) {
	book := New(nil)
	b.ReportAllocs()
	for b.Loop() {
		book.Note(Refusals, Event{Pool: "main", ID: "8f2c", What: "rate_limited", Caller: "abcdefghijklmnop"})
	}
}

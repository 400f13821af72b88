package quota

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"berth/upgrade/task"

	"pgregory.net/rapid"
)

const kibi = 1 << 10

// Each bound refuses by its own name, leaves the first call of a caller alone where it is of
// the bytes that calls bear, and has an even share for whoever comes later.
func TestEachBoundOfWhatIsKeptRefuses(t *testing.T) {
	type try struct {
		caller string
		bytes  int64
		want   string // the bound that refuses it, "" if none does
	}
	for name, c := range map[string]struct {
		bounds Bounds
		tries  []try
	}{
		"one caller's calls": {Bounds{HeldPerCaller: 100 * kibi}, []try{
			{"one", 60 * kibi, ""}, {"one", 60 * kibi, "caller_held"}, {"one", 40 * kibi, ""}, {"two", 60 * kibi, ""}, {"three", 200 * kibi, ""},
		}},
		"all calls": {Bounds{Held: 100 * kibi}, []try{
			{"one", 60 * kibi, ""}, {"two", 60 * kibi, "held"}, {"two", 40 * kibi, ""}, {"three", 40 * kibi, "held"},
		}},
		"what one caller keeps": {Bounds{BytesPerCaller: 100 * kibi}, []try{
			{"one", 60 * kibi, ""}, {"one", 15 * kibi, "caller_kept"}, {"one", 10 * kibi, ""}, {"two", 60 * kibi, ""},
		}},
		"what all keep": {Bounds{Bytes: 100 * kibi}, []try{
			{"one", 60 * kibi, ""}, {"two", 60 * kibi, "kept"}, {"two", 40 * kibi, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			q := New(c.bounds)
			for i, try := range c.tries {
				got := ""
				err := q.Admit(fmt.Sprint(i), try.caller, try.bytes, time.Now().Add(time.Hour))
				if refusal, ok := errors.AsType[*task.Refusal](err); ok {
					got = refusal.Reason
				}
				if got != try.want {
					t.Errorf("%d: %s with %d bytes: refused by %q, want %q", i, try.caller, try.bytes, got, try.want)
				}
			}
		})
	}
}

// What went wrong can always be told, however full it is.
func TestSmallOutcomeIsAlwaysKept(t *testing.T) {
	q := New(Bounds{BytesPerCaller: kibi})
	q.Count("task", "one", 0, 0, time.Now().Add(time.Hour))
	if q.Take("task", smallOutcome+1, AsHeld) {
		t.Error("there was room for more than that")
	}
	if !q.Take("task", smallOutcome, AsHeld) {
		t.Error("there was no room")
	}
}

// TestQuotaAddsUp does with a quota whatever may be done, and compares what it counts with
// what stands.
func TestQuotaAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := Bounds{Tasks: 12, TasksPerCaller: 6, Bytes: 60 * kibi, BytesPerCaller: 30 * kibi, Held: 40 * kibi, HeldPerCaller: 20 * kibi}
		q := New(bounds)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := fmt.Sprint("task ", rapid.IntRange(0, 15).Draw(t, "task"))
			caller := fmt.Sprint("caller ", rapid.IntRange(0, 3).Draw(t, "caller"))
			n := int64(rapid.IntRange(0, 12*kibi).Draw(t, "bytes"))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				if !q.Has(id) {
					_ = q.Admit(id, caller, n, time.Now().Add(time.Hour))
				}
			case 2:
				q.Take(id, n, AsHeld)
			case 3:
				q.LetGo(id)
			case 4:
				q.Drop(id)
			}
			var all Usage
			by := map[string]Usage{}
			for _, k := range q.tasks {
				one := Usage{1, k.bytes + recordSize, k.held}
				all, by[k.caller] = all.plus(one), by[k.caller].plus(one)
			}
			counted := map[string]Usage{}
			for caller, own := range q.by {
				counted[caller] = own.Usage
			}
			if all != q.all || !maps.Equal(by, counted) || len(q.queue) != len(q.tasks) {
				t.Fatalf("counted %+v %+v, want %+v %+v", q.all, counted, all, by)
			}
			if all.Bytes > bounds.Bytes*3/2+16*smallOutcome || all.Tasks > bounds.Tasks*3/2 {
				t.Fatalf("%+v is beyond the bounds", all)
			}
		}
	})
}

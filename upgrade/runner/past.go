package runner

import (
	"bytes"
	"time"

	"berth/upgrade/ledger"
	"berth/upgrade/task"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// maxPast is of how many tasks a process remembers how far they had come, those whose calls it has let go of last.
	maxPast = 10_000
	// maxEnds is of how many of these it remembers how they ended, and maxEndKept how large an outcome may be for that, in bytes.
	maxEnds, maxEndKept = 1_000, 4 << 10
)

// Past is what this process knew of tasks as it let go of their calls: a store that falls back to an older state says that
// it holds them.
type Past struct {
	by   *lru.Cache[string, PastTask]
	ends *lru.Cache[string, *PastEnd]
}

// PastTask is what a process knew of a task as it let go of its call.
type PastTask struct {
	Rounds int      // that may have reached an upstream
	Ended  bool     // else another process goes on with it, or will
	End    *PastEnd // nil: it is not remembered

	version uint64
	met     time.Time // when its record was seen to be older
}

// PastEnd is how a task ended.
type PastEnd struct {
	Task    *task.Task
	Outcome []byte
}

func newPast() Past {
	by, _ := lru.New[string, PastTask](maxPast) // it fails for a size below one
	ends, _ := lru.New[string, *PastEnd](maxEnds)
	return Past{by, ends}
}

// note notes what is known of a task whose call is let go of.
func (p Past) note(e ledger.Entry, forgotten bool) {
	ended := e.State.Terminal()
	p.by.Add(e.ID, PastTask{Rounds: e.Round, Ended: ended || forgotten, version: e.Version})
	switch {
	case forgotten:
		p.ends.Remove(e.ID)
	case ended && e.Outcome == "":
		p.noteEnd(e.Task, nil)
	}
}

// noteEnd notes the outcome of a task that has ended.
func (p Past) noteEnd(t *task.Task, outcome []byte) {
	if len(outcome) <= maxEndKept {
		p.ends.Add(t.ID, &PastEnd{t, bytes.Clone(outcome)})
	}
}

// Behind returns what was known of a task if its record, as it stands, is older than that.
func (p Past) Behind(e ledger.Entry) (past PastTask, ok bool) {
	past, known := p.by.Peek(e.ID)
	if !known || e.Version >= past.version {
		return PastTask{}, false
	}
	if past.Ended {
		past.End, _ = p.ends.Peek(e.ID)
	}
	return past, true
}

// MayHeal reports whether it is less than a span since the record of a task was first asked about here, and seen to be older.
func (p Past) MayHeal(id string, span time.Duration) bool {
	past, known := p.by.Peek(id)
	if known && past.met.IsZero() {
		past.met = time.Now()
		p.by.Add(id, past)
	}
	return known && time.Since(past.met) < span
}

package ledger

import (
	"context"
	"slices"
	"time"
)

// awaited are the holders that were listed when the store was flushed, and have not shown since that they live: one that
// stands still puts back what it holds when it goes on.
type awaited struct {
	listed  []string  // the others, as they were told last
	missing []string  // of those that were
	until   time.Time // they are taken for dead
	settled time.Time // until then one that has come back may put back what it holds
}

// begin notes that the store was flushed.
func (a *awaited) begin(now, until time.Time) {
	if !now.Before(a.until) {
		a.missing = nil
	}
	for _, holder := range a.listed {
		if !slices.Contains(a.missing, holder) {
			a.missing = append(a.missing, holder)
		}
	}
	a.listed, a.until = nil, until
}

// doubts reports whether one may yet put something back.
func (a *awaited) doubts(now time.Time) bool {
	return len(a.missing) > 0 && now.Before(a.until) || now.Before(a.settled)
}

// Listed is told with each beat which holders are listed. It looks whether those are back that a flush has taken from the list.
func (e *Epoch) Listed(ctx context.Context, holders []string) {
	var back []string
	for _, holder := range e.missing() {
		if stands, err := e.lists.Stands(ctx, holder); stands && err == nil {
			back = append(back, holder)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a := &e.awaited
	if len(back) > 0 {
		a.missing = slices.DeleteFunc(a.missing, func(holder string) bool { return slices.Contains(back, holder) })
		a.settled = time.Now().Add(e.Beat())
	}
	if slices.Contains(holders, e.holder) { // else the list was flushed
		a.listed = slices.DeleteFunc(slices.Clone(holders), func(holder string) bool { return holder == e.holder })
	}
}

// missing are those that are still awaited.
func (e *Epoch) missing() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !time.Now().Before(e.awaited.until) {
		return nil
	}
	return slices.Clone(e.awaited.missing)
}

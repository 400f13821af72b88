package load

import (
	"slices"
	"sync"
	"time"
)

// An Op is what is measured: one or more exchanges on a connection that is the op's own. It returns how many units it
// was. After an error the connection is of no use.
type Op func() (units int, err error)

// Result is what a loop has seen.
type Result struct {
	Units     int
	Took      time.Duration
	Latencies []time.Duration // of each op, ascending
	Err       error           // the first failure; what it happened to is of no use
}

// gather adds up what workers saw.
type gather struct {
	mu     sync.Mutex // guards result
	result Result
}

func (g *gather) add(w *worker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.result.Units += w.units
	g.result.Latencies = append(g.result.Latencies, w.latencies...)
	if g.result.Err == nil {
		g.result.Err = w.err
	}
}

func (g *gather) end(took time.Duration) Result {
	g.result.Took = took
	slices.Sort(g.result.Latencies)
	return g.result
}

// worker is one connection's share of a loop.
type worker struct {
	op        Op
	units     int
	latencies []time.Duration
	err       error
}

// run does the op once, as one that was due at a certain time, and reports whether the worker may go on.
func (w *worker) run(due time.Time) bool {
	units, err := w.op()
	if err != nil {
		w.err = err
		return false
	}
	w.units += units
	w.latencies = append(w.latencies, time.Since(due))
	return true
}

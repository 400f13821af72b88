package probe

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// run is one probing of one URL. It is for one goroutine.
type run struct {
	ledger
	options   Options
	wire      *wire
	began     time.Time
	revisions []string          // that are spoken
	tool      string            // the one that is called; empty: none yet
	tools     map[string]string // by revision, what tools/list offered; empty: none that may be called unasked
	tasks     []*task
	sessions  []*session
	unknown   int   // tool calls without an answer: each may have made a task
	blind     bool  // there may be tasks, but none could be made
	end       error // why the run ended early; nil if it did not
}

// Run probes a URL and reports. It ends when all is checked, when ctx or the time ends,
// or when the server wants it to, and in any case cleans up, for cleanLimit at most.
// The options must be valid.
func Run(ctx context.Context, o Options) *Report {
	r := &run{options: o, wire: newWire(o), began: time.Now(), tools: map[string]string{}}
	r.secrets = secretsOf(slices.Concat(o.Principals, []http.Header{o.Header})...)
	defer r.wire.close()
	measuring, cancel := context.WithTimeoutCause(ctx, o.Limit, errTime)
	defer cancel()
	r.measure(measuring)
	if r.end == nil {
		r.end = r.wire.halt
	}
	if r.end == nil && measuring.Err() != nil {
		r.end = context.Cause(measuring)
	}
	if errors.Is(r.end, context.Canceled) {
		r.end = errInterrupted
	}
	r.cleanUp(context.WithoutCancel(ctx))
	return r.report()
}

// measure makes all checks. What is asked for early must not fall in step with what is
// asked for late: the order in which things are asked for is random, so that a
// balancer's turns come out as they would for many clients.
func (r *run) measure(ctx context.Context) {
	speech := r.discover(ctx)
	if speech.modern {
		r.modern(ctx, speech)
	}
	if speech.legacy != nil {
		r.legacy(ctx, speech.legacy)
	}
	r.foreign(ctx)
	r.keptConnection(ctx)
}

// madeTasks reports whether calls of that revision make tasks.
func (r *run) madeTasks(version string) bool {
	return slices.ContainsFunc(r.tasks, func(t *task) bool { return t.scope.version == version })
}

// shuffled is the elements of list in random order.
func shuffled[T any](list []T) []T {
	mixed := make([]T, len(list))
	for i, j := range rand.Perm(len(list)) {
		mixed[i] = list[j]
	}
	return mixed
}

package health

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// refusalEvery is how often the log tells, at most, that something begins to be refused.
const refusalEvery = time.Minute

// refusals tells the log when something begins to be refused, and when that is over. The zero value knows of none.
type refusals struct {
	standing atomic.Bool // the log has said so

	mu   sync.Mutex // guards the fields below
	what string     // is refused
	part string     // the server that refuses
	said time.Time  // when the log did last; zero: never
}

// begin has words logged, unless they were a moment ago.
func (r *refusals) begin(log *slog.Logger, what, part, words string, attributes ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.standing.Load() || !r.said.IsZero() && now.Sub(r.said) < refusalEvery {
		return
	}
	r.what, r.part, r.said = what, part, now
	r.standing.Store(true)
	log.Warn(words, attributes...)
}

// keep forgets what stands of a server that is not there any more: what another one refuses is told of anew.
func (r *refusals) keep(there func(part string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.standing.Load() && !there(r.part) {
		r.standing.Store(false)
	}
}

// end has words logged, if what stands is of this server.
func (r *refusals) end(log *slog.Logger, what, part, words string, attributes ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.standing.Load() && r.what == what && r.part == part {
		r.standing.Store(false)
		log.Info(words, append(attributes, "after", time.Since(r.said).Round(time.Millisecond).String())...)
	}
}

package adminapi

import (
	"context"
	"time"
)

const (
	// publishEvery is how often the first reading shows what it has so far.
	publishEvery = 250 * time.Millisecond
	// pauseMost is how long a reading pauses at most.
	pauseMost = 50 * time.Millisecond
)

// pause keeps a reading from taking more than half of a core while it goes on.
type pause struct {
	since  time.Time     // when the piece of work under way began
	worked time.Duration // all before
	shown  time.Time
}

func (p *pause) stop() time.Duration {
	took := time.Since(p.since)
	p.worked += took
	return took
}

// take pauses for as long as the last piece of work took, and reports whether it is time to show what there
// is. It fails with ctx.
func (p *pause) take(ctx context.Context) (show bool, err error) {
	select {
	case <-time.After(min(p.stop(), pauseMost)):
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	p.since = time.Now()
	if show = p.since.Sub(p.shown) >= publishEvery; show {
		p.shown = p.since
	}
	return show, nil
}

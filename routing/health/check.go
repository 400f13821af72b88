package health

import (
	"cmp"
	"errors"
	"sync"
	"time"
)

// ErrUnchecked says that an upstream is new, and has passed no check yet.
var ErrUnchecked = errors.New("routing: not checked yet")

// CheckKind is a way in which upstreams are checked.
type CheckKind uint8

const (
	CheckNone       CheckKind = iota // not at all
	CheckDiscover                    // by server/discover, and initialize where it speaks the legacy era alone
	CheckInitialize                  // by initialize, in a session that is ended at once
	CheckHTTP                        // by GET of Check.Path
)

// Check says how upstreams are checked, and how often. The zero value is not at all.
type Check struct {
	Kind     CheckKind
	Path     string        // of CheckHTTP
	Interval time.Duration // from the beginning of one check to that of the next; 0: 5 s
	Jitter   time.Duration // most that an interval is longer, by chance
	Timeout  time.Duration // of one check; 0: 2 s
	Rise     int           // checks in a row that an upstream which fails must pass to get new work again; 0: 2
	Fall     int           // checks in a row after which it counts as failing; 0: 3
}

// What Check has where it says 0.
const (
	checkInterval = 5 * time.Second
	checkTimeout  = 2 * time.Second
	checkRise     = 2
	checkFall     = 3
)

// WithDefaults has what the zero value leaves open; no check stays none.
func (c Check) WithDefaults() Check {
	if c.Kind == CheckNone {
		return Check{}
	}
	c.Interval, c.Timeout = cmp.Or(c.Interval, checkInterval), cmp.Or(c.Timeout, checkTimeout)
	c.Rise, c.Fall = cmp.Or(c.Rise, checkRise), cmp.Or(c.Fall, checkFall)
	return c
}

// CheckResult is what a check of an upstream has shown.
type CheckResult struct {
	At    time.Time     // when it ended
	Took  time.Duration // how long it took
	Error error         // nil: it was passed
	Row   int           // how many in a row have ended as well, or as badly, it included
}

// checked is what checks have shown of an upstream.
type checked struct {
	mu     sync.Mutex // guards the field below
	result CheckResult
}

func (c *checked) last() CheckResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result
}

// note notes how a check ended that began then, and returns how many in a row have.
func (c *checked) note(begun time.Time, err error) (row int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	row = 1
	if (err == nil) == (c.result.Error == nil) {
		row += c.result.Row
	}
	c.result = CheckResult{At: time.Now(), Took: time.Since(begun), Error: err, Row: row}
	return row
}

// pass notes that the last row checks were passed, and reports whether the upstream has failed
// them until now, or was new.
func (c *condition) pass(row, rise int) (back, joined bool) {
	joined = c.failing && c.failure == ErrUnchecked
	if back = c.failing && (joined || row >= rise); back {
		c.failing, c.failingSince, c.failure = false, time.Time{}, nil
	}
	return back, joined
}

// flunk notes that the last row checks were failed, and reports whether the upstream has not
// counted as failing until now.
func (c *condition) flunk(row, fall int, cause error) (first bool) {
	fresh := !c.failing || c.failure == ErrUnchecked
	switch {
	case c.failing:
	case row >= fall:
		c.failing, c.failingSince = true, time.Now()
	default:
		return false
	}
	c.failure = cause
	return fresh
}

// AwaitCheck has the upstream, which is new, fail its checks until it has passed one.
func (h *Health) AwaitCheck() {
	h.change(func(c *condition) { c.failing, c.failingSince, c.failure = true, time.Now(), ErrUnchecked })
}

// Trust has it fail its checks no more.
func (h *Health) Trust() {
	h.change(func(c *condition) { c.failing, c.failingSince, c.failure = false, time.Time{}, nil })
}

// Pass notes that a check was passed that began then. Who failed must pass rise in a row. It reports whether the upstream has failed
// its checks until now, and whether it was new.
func (h *Health) Pass(begun time.Time, rise int) (back, joined bool) {
	row := h.checked.note(begun, nil)
	h.change(func(c *condition) { back, joined = c.pass(row, rise) })
	return back, joined
}

// Flunk notes that a check was failed that began then, and reports whether the upstream, which may fail less than fall in a row,
// has not counted as failing until now.
func (h *Health) Flunk(begun time.Time, fall int, cause error) (first bool) {
	row := h.checked.note(begun, cause)
	h.change(func(c *condition) { first = c.flunk(row, fall, cause) })
	return first
}

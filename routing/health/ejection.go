package health

import (
	"cmp"
	"time"
)

// Failure is a kind of outcome that counts against an upstream, or several of them.
type Failure uint8

const (
	// FailedConnect is a connection that could not be made, one that broke before an answer,
	// and an answer that is none in HTTP.
	FailedConnect Failure = 1 << iota
	// FailedTimeout is a connection, or the header of an answer, that did not come in time.
	FailedTimeout
	// FailedStatus is an answer whose HTTP status says that the server is in trouble.
	FailedStatus
)

// What Ejection has where it says 0, after the habits of Envoy's outlier detection.
const (
	ejectAfter   = 5
	ejectWithin  = 5 * time.Minute
	ejectionMin  = 5 * time.Second
	ejectionMax  = time.Minute
	ejectedShare = 50
)

// Ejection says when an upstream that fails gets no unbound work for a while. The zero value
// is the default.
type Ejection struct {
	Ignore   Failure       // kinds of failures that do not count; 0: all count
	Failures int           // failures with no success between that eject; 0: 5
	Window   time.Duration // within which they must lie; 0: 5 min
	Min      time.Duration // length of the first ejection, and how much longer each next one is; 0: 5 s
	Max      time.Duration // length of the longest; 0: 1 min
	Percent  int           // most upstreams of a pool that are out at once, rounded down; 0: 50
}

// WithDefaults has what the zero value leaves open.
func (e Ejection) WithDefaults() Ejection {
	return Ejection{
		Ignore:   e.Ignore,
		Failures: cmp.Or(e.Failures, ejectAfter),
		Window:   cmp.Or(e.Window, ejectWithin),
		Min:      cmp.Or(e.Min, ejectionMin),
		Max:      cmp.Or(e.Max, ejectionMax),
		Percent:  cmp.Or(e.Percent, ejectedShare),
	}
}

// fail notes a failure and reports whether it is enough for an ejection.
func (c *condition) fail(e *Ejection) (due bool) {
	switch {
	case c.ejected():
		return false
	case c.probation:
		return true
	}
	old, now := 0, time.Now()
	for old < len(c.failed) && (now.Sub(c.failed[old]) > e.Window || len(c.failed)-old >= e.Failures) {
		old++
	}
	c.failed = append(c.failed[old:], now)
	return len(c.failed) >= e.Failures
}

// succeed notes a success, and reports whether it is the first one after an ejection.
func (c *condition) succeed() (readmitted bool) {
	c.failed, c.probation = nil, false
	if c.ejections == 0 || c.ejected() {
		return false
	}
	c.ejections, c.cause = 0, nil
	return true
}

// eject begins an ejection, and returns how long it lasts and whether it is the first one in
// a row.
func (c *condition) eject(e *Ejection, cause error) (d time.Duration, first bool) {
	if c.ejections++; c.ejections == 1 {
		c.since = time.Now()
	}
	d = min(time.Duration(c.ejections)*e.Min, e.Max)
	c.until, c.probation, c.cause = time.Now().Add(d), true, cause
	return d, c.ejections == 1
}

// Fail notes a failure that counts, and reports whether it is enough for an ejection.
func (h *Health) Fail(rule *Ejection) (due bool) {
	h.change(func(c *condition) { due = c.fail(rule) })
	return due
}

// Succeed notes a success, and reports whether it is the first one after an ejection.
func (h *Health) Succeed() (readmitted bool) {
	h.change(func(c *condition) { readmitted = c.succeed() })
	return readmitted
}

// Eject begins an ejection, and returns how long it lasts and whether it is the first one in a row.
func (h *Health) Eject(rule *Ejection, cause error) (d time.Duration, first bool) {
	h.change(func(c *condition) { d, first = c.eject(rule, cause) })
	return d, first
}

// Ejected reports whether an ejection lasts.
func (h *Health) Ejected() bool { return h.is().ejected() }

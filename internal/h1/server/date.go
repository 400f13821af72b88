package server

import (
	"sync/atomic"
	"time"
)

// timeFormat is how HTTP writes times (RFC 9110, 5.6.7).
const timeFormat = "Mon, 02 Jan 2006 15:04:05 GMT"

// date is a second, as the field of that name has it.
type date struct {
	second int64
	line   string
}

var latest atomic.Pointer[date]

// dateOf returns the line that says when an answer was made.
func dateOf(now time.Time) string {
	second := now.Unix()
	if d := latest.Load(); d != nil && d.second == second {
		return d.line
	}
	d := &date{second, "\r\nDate: " + now.UTC().Format(timeFormat)}
	latest.Store(d)
	return d.line
}

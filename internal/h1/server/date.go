package server

import (
	"sync/atomic"
	"time"
)

// timeFormat is how HTTP writes times (RFC 9110, 5.6.7).
const timeFormat = "Mon, 02 Jan 2006 15:04:05 GMT"

// date is a second, as the header of that name has it.
type date struct {
	second int64
	text   string
}

var latest atomic.Pointer[date]

func dateOf(now time.Time) string {
	second := now.Unix()
	if d := latest.Load(); d != nil && d.second == second {
		return d.text
	}
	d := &date{second, now.UTC().Format(timeFormat)}
	latest.Store(d)
	return d.text
}

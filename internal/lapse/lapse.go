// Package lapse tells the time by the monotonic clock, from a time that was looked up before. Package time looks at two clocks
// whenever it is asked, of which it needs one to tell how long something took.
package lapse

import "time"

// soon is how old a time may be whose wall clock is told on.
const soon = time.Second

// Now is the time. Of what began within a second its wall clock goes on from there, and a change of the machine's meanwhile does not
// show in it.
func Now(began time.Time) time.Time {
	if since := time.Since(began); 0 <= since && since < soon {
		return began.Add(since)
	}
	return time.Now()
}

// From is began and the time since: to measure with, and to be late by. Its wall clock may be any.
func From(began time.Time) time.Time { return began.Add(time.Since(began)) }

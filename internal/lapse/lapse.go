// Package lapse tells the time by the monotonic clock alone, from a time that was looked up before. Package time looks at two clocks
// whenever it is asked, of which it needs one to tell how long something took.
package lapse

import "time"

// Now is began and the time since. A change of the wall clock meanwhile does not show in it. If began is zero, it is [time.Now].
func Now(began time.Time) time.Time {
	if began.IsZero() {
		return time.Now()
	}
	return began.Add(time.Since(began))
}

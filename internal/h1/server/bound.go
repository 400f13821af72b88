package server

import "time"

// bound is a deadline of a connection.
type bound struct {
	set func(time.Time) error
	at  time.Time // as it was set; zero: none is
}

// coarse is how late a bound may be that is so far away.
func coarse(away time.Duration) time.Duration { return min(away/8, time.Second) }

// until sets the deadline to at, or a little later. One that was set so is left alone.
func (b *bound) until(at, now time.Time) {
	if at.IsZero() {
		b.lift()
		return
	}
	late := at.Add(coarse(at.Sub(now)))
	if b.at.Before(at) || b.at.After(late) {
		b.exactly(late)
	}
}

func (b *bound) lift() {
	if !b.at.IsZero() {
		b.exactly(time.Time{})
	}
}

// exactly sets the deadline. An error only means that there are none.
func (b *bound) exactly(at time.Time) {
	b.at = at
	_ = b.set(at)
}

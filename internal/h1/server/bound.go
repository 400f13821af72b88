package server

import "time"

// bound is a deadline of a connection.
type bound struct {
	set   func(time.Time) error
	at    time.Time     // as it was set; zero: none is
	slack time.Duration // by which it was set late, so that it need not be set for each request
}

// until sets the deadline to at, or a little later: an eighth of what is left, a second at most. One that
// was set so is left alone.
func (b *bound) until(at time.Time) {
	switch late := b.at.Sub(at); {
	case at.IsZero():
		b.lift()
	case b.at.IsZero() || late < 0 || late > b.slack:
		slack := max(0, min(time.Until(at)/8, time.Second))
		b.exactly(at.Add(slack))
		b.slack = slack
	}
}

func (b *bound) lift() {
	if !b.at.IsZero() {
		b.exactly(time.Time{})
	}
}

// exactly sets the deadline. An error only means that there are none.
func (b *bound) exactly(at time.Time) {
	b.at, b.slack = at, 0
	_ = b.set(at)
}

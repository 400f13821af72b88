package webhooks

import (
	"context"
	"time"

	"berth/upgrade/task"
)

// round is what one courier's goroutine has: nobody else reads it.
type round struct {
	c        *courier
	all      map[task.Message]*parcel
	ready    []*parcel // due, in the order in which that was found
	busy     int       // attempts under way
	next     time.Time // when the first of those is due that are neither ready nor in hand; zero: there is none
	paused   time.Time // until when nothing is tried
	quiet    quiet
	verdicts chan verdict

	remembered time.Time // when the store was last told the receiver's name; zero: never
	warned     bool      // the log knows that messages wait for a name of the past
}

// look looks for messages that other berths have left, and forgets those that they have delivered.
func (r *round) look(ctx context.Context) {
	if r.c.ledger.Clock.Known(ctx) != nil {
		return
	}
	listed, err := r.c.ledger.Outbox.Of(ctx, r.c.Name)
	if err != nil {
		return // the store is away
	}
	stand := make(map[task.Message]bool, len(listed))
	for _, m := range listed {
		stand[m] = true
	}
	for m, p := range r.all {
		if !stand[m] && !p.busy {
			delete(r.all, m)
		}
	}
	r.add(listed)
	r.age()
	r.heed(ctx)
	r.remember(ctx)
}

const (
	// rememberedFor is how long berths that are started later know a receiver's name that none names any more, and
	// nothing waits for, and rememberEvery how often it is written.
	rememberedFor = 30 * 24 * time.Hour
	rememberEvery = 12 * time.Hour
)

// remember has the receiver's name be known to berths that are started later, and tells the log, once, that messages wait for one of the past.
func (r *round) remember(ctx context.Context) {
	waiting := len(r.all)
	if unnamed := r.c.isUnnamed(); unnamed && waiting == 0 {
		return
	} else if unnamed && !r.warned {
		r.warned = true
		r.c.log.Warn("messages wait for a webhook's receiver that the configuration names no more", "messages", waiting)
	}
	if !r.remembered.IsZero() && time.Since(r.remembered) < rememberEvery {
		return
	}
	if r.c.ledger.Outbox.Remember(ctx, r.c.Name, rememberedFor) == nil {
		r.remembered = time.Now()
	}
}

// add takes messages on that are not known yet.
func (r *round) add(listed []task.Message) {
	now := time.Now()
	for _, m := range listed {
		if r.all[m] == nil {
			p := &parcel{Message: m, found: now}
			r.all[m] = p
			r.ready = append(r.ready, p)
		}
	}
}

// told takes messages on whose step was stored just now. One that was found before that waits no longer.
func (r *round) told(now []task.Message) {
	r.add(now)
	for _, m := range now {
		if p := r.all[m]; !p.busy && !p.due.IsZero() {
			p.due = time.Time{}
			r.ready = append(r.ready, p)
		}
	}
}

// start begins as many attempts as there may be at once.
func (r *round) start(sending context.Context) {
	if time.Now().Before(r.paused) {
		return
	}
	for ; len(r.ready) > 0 && r.busy < r.c.Concurrency && !r.quiet.holdsBack(r.c.Alone); r.ready = r.ready[1:] {
		p := r.ready[0]
		if r.all[p.Message] != p {
			continue // another berth has delivered it
		}
		turn, err := r.c.turn()
		if err != nil {
			r.pause(jitter(r.c.Alone / 4))
			return
		}
		r.busy++
		p.busy = true
		go func() { r.verdicts <- r.c.see(sending, p, turn) }()
	}
}

// hear acts on what came of an attempt.
func (r *round) hear(ctx context.Context, v verdict) {
	r.busy--
	v.of.busy = false
	if v.pause > 0 {
		r.pause(v.pause)
	}
	if v.sent != nil {
		r.attempted(ctx, *v.sent)
	}
	if v.over {
		delete(r.all, v.of.Message)
		if len(r.all) == 0 {
			r.c.oldest.Store(nil)
		}
		return
	}
	v.of.due = v.due
	r.rouse(v.due)
}

// pause begins nothing for a while, or for longer where that was said before.
func (r *round) pause(d time.Duration) {
	if until := time.Now().Add(d); until.After(r.paused) {
		r.paused = until
	}
	r.rouse(r.paused)
}

// rouse has the round wake at a time, or before.
func (r *round) rouse(at time.Time) {
	if r.next.IsZero() || at.Before(r.next) {
		r.next = at
	}
}

// timer is for when the round is to wake; nil: never.
func (r *round) timer() <-chan time.Time {
	if r.next.IsZero() {
		return nil
	}
	return time.After(time.Until(r.next))
}

// wake takes into hand what has become due.
func (r *round) wake() {
	now := time.Now()
	r.next = time.Time{}
	if now.Before(r.paused) {
		r.rouse(r.paused)
	}
	for _, p := range r.all {
		switch {
		case p.due.IsZero():
		case p.due.After(now):
			r.rouse(p.due)
		default:
			p.due = time.Time{}
			r.ready = append(r.ready, p)
		}
	}
}

// age notes since when the oldest message waits that tells of something which has happened.
func (r *round) age() {
	var oldest *time.Time
	for _, p := range r.all {
		if at := p.since.Load(); at != nil && (oldest == nil || at.Before(*oldest)) {
			oldest = at
		}
	}
	r.c.oldest.Store(oldest)
}

package webhooks

import (
	"context"
	"time"

	"berth/internal/webhook"
)

// heedFor is how many times as long as a receiver is left alone a berth goes by another one's word before it tries by itself: the
// other one may be cut off from the receiver, and find nothing out.
const heedFor = 10

// quiet is what berths tell each other of a receiver that is left alone. One of them has the others send it nothing, and finds out
// whether it takes messages again. What it said runs out: others find out if it dies. A berth whose own messages are taken does not go
// by it.
type quiet struct {
	isAsked bool      // another berth has this one send nothing
	failed  time.Time // when what this berth sent last was not taken; zero: it was
	said    time.Time // until when the others send nothing, by this berth's word
}

// holdsBack reports whether nothing is to be sent for now by another berth's word.
func (q *quiet) holdsBack(alone time.Duration) bool {
	return q.isAsked && !q.failed.IsZero() && time.Since(q.failed) < heedFor*alone
}

// heed finds out whether another berth has this one send nothing.
func (r *round) heed(ctx context.Context) {
	if r.c.isUnnamed() || !r.c.ledger.Store.Shared() {
		return
	}
	if holder, err := r.c.ledger.Outbox.QuietFor(ctx, r.c.Name); err == nil {
		r.quiet.isAsked = holder != "" && holder != r.c.ledger.Holder
	}
}

// attempted notes what came of a message that was sent. Others send nothing while this berth leaves the receiver alone.
func (r *round) attempted(ctx context.Context, a webhook.Answer) {
	q, now := &r.quiet, time.Now()
	if q.failed = now; !a.IsTrouble() {
		q.failed = time.Time{}
	}
	switch life := r.c.Alone + r.c.Timeout + claimSpare; { // a message is tried in between
	case !r.c.ledger.Store.Shared():
	case r.c.isAlone.Load():
		if ok, err := r.c.ledger.Outbox.Quieten(ctx, r.c.Name, r.c.ledger.Holder, life); ok {
			q.isAsked, q.said = false, now.Add(life)
		} else if err == nil {
			q.isAsked = true
		}
	case now.Before(q.said):
		if r.c.ledger.Outbox.Rouse(ctx, r.c.Name) == nil {
			q.said = time.Time{}
		}
	}
}
